#include <cmath>

#include "libcore/expr/element.h"
#include "libcore/expr/evaluate.h"

namespace infini::expr {
namespace {

// Work for one output, in steps. What shape arithmetic does takes a few hundred.
constexpr std::int64_t most_steps = 200'000;

// A number; or a dimension, of an integer type; or not known.
struct DimValue {
  std::optional<Number> number;
  std::optional<Dim> dim;  // not a number
};

class DimDomain {
 public:
  using Value = DimValue;
  DimDomain(const Program& program, std::span<const DimTensor* const> inputs) : program_(program), inputs_(inputs) {}

  static Value literal(const Term& term) { return {literal_of(term), {}}; }
  static Value number(DType, std::int64_t value) { return {Number{static_cast<double>(value), value}, {}}; }
  static Value dimension(const Dim& dim) {
    if (dim == Dim(dim_limit) || dim == Dim(-dim_limit)) return {};
    if (auto constant = dim.constant()) return number(DType::i64, *constant);
    return {std::nullopt, dim};
  }

  static Value unary(Op op, DType dtype, const Value& a) {
    if (a.number) return {apply_unary(op, dtype, *a.number), {}};
    if (!a.dim) return {};
    if (op == Op::neg) return dimension(Dim(0) - *a.dim);
    if (op == Op::abs && surely_at_most(Dim(0), *a.dim)) return a;
    if (op == Op::sign && surely_at_most(Dim(1), *a.dim)) return number(dtype, 1);
    return {};
  }

  static Value binary(Op op, DType dtype, const Value& a, const Value& b) {
    if (a.number && b.number) return {apply_binary(op, dtype, *a.number, *b.number), {}};
    if (dtype == DType::boolean) return logical(op, a, b);
    if (op == Op::minimum || op == Op::maximum) {
      // Beyond what any dimension can be.
      if (is_far(a)) return (a.number->integer > 0) == (op == Op::minimum) ? b : a;
      if (is_far(b)) return (b.number->integer > 0) == (op == Op::minimum) ? a : b;
    }
    auto x = as_dim(a), y = as_dim(b);
    return x && y && is_followed(dtype) ? symbolic(op, *x, *y) : Value{};
  }

  static Value cast(DType from, DType to, ConversionRule rule, const Value& a) {
    if (a.number) return {convert(from, to, *a.number, rule), {}};
    if (!a.dim) return {};
    if (is_followed(to)) return a;
    if (to == DType::boolean && surely_at_most(Dim(1), *a.dim)) return number(to, 1);
    return {};
  }

  static Value select(DType dtype, const Value& condition, const Value& a, const Value& b) {
    if (condition.number) return condition.number->integer != 0 ? a : b;
    if (a.dim && b.dim && *a.dim == *b.dim) return a;
    bool same = a.number && b.number && !is_floating(dtype) && a.number->integer == b.number->integer;
    return same ? a : Value{};
  }

  static Value start(const Term& reduction) { return {identity(reduction.op, reduction.dtype), {}}; }
  static Value accumulate(const Term& reduction, const Value& sum, const Value& next) {
    if (sum.number && next.number) return {expr::accumulate(reduction.op, reduction.dtype, *sum.number, *next.number), {}};
    return binary(step_of(reduction.op), reduction.dtype, sum, next);
  }
  static Value finish(const Term& reduction, const Value& sum) { return sum.number ? Value{settle(reduction.dtype, *sum.number), {}} : sum; }

  static std::optional<std::int64_t> index(const Value& value) { return value.number ? std::optional(value.number->integer) : std::nullopt; }
  static Value unknown_read(int, DType, std::span<const Value>) { return {}; }
  static Value unknown_reduction(const Term&) { return {}; }

  Value input(int tensor, std::span<const std::int64_t> at) const {
    const DimTensor* known = inputs_[static_cast<std::size_t>(tensor)];
    if (known == nullptr) return {};
    const Shape& shape = program_.inputs[static_cast<std::size_t>(tensor)].shape;
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) flat = flat * *shape[axis].constant() + at[axis];
    auto position = static_cast<std::size_t>(flat);
    if (position >= known->elements.size() || !known->elements[position]) return {};
    Value out = dimension(*known->elements[position]);
    return out.number || is_followed(program_.inputs[static_cast<std::size_t>(tensor)].dtype) ? out : Value{};
  }

