// Dimensions: integer expressions over named symbols, kept in one canonical form (a sorted sum of products), so that equal
// expressions compare equal as far as polynomial identities and exact division can show.
//
// Numbers saturate at +-2^62 and stay there, so nothing overflows. An expression that grows beyond 4096 parts, degree 64 or
// 64 levels of nesting, or one of whose coefficients saturates, becomes the number 2^62: a size that nothing can allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"

namespace infini {

struct DimTerm;

// A symbol and the number it stands for.
struct Binding {
  std::string symbol;
  std::int64_t value = 0;
};
using Bindings = std::vector<Binding>;

// Bounds of a symbol, both inclusive.
struct SymbolBounds {
  std::int64_t lowest = 0;
  std::int64_t highest = INT64_MAX;
  friend bool operator==(const SymbolBounds&, const SymbolBounds&) = default;
};

class Dim {
 public:
  Dim(std::int64_t value = 0) : constant_(value) {}
  static Dim symbol(std::string_view name);
  // Reads what to_string prints: + - * parentheses, floordiv(a,b), mod(a,b), min(a,b,...), max(a,b,...), names, integers.
  // A name is a letter or _, then letters, digits and _ . : / # ?; others are written in single quotes, with \' \\ and \xHH.
  static Result<Dim> parse(std::string_view text);
  // The same for the longest expression at the start of `rest`, which then begins behind it.
  static Result<Dim> parse_prefix(std::string_view& rest);

  bool is_constant() const { return terms_ == nullptr; }
  std::optional<std::int64_t> constant() const;
  // The symbol's name if this is one bare symbol.
  std::optional<std::string> symbol_name() const;
  // Names of all symbols in it, sorted, each once.
  std::vector<std::string> symbols() const;
  // The value under `bindings`, or nothing if a symbol is missing or a division is by zero.
  std::optional<std::int64_t> evaluate(const Bindings& bindings) const;
  // With each bound symbol replaced by its number.
  Dim substitute(const Bindings& bindings) const;
  // With each occurrence of `symbol` replaced by `replacement`.
  Dim substitute(std::string_view symbol, const Dim& replacement) const;
  std::string to_string() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

 private:
  friend struct DimAccess;
  // constant_ plus the terms, each of which holds a symbol; null: none.
  std::int64_t constant_ = 0;
  std::shared_ptr<const std::vector<DimTerm>> terms_;
};

// The number in place of everything too large for an expression or for 62 bits.
inline constexpr std::int64_t dim_limit = std::int64_t{1} << 62;

// Floor and ceiling of a/b, floor modulus (sign of b); b must not be the constant 0 (then the result is 0).
Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim floor_mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
// a/b if b divides a as polynomials, else nothing.
std::optional<Dim> exact_div(const Dim& a, const Dim& b);
// True if a <= b is certain, given that every symbol is at least 0.
bool surely_at_most(const Dim& a, const Dim& b);

// Shapes of types (symbolic) and of tensors (numbers).
using Shape = std::vector<Dim>;
using Extents = std::vector<std::int64_t>;

Dim element_count(const Shape& shape);
// The numbers, if every dimension is one.
std::optional<Extents> constant_extents(const Shape& shape);
std::optional<Extents> evaluate(const Shape& shape, const Bindings& bindings);
// Numbers from shapes: "[2,batch,3*n]".
std::string to_string(const Shape& shape);
std::string to_string(const Extents& extents);
Shape to_shape(const Extents& extents);

// Floor division and modulus of numbers; b > 0 or b < 0.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
inline std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace infini
