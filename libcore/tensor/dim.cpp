#include "libcore/tensor/dim.h"

#include <algorithm>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/tensor/dim_terms.h"

namespace infini {
namespace {

constexpr std::int64_t most_parts = 4096;
constexpr int most_degree = 64;
constexpr int most_depth = 64;

int degree(const Factors& factors) {
  int sum = 0;
  for (const DimFactor& f : factors) sum += f.power;
  return sum;
}

struct Size {
  std::int64_t parts = 1;
  int depth = 0;
};

Size size_of(const Dim& dim) {
  Size size;
  for (const DimTerm& term : DimAccess::terms(dim)) {
    ++size.parts;
    for (const DimFactor& f : term.factors) {
      size.parts += f.atom->parts;
      size.depth = std::max(size.depth, f.atom->depth);
    }
  }
  return size;
}

// Sorts by monomial, adds what is equal, drops what vanishes.
Terms collected(Terms terms) {
  std::ranges::sort(terms, [](const DimTerm& a, const DimTerm& b) { return compare(a.factors, b.factors) > 0; });
  Terms out;
  for (DimTerm& term : terms) {
    if (!out.empty() && compare(out.back().factors, term.factors) == 0) {
      out.back().coefficient = saturating_add(out.back().coefficient, term.coefficient);
    } else {
      out.push_back(std::move(term));
    }
  }
  std::erase_if(out, [](const DimTerm& t) { return t.coefficient == 0; });
  return out;
}

Factors multiplied(const Factors& a, const Factors& b) {
  Factors out;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    int order = compare(*i->atom, *j->atom);
    if (order == 0) {
      out.push_back({i->atom, std::min(i->power + j->power, most_degree + 1)});
      ++i;
      ++j;
    } else {
      out.push_back(order < 0 ? *i++ : *j++);
    }
  }
  out.insert(out.end(), i, a.end());
  out.insert(out.end(), j, b.end());
  return out;
}

Dim power(const Dim& base, int exponent) {
  Dim out(1);
  for (int i = 0; i < exponent; ++i) out = out * base;
  return out;
}

// Rebuilds `dim` with `replace(name)` (a const Dim* or null) in place of symbols.
template <class Replace>
Dim rebuilt(const Dim& dim, const Replace& replace) {
  Dim out(DimAccess::offset(dim));
  for (const DimTerm& term : DimAccess::terms(dim)) {
    Dim product(term.coefficient);
    for (const DimFactor& factor : term.factors) {
      const DimAtom& atom = *factor.atom;
      Dim value;
      if (atom.kind == AtomKind::symbol) {
        const Dim* replacement = replace(atom.name);
        value = replacement ? *replacement : dim_of(factor.atom);
      } else {
        std::vector<Dim> operands;
        for (const Dim& operand : atom.operands) operands.push_back(rebuilt(operand, replace));
        value = simplified(atom.kind, operands);
      }
      product = product * power(value, factor.power);
    }
    out = out + product;
  }
  return out;
}

void collect_symbols(const Dim& dim, std::vector<std::string>& names) {
  for (const DimTerm& term : DimAccess::terms(dim)) {
    for (const DimFactor& factor : term.factors) {
      if (factor.atom->kind == AtomKind::symbol) names.push_back(factor.atom->name);
      for (const Dim& operand : factor.atom->operands) collect_symbols(operand, names);
    }
  }
}

std::optional<std::int64_t> evaluate_atom(const DimAtom& atom, const Bindings& bindings) {
  if (atom.kind == AtomKind::symbol) {
    auto found = std::ranges::find(bindings, atom.name, &Binding::symbol);
    if (found == bindings.end()) return std::nullopt;
    return clamp_dim(found->value);
  }
  std::vector<Dim> values;
  for (const Dim& operand : atom.operands) {
    std::optional<std::int64_t> value = operand.evaluate(bindings);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  bool divides = atom.kind == AtomKind::floor_div || atom.kind == AtomKind::floor_mod;
  if (divides && values[1] == Dim(0)) return std::nullopt;
  return simplified(atom.kind, values).constant();
}

}  // namespace

std::int64_t clamp_dim(std::int64_t value) { return std::clamp(value, -dim_limit, dim_limit); }

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  if (is_saturated(a)) return clamp_dim(a);
  if (is_saturated(b)) return clamp_dim(b);
  return clamp_dim(a + b);
}

