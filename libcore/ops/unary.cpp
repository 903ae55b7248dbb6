// Elementwise operators of one tensor: y[i...] = f(x[i...]). One line of table each.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

constexpr std::array<Param, 1> float_in = {Param{"X", dtypes::floats, "T"}};
constexpr std::array<Param, 1> float_out = {Param{"Y", dtypes::floats, "T"}};
constexpr std::array<Param, 1> numeric_in = {Param{"X", dtypes::numeric, "T"}};
constexpr std::array<Param, 1> numeric_out = {Param{"Y", dtypes::numeric, "T"}};
constexpr DTypeSet signed_numeric = dtypes::signed_ints | dtypes::floats;
constexpr std::array<Param, 1> signed_in = {Param{"X", signed_numeric, "T"}};
constexpr std::array<Param, 1> signed_out = {Param{"Y", signed_numeric, "T"}};
constexpr std::array<Param, 1> bool_in = {Param{"X", DType::boolean, "T"}};
constexpr std::array<Param, 1> bool_out = {Param{"Y", DType::boolean, "T"}};

using Function = Expr (*)(Expr x, const Attributes& attributes);

// f in f32 for the narrower floats, rounded once at the end.
template <Function f>
Result<Program> meaning(const OpContext& context) {
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, *context.shape(0), [&](Meaning& m, const Indices& at) {
    return cast(dtype, f(wide(m.in(0)(at)), context.attributes()));
  });
}

template <Op op>
Expr plain(Expr x, const Attributes&) { return unary(op, std::move(x)); }

Expr number(const Expr& like, double value) { return constant(like.dtype(), value); }

Expr relu(Expr x, const Attributes&) { return maximum(x, number(x, 0)); }
Expr sigmoid(Expr x, const Attributes&) { return unary(Op::reciprocal, number(x, 1) + unary(Op::exp, -x)); }
// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
Expr softplus(Expr x, const Attributes&) {
  return maximum(x, number(x, 0)) + unary(Op::log, number(x, 1) + unary(Op::exp, -unary(Op::abs, x)));
}
Expr mish(Expr x, const Attributes& a) { return x * unary(Op::tanh, softplus(x, a)); }
Expr hard_sigmoid(Expr x, const Attributes& a) {
  Expr line = number(x, static_cast<double>(a.real("alpha"))) * x + number(x, static_cast<double>(a.real("beta")));
  return maximum(number(x, 0), minimum(number(x, 1), line));
}
Expr hard_swish(Expr x, const Attributes&) {
  return x * maximum(number(x, 0), minimum(number(x, 1), x * number(x, 1.0 / 6) + number(x, 0.5)));
}
Expr elu(Expr x, const Attributes& a) {
  Expr below = number(x, static_cast<double>(a.real("alpha"))) * (unary(Op::exp, x) - number(x, 1));
  return select(less(x, number(x, 0)), below, x);
}
Expr selu(Expr x, const Attributes& a) {
  Expr alpha = number(x, static_cast<double>(a.real("alpha")));
  Expr below = alpha * unary(Op::exp, x) - alpha;
  return number(x, static_cast<double>(a.real("gamma"))) * select(less_equal(x, number(x, 0)), below, x);
}
Expr leaky_relu(Expr x, const Attributes& a) {
  return select(less(x, number(x, 0)), number(x, static_cast<double>(a.real("alpha"))) * x, x);
}
Expr swish(Expr x, const Attributes& a) { return x * sigmoid(number(x, static_cast<double>(a.real("alpha"))) * x, a); }
Result<std::vector<Type>> infer_gelu(const OpContext& context) {
  std::string form = context.attributes().text("approximate");
  if (form != "none" && form != "tanh") return bad_input(text("approximate is '", form, "', expected none or tanh"));
  return infer_same(context);
}
Expr gelu(Expr x, const Attributes& a) {
  Expr inner;
  if (a.text("approximate") == "tanh") {
    Expr cube = x * x * x;
    inner = unary(Op::tanh, number(x, 0.7978845608028654) * (x + number(x, 0.044715) * cube));
  } else {
    inner = unary(Op::erf, x * number(x, 0.7071067811865476));
  }
  return number(x, 0.5) * x * (number(x, 1) + inner);
}

constexpr std::array<AttributeDef, 1> alpha_001 = {real_attribute("alpha", 0.01f)};
constexpr std::array<AttributeDef, 1> alpha_1 = {real_attribute("alpha", 1.0f)};
constexpr std::array<AttributeDef, 2> hard_sigmoid_attributes = {real_attribute("alpha", 0.2f), real_attribute("beta", 0.5f)};
constexpr std::array<AttributeDef, 2> selu_attributes = {real_attribute("alpha", 1.67326319217681884765625f),
                                                         real_attribute("gamma", 1.05070102214813232421875f)};
constexpr std::array<AttributeDef, 1> gelu_attributes = {text_attribute("approximate", "none")};

