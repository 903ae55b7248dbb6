// Division, minimum and maximum of dimensions, and what can be said of their values.
#include <algorithm>
#include <numeric>

#include "libcore/tensor/dim.h"
#include "libcore/tensor/dim_terms.h"

namespace infini {
namespace {

// Bounds on work for hostile expressions: steps of one division, operands of one min or max, steps of one proof.
constexpr int most_division_steps = 4096;
constexpr std::size_t most_operands = 16;
constexpr int most_proof_steps = 32;

Dim of_term(DimTerm term) {
  if (term.factors.empty()) return term.coefficient;
  Terms terms;
  terms.push_back(std::move(term));
  return DimAccess::make(0, std::move(terms));
}

// The largest term, the number counting as the smallest monomial.
DimTerm leading_term(const Dim& dim) {
  auto terms = DimAccess::terms(dim);
  return terms.empty() ? DimTerm{DimAccess::offset(dim), {}} : terms.front();
}

struct Division {
  Dim quotient;
  Dim remainder;
};

// a = quotient * b + remainder, polynomial division with floored coefficients. b: leading coefficient > 0.
Division divide(Dim a, const Dim& b) {
  DimTerm lead = leading_term(b);
  Division out;
  for (int step = 0; step < most_division_steps && !(a == Dim(0)); ++step) {
    if (a == Dim(dim_limit)) return {dim_limit, 0};
    DimTerm term = leading_term(a);
    DimTerm factor;
    if (divide_factors(term.factors, lead.factors, factor.factors)) {
      factor.coefficient = saturating_floor_div(term.coefficient, lead.coefficient);
      Dim piece = factor.coefficient == 0 ? Dim(0) : of_term(factor);
      out.quotient = out.quotient + piece;
      a = a - piece * b;
      term.coefficient = is_saturated(term.coefficient) ? term.coefficient : floor_mod(term.coefficient, lead.coefficient);
      if (term.coefficient == 0) continue;
    }
    out.remainder = out.remainder + of_term(term);
    a = a - of_term(term);
  }
  out.remainder = out.remainder + a;
  return out;
}

bool has_negative_lead(const Dim& dim) { return leading_term(dim).coefficient < 0; }
Dim negated(const Dim& dim) { return dim * Dim(-1); }

std::int64_t gcd_of_coefficients(const Dim& dim, std::int64_t start) {
  for (const DimTerm& term : DimAccess::terms(dim)) start = std::gcd(start, term.coefficient);
  return start;
}

// The largest monomial with a coefficient > 0 that divides both a and b.
DimTerm common_content(const Dim& a, const Dim& b) {
  DimTerm content;
  content.coefficient = gcd_of_coefficients(a, gcd_of_coefficients(b, std::gcd(DimAccess::offset(a), DimAccess::offset(b))));
  if (DimAccess::offset(a) != 0 || DimAccess::offset(b) != 0) return content;
  bool first = true;
  for (const Dim* dim : {&a, &b}) {
    for (const DimTerm& term : DimAccess::terms(*dim)) {
      Factors common;
      for (const DimFactor& x : content.factors) {
        for (const DimFactor& y : term.factors) {
          if (compare(*x.atom, *y.atom) == 0) common.push_back({x.atom, std::min(x.power, y.power)});
        }
      }
      content.factors = first ? term.factors : common;
      first = false;
    }
  }
  return content;
}

// dim / term, which is known to divide it.
Dim divided_by_term(const Dim& dim, const DimTerm& by) {
  Terms terms;
  for (const DimTerm& term : DimAccess::terms(dim)) {
    DimTerm quotient{term.coefficient / by.coefficient, {}};
    divide_factors(term.factors, by.factors, quotient.factors);
    terms.push_back(std::move(quotient));
  }
  std::int64_t offset = DimAccess::offset(dim) / by.coefficient;
  if (!terms.empty() && terms.back().factors.empty()) {  // the term itself was the divisor's monomial
    offset += terms.back().coefficient;
    terms.pop_back();
  }
  return DimAccess::make(offset, std::move(terms));
}

// The value both ends agree on after floor division by `divisor`, if they do.
std::optional<std::int64_t> constant_quotient(const Dim& dim, std::int64_t divisor) {
  Range range = range_of(dim);
  if (is_saturated(range.low) || is_saturated(range.high)) return std::nullopt;
  std::int64_t low = floor_div(range.low, divisor);
  if (low != floor_div(range.high, divisor)) return std::nullopt;
  return low;
}

// floor(r / c) for a number c > 1 and an r that is reduced modulo c.
Dim divide_reduced_by_number(const Dim& r, std::int64_t c) {
  if (std::optional<std::int64_t> value = constant_quotient(r, c)) return *value;
  std::int64_t g = gcd_of_coefficients(r, c);
  if (g > 1) {
    std::int64_t offset = DimAccess::offset(r);
    Dim symbolic = divided_by_term(r - Dim(offset), {g, {}});
    return floor_div(symbolic + Dim(floor_div(offset, g)), Dim(c / g));
  }
  auto terms = DimAccess::terms(r);
  bool single = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1 && terms[0].factors[0].power == 1;
  if (single && terms[0].factors[0].atom->kind == AtomKind::floor_div) {
    // floor((floor(x / y) + k) / c) = floor((x + k y) / (c y)) for a natural number c.
    const std::vector<Dim>& inner = terms[0].factors[0].atom->operands;
    return floor_div(inner[0] + Dim(DimAccess::offset(r)) * inner[1], inner[1] * Dim(c));
  }
  return dim_of(AtomKind::floor_div, {r, Dim(c)});
}

Dim modulo_reduced_by_number(const Dim& r, std::int64_t c) {
  if (std::optional<std::int64_t> value = constant_quotient(r, c)) return r - Dim(saturating_mul(*value, c));
  std::int64_t g = gcd_of_coefficients(r, c);
  if (g > 1) {
    std::int64_t offset = DimAccess::offset(r);
    Dim symbolic = divided_by_term(r - Dim(offset), {g, {}});
    return Dim(g) * floor_mod(symbolic + Dim(floor_div(offset, g)), Dim(c / g)) + Dim(floor_mod(offset, g));
  }
  return dim_of(AtomKind::floor_mod, {r, Dim(c)});
}

enum class Extreme : std::uint8_t { min, max };

Dim extreme(Extreme which, const Dim& a, const Dim& b) {
  AtomKind kind = which == Extreme::min ? AtomKind::min : AtomKind::max;
  std::vector<Dim> operands;
  for (const Dim* dim : {&a, &b}) {
    auto terms = DimAccess::terms(*dim);
    bool nested = terms.size() == 1 && DimAccess::offset(*dim) == 0 && terms[0].coefficient == 1 &&
                  terms[0].factors.size() == 1 && terms[0].factors[0].power == 1 && terms[0].factors[0].atom->kind == kind;
    if (nested) {
      const std::vector<Dim>& inner = terms[0].factors[0].atom->operands;
      operands.insert(operands.end(), inner.begin(), inner.end());
    } else {
      operands.push_back(*dim);
    }
  }
  std::ranges::sort(operands, [](const Dim& x, const Dim& y) { return compare(x, y) > 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  if (operands.size() > most_operands) return dim_limit;
  auto loses = [which](const Dim& x, const Dim& to) { return which == Extreme::min ? surely_at_most(to, x) : surely_at_most(x, to); };
  for (std::size_t i = 0; i < operands.size();) {
    bool lost = false;
    for (std::size_t j = 0; j < operands.size() && !lost; ++j) lost = j != i && loses(operands[i], operands[j]);
    if (lost) {
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (operands.size() == 1) return operands[0];
  return dim_of(kind, std::move(operands));
}

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (b == Dim(0)) return 0;
  if (a.is_constant() && b.is_constant()) return saturating_floor_div(DimAccess::offset(a), DimAccess::offset(b));
  if (a == Dim(dim_limit) || b == Dim(dim_limit)) return dim_limit;
  if (has_negative_lead(b)) return floor_div(negated(a), negated(b));
  auto [quotient, remainder] = divide(a, b);
  if (remainder == Dim(0)) return quotient;
  if (b.is_constant()) return quotient + divide_reduced_by_number(remainder, DimAccess::offset(b));
  DimTerm content = common_content(remainder, b);
  if (content.coefficient == 1 && content.factors.empty()) return quotient + dim_of(AtomKind::floor_div, {remainder, b});
  return quotient + floor_div(divided_by_term(remainder, content), divided_by_term(b, content));
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (b.is_constant() && DimAccess::offset(b) > 0) return floor_div(a + b - Dim(1), b);
  return negated(floor_div(negated(a), b));
}

Dim floor_mod(const Dim& a, const Dim& b) {
  if (b == Dim(0)) return 0;
  if (a == Dim(dim_limit) || b == Dim(dim_limit)) return dim_limit;
  if (a.is_constant() && b.is_constant()) return floor_mod(DimAccess::offset(a), DimAccess::offset(b));
  if (has_negative_lead(b)) return negated(floor_mod(negated(a), negated(b)));
  Dim remainder = divide(a, b).remainder;
  if (remainder == Dim(0)) return 0;
  if (b.is_constant()) return modulo_reduced_by_number(remainder, DimAccess::offset(b));
  DimTerm content = common_content(remainder, b);
  if (content.coefficient == 1 && content.factors.empty()) return dim_of(AtomKind::floor_mod, {remainder, b});
  return of_term(content) * floor_mod(divided_by_term(remainder, content), divided_by_term(b, content));
}

Dim min(const Dim& a, const Dim& b) { return extreme(Extreme::min, a, b); }
Dim max(const Dim& a, const Dim& b) { return extreme(Extreme::max, a, b); }

std::optional<Dim> exact_div(const Dim& a, const Dim& b) {
  if (b == Dim(0) || a == Dim(dim_limit) || b == Dim(dim_limit)) return std::nullopt;
  if (has_negative_lead(b)) return exact_div(negated(a), negated(b));
  auto [quotient, remainder] = divide(a, b);
  if (!(remainder == Dim(0))) return std::nullopt;
  return quotient;
}

Dim simplified(AtomKind kind, std::span<const Dim> operands) {
  Dim out = operands[0];
  for (const Dim& operand : operands.subspan(1)) {
    switch (kind) {
      case AtomKind::symbol: break;
      case AtomKind::floor_div: out = floor_div(out, operand); break;
      case AtomKind::floor_mod: out = floor_mod(out, operand); break;
      case AtomKind::min: out = min(out, operand); break;
      case AtomKind::max: out = max(out, operand); break;
    }
  }
  return out;
}

namespace {

Range range_of_product(Range a, Range b) {
  std::int64_t corners[] = {saturating_mul(a.low, b.low), saturating_mul(a.low, b.high), saturating_mul(a.high, b.low),
                            saturating_mul(a.high, b.high)};
  return {*std::ranges::min_element(corners), *std::ranges::max_element(corners)};
}

Range range_of_sum(Range a, Range b) {
  return {a.low == -dim_limit || b.low == -dim_limit ? -dim_limit : saturating_add(a.low, b.low),
          a.high == dim_limit || b.high == dim_limit ? dim_limit : saturating_add(a.high, b.high)};
}

Range range_of_quotient(Range a, const Dim& divisor) {
  std::int64_t c = DimAccess::offset(divisor);
  if (divisor.is_constant() && c > 0) return {saturating_floor_div(a.low, c), saturating_floor_div(a.high, c)};
  if (a.low >= 0 && range_of(divisor).low >= 0) return {0, a.high};  // a divisor that is 0 has no quotient
  return {};
}

Range range_of_remainder(Range a, const Dim& divisor) {
  Range b = range_of(divisor);
  if (b.low < 0) return {};
  std::int64_t below = is_saturated(b.high) ? dim_limit : b.high - 1;
  return {0, std::max<std::int64_t>(0, a.low >= 0 ? std::min(a.high, below) : below)};
}

Range range_of_atom(const DimAtom& atom) {
  if (atom.kind == AtomKind::symbol) return {0, dim_limit};
  Range out = range_of(atom.operands[0]);
  if (atom.kind == AtomKind::floor_div) return range_of_quotient(out, atom.operands[1]);
  if (atom.kind == AtomKind::floor_mod) return range_of_remainder(out, atom.operands[1]);
  for (const Dim& operand : atom.operands) {
    Range range = range_of(operand);
    bool smallest = atom.kind == AtomKind::min;
    out.low = smallest ? std::min(out.low, range.low) : std::max(out.low, range.low);
    out.high = smallest ? std::min(out.high, range.high) : std::max(out.high, range.high);
  }
  return out;
}

// True if dim >= 0 is certain (never of dim_limit, which may stand for anything). Where the range does not show it, an atom that stands alone in a term is replaced by a bound:
// floor(x / c) by x / c or (x - c + 1) / c (then all is multiplied by c), min by each operand below it, max by each above it.
bool surely_natural(const Dim& dim, int& steps) {
  if (dim == Dim(dim_limit)) return false;
  if (range_of(dim).low >= 0) return true;
  for (const DimTerm& term : DimAccess::terms(dim)) {
    if (term.factors.size() != 1 || term.factors[0].power != 1) continue;
    const DimAtom& atom = *term.factors[0].atom;
    bool negative = term.coefficient < 0;
    Dim k(term.coefficient);
    Dim rest = dim - of_term(term);
    if (atom.kind == AtomKind::floor_div && atom.operands[1].is_constant()) {
      if (--steps < 0) return false;
      const Dim& c = atom.operands[1];
      Dim bound = negative ? atom.operands[0] : atom.operands[0] - c + Dim(1);
      if (surely_natural(rest * c + k * bound, steps)) return true;
    }
    if ((atom.kind == AtomKind::min && negative) || (atom.kind == AtomKind::max && !negative)) {
      for (const Dim& operand : atom.operands) {
        if (--steps < 0) return false;
        if (surely_natural(rest + k * operand, steps)) return true;
      }
    }
  }
  return false;
}

}  // namespace

Range range_of(const Dim& dim) {
  std::int64_t offset = DimAccess::offset(dim);
  Range sum{offset, offset};
  for (const DimTerm& term : DimAccess::terms(dim)) {
    Range product{term.coefficient, term.coefficient};
    for (const DimFactor& factor : term.factors) {
      Range base = range_of_atom(*factor.atom);
      for (int i = 0; i < factor.power; ++i) product = range_of_product(product, base);
    }
    sum = range_of_sum(sum, product);
  }
  return sum;
}

bool surely_at_most(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return DimAccess::offset(a) <= DimAccess::offset(b);
  if (a == Dim(dim_limit) || b == Dim(dim_limit)) return false;
  int steps = most_proof_steps;
  return surely_natural(b - a, steps);
}

}  // namespace infini