std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a == 0 || b == 0) return 0;
  bool overflow = __builtin_mul_overflow(a, b, &product);
  if (overflow || is_saturated(a) || is_saturated(b)) return (a < 0) == (b < 0) ? dim_limit : -dim_limit;
  return clamp_dim(product);
}

std::int64_t saturating_floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (is_saturated(a)) return (a < 0) == (b < 0) ? dim_limit : -dim_limit;
  return floor_div(a, b);
}

int compare(const DimAtom& a, const DimAtom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (int order = a.name.compare(b.name); order != 0) return order;
  for (std::size_t i = 0; i < std::min(a.operands.size(), b.operands.size()); ++i) {
    if (int order = compare(a.operands[i], b.operands[i]); order != 0) return order;
  }
  return static_cast<int>(a.operands.size()) - static_cast<int>(b.operands.size());
}

int compare(const Factors& a, const Factors& b) {
  if (int order = degree(a) - degree(b); order != 0) return order;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (int order = compare(*a[i].atom, *b[i].atom); order != 0) return -order;
    if (int order = a[i].power - b[i].power; order != 0) return order;
  }
  return static_cast<int>(a.size()) - static_cast<int>(b.size());
}

int compare(const Dim& a, const Dim& b) {
  auto x = DimAccess::terms(a);
  auto y = DimAccess::terms(b);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()) && !DimAccess::same_terms(a, b); ++i) {
    if (int order = compare(x[i].factors, y[i].factors); order != 0) return order;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient < y[i].coefficient ? -1 : 1;
  }
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  std::int64_t p = DimAccess::offset(a);
  std::int64_t q = DimAccess::offset(b);
  return p == q ? 0 : p < q ? -1 : 1;
}

std::int64_t DimAccess::offset(const Dim& dim) { return clamp_dim(dim.constant_); }

Dim DimAccess::make(std::int64_t offset, Terms terms) {
  if (terms.empty()) return clamp_dim(offset);
  if (is_saturated(offset)) return dim_limit;
  for (const DimTerm& term : terms) {
    if (is_saturated(term.coefficient) || degree(term.factors) > most_degree) return dim_limit;
  }
  Dim out(offset);
  out.terms_ = std::make_shared<const Terms>(std::move(terms));
  Size size = size_of(out);
  if (size.parts > most_parts || size.depth > most_depth) return dim_limit;
  return out;
}

Dim dim_of(AtomRef atom) {
  DimTerm term{1, {}};
  term.factors.push_back({std::move(atom), 1});
  Terms terms;
  terms.push_back(std::move(term));
  return DimAccess::make(0, std::move(terms));
}

Dim dim_of(AtomKind kind, std::vector<Dim> operands) {
  DimAtom atom{kind, {}, std::move(operands), 1, 1};
  for (const Dim& operand : atom.operands) {
    Size size = size_of(operand);
    atom.parts += size.parts;
    atom.depth = std::max(atom.depth, size.depth + 1);
  }
  return dim_of(std::make_shared<const DimAtom>(std::move(atom)));
}

bool divide_factors(const Factors& a, const Factors& b, Factors& quotient) {
  quotient.clear();
  auto divisor = b.begin();
  for (const DimFactor& factor : a) {
    int left = factor.power;
    if (divisor != b.end() && compare(*divisor->atom, *factor.atom) == 0) {
      left -= divisor->power;
      ++divisor;
    }
    if (left < 0) return false;
    if (left > 0) quotient.push_back({factor.atom, left});
  }
  return divisor == b.end();
}

Dim Dim::symbol(std::string_view name) {
  return dim_of(std::make_shared<const DimAtom>(DimAtom{AtomKind::symbol, std::string(name), {}, 1, 1}));
}

std::optional<std::int64_t> Dim::constant() const {
  if (terms_) return std::nullopt;
  return constant_;
}

