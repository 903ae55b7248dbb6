// Reductions over some axes: y = finish(reduce(prepare(x))). One line of table each.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

// Which axes go, and how an output index and the loop variables together read the input.
struct Plan {
  std::vector<bool> reduced;  // per axis of the input
  bool keep = true;
  Shape extents, output;      // of the reduced axes; of the result

  Indices read(const Indices& at, const Indices& inner) const {
    Indices out;
    std::size_t next_at = 0, next_inner = 0;
    for (bool gone : reduced) {
      out.push_back(gone ? inner[next_inner++] : at[next_at]);
      if (!gone || keep) ++next_at;
    }
    return out;
  }
};

// The axes that are named; nothing if their values are not known.
std::optional<std::vector<std::int64_t>> named_axes(const OpContext& context) {
  if (!context.has(1)) return std::vector<std::int64_t>();
  if (context.shape(1) && element_count(*context.shape(1)) == Dim(0)) return std::vector<std::int64_t>();
  return context.ints(1);
}

Result<Plan> plan(const OpContext& context, std::span<const std::int64_t> named) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::vector<std::size_t> axes, normalise_axes(named, x.size()));
  Plan p;
  p.keep = context.attributes().integer("keepdims", 1) != 0;
  bool all = axes.empty() && context.attributes().integer("noop_with_empty_axes") == 0;
  p.reduced.assign(x.size(), all);
  for (std::size_t axis : axes) p.reduced[axis] = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (p.reduced[i]) p.extents.push_back(x[i]);
    if (!p.reduced[i] || p.keep) p.output.push_back(p.reduced[i] ? Dim(1) : x[i]);
  }
  return p;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  DType dtype = context.dtype(0);
  if (context.shape(1) && context.shape(1)->size() > 1) return bad_input(text("axes are ", to_string(*context.shape(1)), ", expected a vector"));
  if (!context.shape(0)) return one(Type::tensor(dtype));
  std::size_t rank = context.shape(0)->size();
  if (std::optional<std::vector<std::int64_t>> axes = named_axes(context)) {
    IT_TRY(Plan p, plan(context, *axes));
    return one(Type::tensor(dtype, std::move(p.output)));
  }
  if (context.attributes().integer("keepdims", 1) != 0) return one(fresh_tensor(context, dtype, rank));
  std::optional<std::int64_t> count = context.shape(1) ? element_count(*context.shape(1)).constant() : std::nullopt;
  if (!count || *count > static_cast<std::int64_t>(rank)) return one(Type::tensor(dtype));
  return one(fresh_tensor(context, dtype, rank - static_cast<std::size_t>(*count)));
}

Result<Plan> known_plan(const OpContext& context) {
  std::optional<std::vector<std::int64_t>> axes = named_axes(context);
  if (!axes) return unsupported(text(context.op().name, ": the value of input 'axes' is not known"));
  return plan(context, *axes);
}

Expr reduce_over(Meaning& m, Op op, const Plan& p, const Indices& at, const std::function<Expr(Expr)>& prepare) {
  return m.reduce(op, p.extents, [&](const Indices& inner) { return prepare(wide(m.in(0)(p.read(at, inner)))); });
}

using Prepare = Expr (*)(Expr x);
using Finish = Expr (*)(Expr total, const Dim& count);

template <Op op, Prepare prepare, Finish finish>
Result<Program> meaning(const OpContext& context) {
  IT_TRY(Plan p, known_plan(context));
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, p.output, [&](Meaning& m, const Indices& at) {
    return cast(dtype, finish(reduce_over(m, op, p, at, prepare), element_count(p.extents)));
  });
}

// log(sum(exp(x))), shifted by the maximum where that is finite.
Result<Program> log_sum_exp(const OpContext& context) {
  IT_TRY(Plan p, known_plan(context));
  DType dtype = context.dtype(0), computed = compute_type(dtype);
  Meaning m(context);
  TensorRef shift = m.define(computed, p.output, [&](const Indices& at) {
    Expr highest = reduce_over(m, Op::max, p, at, [](Expr x) { return x; });
    return select(unary(Op::is_inf, highest), constant(computed, 0), highest);
  });
  m.output(m.define(dtype, p.output, [&](const Indices& at) {
    Expr sum = reduce_over(m, Op::sum, p, at, [&](Expr x) { return unary(Op::exp, x - shift(at)); });
    return cast(dtype, unary(Op::log, sum) + shift(at));
  }));
  return std::move(m).finish();
}