 private:
  // Types in which dimensions are taken not to wrap.
  static bool is_followed(DType dtype) { return dtype == DType::i64 || dtype == DType::i32; }
  static bool is_far(const Value& value) { return value.number && (value.number->integer >= dim_limit || value.number->integer <= -dim_limit); }
  static std::optional<Dim> as_dim(const Value& value) {
    if (!value.number) return value.dim;
    return is_far(value) ? std::nullopt : std::optional(Dim(value.number->integer));
  }

  static Value truth(bool value) { return number(DType::boolean, value ? 1 : 0); }

  // One of the two is not known.
  static Value logical(Op op, const Value& a, const Value& b) {
    for (const Value* side : {&a, &b}) {
      if (!side->number) continue;
      const Value& other = side == &a ? b : a;
      bool decides = (op == Op::logical_and && side->number->integer == 0) || (op == Op::logical_or && side->number->integer != 0);
      if (decides) return *side;
      if (op == Op::logical_and || op == Op::logical_or) return other;
    }
    return {};
  }

  static Value compare(Op op, const Dim& a, const Dim& b) {
    if (op == Op::eq) {
      if (a == b) return truth(true);
      bool differ = surely_at_most(a + Dim(1), b) || surely_at_most(b + Dim(1), a);
      return differ ? truth(false) : Value{};
    }
    const Dim one = op == Op::lt ? Dim(1) : Dim(0);
    if (surely_at_most(a + one, b)) return truth(true);
    return surely_at_most(b + (Dim(1) - one), a) ? truth(false) : Value{};
  }

  // A divisor that is a symbol may be 0, for which integers have another rule; one that divides exactly is taken not to be.
  static Value divide(Op op, const Dim& a, const Dim& b) {
    bool floors = op == Op::floor_div || op == Op::floor_mod;
    bool quotient = op == Op::div || op == Op::floor_div;
    if (auto exact = exact_div(a, b)) return quotient ? dimension(*exact) : number(DType::i64, 0);
    if (!surely_at_most(Dim(1), b) || !(floors || surely_at_most(Dim(0), a))) return {};
    return dimension(quotient ? infini::floor_div(a, b) : infini::floor_mod(a, b));
  }

  static Value symbolic(Op op, const Dim& a, const Dim& b) {
    if (op == Op::add) return dimension(a + b);
    if (op == Op::sub) return dimension(a - b);
    if (op == Op::mul) return dimension(a * b);
    if (op == Op::minimum) return dimension(min(a, b));
    if (op == Op::maximum) return dimension(max(a, b));
    if (holds(OpList<Op::div, Op::floor_div, Op::fmod, Op::floor_mod>{}, op)) return divide(op, a, b);
    if (holds(CompareOps{}, op)) return compare(op, a, b);
    return {};
  }

  const Program& program_;
  std::span<const DimTensor* const> inputs_;
};

// A float that is a whole number is passed on as one: the next program may cast it back.
std::optional<Dim> as_element(DType dtype, const DimValue& value) {
  if (!value.number) return value.dim;
  std::int64_t whole = value.number->integer;
  if (is_floating(dtype)) {
    whole = truncate_to_int(value.number->real);
    if (static_cast<double>(whole) != value.number->real || std::signbit(value.number->real)) return std::nullopt;
  }
  if (whole >= dim_limit || whole <= -dim_limit) return std::nullopt;
  return Dim(whole);
}

}  // namespace

std::optional<DimTensor> evaluate_dims(const Program& program, std::size_t output, std::span<const DimTensor* const> inputs, std::size_t limit) {
  int tensor = program.outputs[output];
  auto input_count = static_cast<int>(program.inputs.size());
  const TensorInfo& type = tensor < input_count ? program.inputs[static_cast<std::size_t>(tensor)]
                                                : program.definitions[static_cast<std::size_t>(tensor - input_count)].type;
  auto extents = constant_extents(type.shape);
  auto count = extents ? infini::element_count(*extents) : std::nullopt;
  if (!count || *count > static_cast<std::int64_t>(limit)) return std::nullopt;
  ElementEvaluator<DimDomain> evaluator(program, DimDomain(program, inputs));
  evaluator.limit_steps(most_steps);
  DimTensor out{type.shape, {}};
  std::vector<std::int64_t> at(extents->size());
  for (std::int64_t flat = 0; flat < *count; ++flat) {
    std::int64_t rest = flat;
    for (std::size_t axis = at.size(); axis-- > 0; rest /= (*extents)[axis]) at[axis] = rest % (*extents)[axis];
    out.elements.push_back(as_element(type.dtype, evaluator.element(tensor, at)));
    if (evaluator.exhausted()) return std::nullopt;
  }
  return out;
}

}  // namespace infini::expr