std::optional<std::string> Dim::symbol_name() const {
  if (!terms_ || constant_ != 0 || terms_->size() != 1) return std::nullopt;
  const DimTerm& term = terms_->front();
  bool bare = term.coefficient == 1 && term.factors.size() == 1 && term.factors[0].power == 1;
  if (!bare || term.factors[0].atom->kind != AtomKind::symbol) return std::nullopt;
  return term.factors[0].atom->name;
}

std::vector<std::string> Dim::symbols() const {
  std::vector<std::string> names;
  collect_symbols(*this, names);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::int64_t> Dim::evaluate(const Bindings& bindings) const {
  if (is_constant()) return constant_;
  std::int64_t sum = DimAccess::offset(*this);
  for (const DimTerm& term : DimAccess::terms(*this)) {
    std::int64_t product = term.coefficient;
    for (const DimFactor& factor : term.factors) {
      std::optional<std::int64_t> value = evaluate_atom(*factor.atom, bindings);
      if (!value) return std::nullopt;
      for (int i = 0; i < factor.power; ++i) product = saturating_mul(product, *value);
    }
    sum = saturating_add(sum, product);
  }
  return sum;
}

Dim Dim::substitute(const Bindings& bindings) const {
  if (is_constant()) return *this;
  std::vector<Dim> values;
  for (const Binding& b : bindings) values.emplace_back(b.value);
  return rebuilt(*this, [&](const std::string& name) -> const Dim* {
    auto found = std::ranges::find(bindings, name, &Binding::symbol);
    return found == bindings.end() ? nullptr : &values[static_cast<std::size_t>(found - bindings.begin())];
  });
}

Dim Dim::substitute(std::string_view symbol, const Dim& replacement) const {
  if (is_constant()) return *this;
  return rebuilt(*this, [&](const std::string& name) { return name == symbol ? &replacement : nullptr; });
}

Dim operator+(const Dim& a, const Dim& b) {
  std::int64_t offset = saturating_add(DimAccess::offset(a), DimAccess::offset(b));
  if (a.is_constant() && b.is_constant()) return offset;
  Terms terms(DimAccess::terms(a).begin(), DimAccess::terms(a).end());
  terms.insert(terms.end(), DimAccess::terms(b).begin(), DimAccess::terms(b).end());
  if (!a.is_constant() && !b.is_constant()) terms = collected(std::move(terms));
  return DimAccess::make(offset, std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  std::int64_t p = DimAccess::offset(a);
  std::int64_t q = DimAccess::offset(b);
  std::int64_t offset = saturating_mul(p, q);
  if (a.is_constant() && b.is_constant()) return offset;
  auto x = DimAccess::terms(a);
  auto y = DimAccess::terms(b);
  if ((x.size() + 1) * (y.size() + 1) > static_cast<std::size_t>(most_parts)) return dim_limit;
  Terms terms;
  for (const DimTerm& s : x) {
    if (q != 0) terms.push_back({saturating_mul(s.coefficient, q), s.factors});
    for (const DimTerm& t : y) terms.push_back({saturating_mul(s.coefficient, t.coefficient), multiplied(s.factors, t.factors)});
  }
  for (const DimTerm& t : y) {
    if (p != 0) terms.push_back({saturating_mul(t.coefficient, p), t.factors});
  }
  return DimAccess::make(offset, collected(std::move(terms)));
}

bool operator==(const Dim& a, const Dim& b) { return compare(a, b) == 0; }

Dim element_count(const Shape& shape) {
  Dim count(1);
  for (const Dim& extent : shape) count = count * extent;
  return count;
}

std::optional<Extents> constant_extents(const Shape& shape) { return evaluate(shape, {}); }

std::optional<Extents> evaluate(const Shape& shape, const Bindings& bindings) {
  Extents extents;
  extents.reserve(shape.size());
  for (const Dim& dim : shape) {
    std::optional<std::int64_t> value = dim.evaluate(bindings);
    if (!value) return std::nullopt;
    extents.push_back(*value);
  }
  return extents;
}

std::string to_string(const Shape& shape) {
  std::vector<std::string> parts;
  for (const Dim& dim : shape) parts.push_back(dim.to_string());
  return text("[", join(parts, ","), "]");
}

std::string to_string(const Extents& extents) { return text("[", join(extents, ","), "]"); }

Shape to_shape(const Extents& extents) { return Shape(extents.begin(), extents.end()); }

}  // namespace infini
