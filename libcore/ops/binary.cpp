// Elementwise operators of two tensors, with NumPy broadcasting: c[i...] = f(a[i...], b[i...]). One line of table each.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

using Function = Expr (*)(Expr a, Expr b, const Attributes& attributes);

Result<Program> broadcast_meaning(const OpContext& context, DType dtype, const std::function<Expr(Expr a, Expr b)>& f) {
  IT_TRY(std::optional<Shape> shape, broadcast_inputs(context));
  return elementwise_meaning(context, dtype, *shape, [&](Meaning& m, const Indices& at) { return f(m.in(0).broadcast(at), m.in(1).broadcast(at)); });
}

// f in f32 for the narrower floats, rounded once at the end.
template <Function f>
Result<Program> arithmetic(const OpContext& context) {
  DType dtype = context.dtype(0);
  return broadcast_meaning(context, dtype, [&](Expr a, Expr b) { return cast(dtype, f(wide(std::move(a)), wide(std::move(b)), context.attributes())); });
}

template <Function f>
Result<Program> comparison(const OpContext& context) {
  return broadcast_meaning(context, DType::boolean, [&](Expr a, Expr b) { return f(std::move(a), std::move(b), context.attributes()); });
}

template <Op op>
Expr plain(Expr a, Expr b, const Attributes&) { return binary(op, std::move(a), std::move(b)); }

Expr mod(Expr a, Expr b, const Attributes& attributes) {
  return binary(attributes.integer("fmod") == 1 ? Op::fmod : Op::floor_mod, std::move(a), std::move(b));
}
Expr prelu(Expr x, Expr slope, const Attributes&) { return select(less(x, constant(x.dtype(), 0)), slope * x, x); }
Expr greater(Expr a, Expr b, const Attributes&) { return less(std::move(b), std::move(a)); }
Expr greater_equal(Expr a, Expr b, const Attributes&) { return less_equal(std::move(b), std::move(a)); }

// The type Pow computes in: whole numbers with whole exponents in the 64-bit type of the exponent's sign, so that no exponent changes;
// f32 if both are exact there, else f64.
DType pow_type(DType base, DType exponent) {
  if (is_integer(base) && is_integer(exponent)) return exponent == DType::u64 ? DType::u64 : DType::i64;
  auto fits = [](DType d) { return info(d).bits <= (is_floating(d) ? 32 : 16); };
  return fits(base) && fits(exponent) ? DType::f32 : DType::f64;
}

Result<Program> pow_meaning(const OpContext& context) {
  DType dtype = context.dtype(0), computed = pow_type(dtype, context.dtype(1));
  return broadcast_meaning(context, dtype, [&](Expr base, Expr exponent) {
    return cast(dtype, binary(Op::pow, cast(computed, std::move(base)), cast(computed, std::move(exponent))));
  });
}

Result<std::vector<Type>> infer_mod(const OpContext& context) {
  std::int64_t fmod = context.attributes().integer("fmod");
  if (fmod != 0 && fmod != 1) return bad_input(text("attribute 'fmod' is ", fmod, ", expected 0 or 1"));
  return infer_broadcast(context);
}

Result<std::vector<Type>> infer_prelu(const OpContext& context) {
  if (context.shape(0) && context.shape(1)) IT_TRY_VOID(check_broadcasts_to(*context.shape(1), *context.shape(0), "slope"));
  return infer_same(context);
}

// Below opset 7 the slope held one number per channel, or one for all.
Status upgrade_prelu(Upgrade& node) {
  if (node.opset() >= 7 || node.inputs().size() != 2) return {};
  std::optional<std::size_t> x = rank_of(node, node.inputs()[0]), slope = rank_of(node, node.inputs()[1]);
  if (!x || !slope) return unsupported(text("PRelu of opset ", node.opset(), " needs inputs of known rank"));
  if (*slope == 1 && *x > 2) node.set_input(1, append_axes(node, node.inputs()[1], 1, *x - 2));
  return {};
}

constexpr DTypeSet pow_base = dtypes::floats | DType::i32 | DType::i64;
constexpr DTypeSet prelu_types = dtypes::floats | DType::i32 | DType::i64 | DType::u32 | DType::u64;
constexpr DTypeSet equal_types = dtypes::numeric | DType::boolean | DType::str;