constexpr std::array<int, 3> v_1_6_13 = {1, 6, 13};
constexpr std::array<int, 4> v_1_6_13_14 = {1, 6, 13, 14};
constexpr std::array<int, 3> v_1_6_22 = {1, 6, 22};
constexpr std::array<int, 2> v_1_22 = {1, 22};
constexpr std::array<int, 2> v_7_22 = {7, 22};
constexpr std::array<int, 2> v_9_13 = {9, 13};
constexpr std::array<int, 2> v_11_22 = {11, 22};
constexpr std::array<int, 2> v_14_22 = {14, 22};
constexpr std::array<int, 2> v_18_22 = {18, 22};
constexpr std::array<int, 3> v_1_6_16 = {1, 6, 16};
constexpr std::array<int, 1> v_1 = {1}, v_20 = {20}, v_24 = {24};

// Opset 1 had other constants by default.
Status upgrade_selu(Upgrade& node) {
  if (node.opset() >= 6) return {};
  if (!node.attributes().has("alpha")) node.attributes().set("alpha", 1.6732f);
  if (!node.attributes().has("gamma")) node.attributes().set("gamma", 1.0507f);
  return {};
}

const std::array table = {
    OpDef{"Abs", "Absolute value", v_1_6_13, numeric_in, numeric_out, {}, infer_same, meaning<plain<Op::abs>>},
    OpDef{"Ceil", "Smallest integer not below x", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::ceil>>},
    OpDef{"Cos", "Cosine", v_7_22, float_in, float_out, {}, infer_same, meaning<plain<Op::cos>>},
    OpDef{"Elu", "x above 0, alpha (exp x - 1) below", v_1_6_22, float_in, float_out, alpha_1, infer_same, meaning<elu>},
    OpDef{"Erf", "Error function", v_9_13, float_in, float_out, {}, infer_same, meaning<plain<Op::erf>>},
    OpDef{"Exp", "Exponential", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::exp>>},
    OpDef{"Floor", "Largest integer not above x", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::floor>>},
    OpDef{"Gelu", "x times the normal distribution at x, exact or by tanh", v_20, float_in, float_out, gelu_attributes, infer_gelu, meaning<gelu>},
    OpDef{"HardSigmoid", "alpha x + beta, clipped to [0, 1]", v_1_6_22, float_in, float_out, hard_sigmoid_attributes, infer_same, meaning<hard_sigmoid>},
    OpDef{"HardSwish", "x times HardSigmoid with alpha 1/6", v_14_22, float_in, float_out, {}, infer_same, meaning<hard_swish>},
    OpDef{"LeakyRelu", "x above 0, alpha x below", v_1_6_16, float_in, float_out, alpha_001, infer_same, meaning<leaky_relu>},
    OpDef{"Log", "Natural logarithm", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::log>>},
    OpDef{"Mish", "x tanh(softplus x)", v_18_22, float_in, float_out, {}, infer_same, meaning<mish>},
    OpDef{"Neg", "-x", v_1_6_13, signed_in, signed_out, {}, infer_same, meaning<plain<Op::neg>>},
    OpDef{"Not", "Logical negation", v_1, bool_in, bool_out, {}, infer_same, meaning<plain<Op::logical_not>>},
    OpDef{"Reciprocal", "1 / x", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::reciprocal>>},
    OpDef{"Relu", "max(x, 0)", v_1_6_13_14, signed_in, signed_out, {}, infer_same, meaning<relu>},
    OpDef{"Round", "Nearest integer, halves to even", v_11_22, float_in, float_out, {}, infer_same, meaning<plain<Op::round_even>>},
    OpDef{.name = "Selu", .summary = "Scaled Elu", .versions = v_1_6_22, .inputs = float_in, .outputs = float_out, .attributes = selu_attributes,
          .infer = infer_same, .meaning = meaning<selu>, .upgrade = upgrade_selu},
    OpDef{"Sigmoid", "1 / (1 + exp(-x))", v_1_6_13, float_in, float_out, {}, infer_same, meaning<sigmoid>},
    OpDef{"Sign", "-1, 0 or 1", v_9_13, numeric_in, numeric_out, {}, infer_same, meaning<plain<Op::sign>>},
    OpDef{"Sin", "Sine", v_7_22, float_in, float_out, {}, infer_same, meaning<plain<Op::sin>>},
    OpDef{"Softplus", "log(1 + exp x)", v_1_22, float_in, float_out, {}, infer_same, meaning<softplus>},
    OpDef{"Sqrt", "Square root", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::sqrt>>},
    OpDef{"Swish", "x sigmoid(alpha x)", v_24, float_in, float_out, alpha_1, infer_same, meaning<swish>},
    OpDef{"Tanh", "Hyperbolic tangent", v_1_6_13, float_in, float_out, {}, infer_same, meaning<plain<Op::tanh>>},
};

}  // namespace

std::span<const OpDef> unary_ops() { return table; }

}  // namespace infini
