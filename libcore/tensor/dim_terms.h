// How Dim is made: terms, factors and atoms. For the files dim*.cpp alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/tensor/dim.h"

namespace infini {

enum class AtomKind : std::uint8_t { symbol, floor_div, floor_mod, min, max };

// A symbol (name), or a function of expressions: two for floor_div and floor_mod, two or more, sorted, for min and max.
struct DimAtom {
  AtomKind kind = AtomKind::symbol;
  std::string name;
  std::vector<Dim> operands;
  std::int64_t parts = 1;  // atoms and terms in it, itself included
  int depth = 1;
};
using AtomRef = std::shared_ptr<const DimAtom>;

// atom ^ power, power > 0.
struct DimFactor {
  AtomRef atom;
  int power = 1;
};
// Factors sorted by atom, each atom once: a monomial.
using Factors = std::vector<DimFactor>;

struct DimTerm {
  std::int64_t coefficient = 0;
  Factors factors;
};
using Terms = std::vector<DimTerm>;

struct DimAccess {
  static std::span<const DimTerm> terms(const Dim& dim) {
    return dim.terms_ ? std::span<const DimTerm>(*dim.terms_) : std::span<const DimTerm>();
  }
  // The part without symbols.
  static std::int64_t offset(const Dim& dim);
  static bool same_terms(const Dim& a, const Dim& b) { return a.terms_ == b.terms_; }
  // `terms` sorted (largest monomial first), each monomial once, no coefficient 0. Applies the limits of dim.h.
  static Dim make(std::int64_t offset, Terms terms);
};

// Arithmetic that saturates at +-dim_limit, where it stays.
std::int64_t clamp_dim(std::int64_t value);
std::int64_t saturating_add(std::int64_t a, std::int64_t b);
std::int64_t saturating_mul(std::int64_t a, std::int64_t b);
std::int64_t saturating_floor_div(std::int64_t a, std::int64_t b);
inline bool is_saturated(std::int64_t value) { return value >= dim_limit || value <= -dim_limit; }

// Total orders; negative, 0 or positive. That of monomials is by degree, then lexicographic, so that it survives multiplication.
int compare(const Dim& a, const Dim& b);
int compare(const DimAtom& a, const DimAtom& b);
int compare(const Factors& a, const Factors& b);

// Dimension made of one atom, the limits applied.
Dim dim_of(AtomRef atom);
Dim dim_of(AtomKind kind, std::vector<Dim> operands);
// a / b as monomials, if b divides a.
bool divide_factors(const Factors& a, const Factors& b, Factors& quotient);

// What is known of an expression's value when every symbol is at least 0; the ends saturate.
struct Range {
  std::int64_t low = -dim_limit;
  std::int64_t high = dim_limit;
};
Range range_of(const Dim& dim);

// The simplified function of `operands` (rules of floor_div, floor_mod, min, max).
Dim simplified(AtomKind kind, std::span<const Dim> operands);

}  // namespace infini