constexpr std::array<Param, 2> numeric_in = {Param{"A", dtypes::numeric, "T"}, Param{"B", dtypes::numeric, "T"}};
constexpr std::array<Param, 1> numeric_out = {Param{"C", dtypes::numeric, "T"}};
constexpr std::array<Param, 2> bool_in = {Param{"A", DType::boolean, "T"}, Param{"B", DType::boolean, "T"}};
constexpr std::array<Param, 1> bool_out = {Param{"C", DType::boolean}};
constexpr std::array<Param, 2> equal_in = {Param{"A", equal_types, "T"}, Param{"B", equal_types, "T"}};
constexpr std::array<Param, 2> pow_in = {Param{"X", pow_base, "T"}, Param{"Y", dtypes::numeric}};
constexpr std::array<Param, 1> pow_out = {Param{"Z", pow_base, "T"}};
constexpr std::array<Param, 2> prelu_in = {Param{"X", prelu_types, "T"}, Param{"slope", prelu_types, "T"}};
constexpr std::array<Param, 1> prelu_out = {Param{"Y", prelu_types, "T"}};

constexpr std::array<AttributeDef, 1> mod_attributes = {int_attribute("fmod", 0)};

constexpr std::array<int, 5> v_1_6_7_13_14 = {1, 6, 7, 13, 14};
constexpr std::array<int, 3> v_10_13_28 = {10, 13, 28};
constexpr std::array<int, 5> v_1_7_12_13_15 = {1, 7, 12, 13, 15};
constexpr std::array<int, 5> v_1_6_7_9_16 = {1, 6, 7, 9, 16};
constexpr std::array<int, 2> v_1_7 = {1, 7}, v_12_16 = {12, 16};
constexpr std::array<int, 5> v_1_7_11_13_19 = {1, 7, 11, 13, 19};
constexpr std::array<int, 4> v_1_7_9_13 = {1, 7, 9, 13};

constexpr auto infer_bool = infer_broadcast_bool;

const std::array table = {
    OpDef{.name = "Add", .summary = "a + b", .versions = v_1_6_7_13_14, .inputs = numeric_in, .outputs = numeric_out,
          .infer = infer_broadcast, .meaning = arithmetic<plain<Op::add>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "And", .summary = "Logical and", .versions = v_1_7, .inputs = bool_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::logical_and>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "Div", .summary = "a / b; integers truncate toward zero", .versions = v_1_6_7_13_14, .inputs = numeric_in, .outputs = numeric_out,
          .infer = infer_broadcast, .meaning = arithmetic<plain<Op::div>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "Equal", .summary = "a = b", .versions = v_1_7_11_13_19, .inputs = equal_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::eq>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "Greater", .summary = "a > b", .versions = v_1_7_9_13, .inputs = numeric_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<greater>, .upgrade = upgrade_broadcast},
    OpDef{.name = "GreaterOrEqual", .summary = "a >= b", .versions = v_12_16, .inputs = numeric_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<greater_equal>},
    OpDef{.name = "Less", .summary = "a < b", .versions = v_1_7_9_13, .inputs = numeric_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::lt>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "LessOrEqual", .summary = "a <= b", .versions = v_12_16, .inputs = numeric_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::le>>},
    OpDef{.name = "Mod", .summary = "Remainder of the floored (fmod=0) or truncated (fmod=1) quotient", .versions = v_10_13_28, .inputs = numeric_in,
          .outputs = numeric_out, .attributes = mod_attributes, .infer = infer_mod, .meaning = arithmetic<mod>},
    OpDef{.name = "Mul", .summary = "a b", .versions = v_1_6_7_13_14, .inputs = numeric_in, .outputs = numeric_out,
          .infer = infer_broadcast, .meaning = arithmetic<plain<Op::mul>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "Or", .summary = "Logical or", .versions = v_1_7, .inputs = bool_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::logical_or>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "PRelu", .summary = "x, below 0 slope x", .versions = v_1_6_7_9_16, .inputs = prelu_in, .outputs = prelu_out,
          .infer = infer_prelu, .meaning = arithmetic<prelu>, .upgrade = upgrade_prelu},
    OpDef{.name = "Pow", .summary = "x to the power y, in x's type", .versions = v_1_7_12_13_15, .inputs = pow_in, .outputs = pow_out,
          .infer = infer_broadcast, .meaning = pow_meaning, .upgrade = upgrade_broadcast},
    OpDef{.name = "Sub", .summary = "a - b", .versions = v_1_6_7_13_14, .inputs = numeric_in, .outputs = numeric_out,
          .infer = infer_broadcast, .meaning = arithmetic<plain<Op::sub>>, .upgrade = upgrade_broadcast},
    OpDef{.name = "Xor", .summary = "Exclusive or", .versions = v_1_7, .inputs = bool_in, .outputs = bool_out,
          .infer = infer_bool, .meaning = comparison<plain<Op::logical_xor>>, .upgrade = upgrade_broadcast},
};

}  // namespace

std::span<const OpDef> binary_ops() { return table; }

}  // namespace infini