Expr same(Expr x) { return x; }
Expr square(Expr x) { return x * x; }
Expr absolute(Expr x) { return unary(Op::abs, x); }

Expr total(Expr sum, const Dim&) { return sum; }
Expr mean(Expr sum, const Dim& count) { return sum / cast(sum.dtype(), index(count)); }
Expr logarithm(Expr sum, const Dim&) { return unary(Op::log, sum); }
// Whole numbers by way of f64, truncated.
Expr root(Expr sum, const Dim&) {
  if (is_floating(sum.dtype())) return unary(Op::sqrt, sum);
  return cast(sum.dtype(), unary(Op::sqrt, cast(DType::f64, sum)));
}

constexpr DTypeSet sum_types = dtypes::floats | DType::i32 | DType::i64 | DType::u32 | DType::u64;
constexpr DTypeSet order_types = sum_types | DType::i8 | DType::u8 | DType::boolean;
constexpr std::array<Param, 2> sum_in = {Param{"data", sum_types, "T"}, Param{"axes", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 2> order_in = {Param{"data", order_types, "T"}, Param{"axes", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 2> float_in = {Param{"data", dtypes::floats, "T"}, Param{"axes", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 1> sum_out = {Param{"reduced", sum_types, "T"}};
constexpr std::array<Param, 1> order_out = {Param{"reduced", order_types, "T"}};
constexpr std::array<Param, 1> float_out = {Param{"reduced", dtypes::floats, "T"}};

constexpr std::array<AttributeDef, 2> attributes = {int_attribute("keepdims", 1), int_attribute("noop_with_empty_axes", 0)};
constexpr std::array<int, 4> v_1_11_13_18 = {1, 11, 13, 18};
constexpr std::array<int, 5> v_1_11_13_18_28 = {1, 11, 13, 18, 28};
constexpr std::array<int, 6> v_1_11_12_13_18_20 = {1, 11, 12, 13, 18, 20};
constexpr std::array<int, 3> v_1_11_13 = {1, 11, 13};
constexpr std::array<int, 1> axes_input = {1};

constexpr OpDef reduction(std::string_view name, std::string_view summary, std::span<const int> versions, std::span<const Param> inputs,
                          std::span<const Param> outputs, Result<Program> (*program)(const OpContext&), Status (*upgrade)(Upgrade&) = upgrade_axes<18>) {
  return OpDef{.name = name, .summary = summary, .versions = versions, .inputs = inputs, .outputs = outputs, .attributes = attributes,
               .infer = infer, .meaning = program, .upgrade = upgrade, .value_inputs = axes_input};
}

const std::array table = {
    reduction("ReduceL1", "Sum of absolute values", v_1_11_13_18, sum_in, sum_out, meaning<Op::sum, absolute, total>),
    reduction("ReduceL2", "Root of the sum of squares", v_1_11_13_18, sum_in, sum_out, meaning<Op::sum, square, root>),
    reduction("ReduceLogSum", "Logarithm of the sum", v_1_11_13_18_28, float_in, float_out, meaning<Op::sum, same, logarithm>),
    reduction("ReduceLogSumExp", "Logarithm of the sum of exponentials", v_1_11_13_18_28, float_in, float_out, log_sum_exp),
    reduction("ReduceMax", "Maximum", v_1_11_12_13_18_20, order_in, order_out, meaning<Op::max, same, total>),
    reduction("ReduceMean", "Mean", v_1_11_13_18, sum_in, sum_out, meaning<Op::sum, same, mean>),
    reduction("ReduceMin", "Minimum", v_1_11_12_13_18_20, order_in, order_out, meaning<Op::min, same, total>),
    reduction("ReduceProd", "Product", v_1_11_13_18, sum_in, sum_out, meaning<Op::prod, same, total>),
    reduction("ReduceSum", "Sum", v_1_11_13, sum_in, sum_out, meaning<Op::sum, same, total>, upgrade_axes<13>),
    reduction("ReduceSumSquare", "Sum of squares", v_1_11_13_18, sum_in, sum_out, meaning<Op::sum, square, total>),
};

}  // namespace

std::span<const OpDef> reduce_ops() { return table; }

}  // namespace infini
