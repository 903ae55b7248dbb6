// BatchNormalization: per channel, by given moments, or in training by those of the batch, which it then mixes into the given ones.
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  bool training = context.attributes().integer("training_mode") != 0;
  if (!training && context.output_count() > 1) return bad_input(text("has ", context.output_count(), " outputs, expected 1 without training_mode"));
  std::optional<Dim> channels;
  auto narrow = [&](const Dim& dim, std::size_t i) -> Status {
    if (!channels) {
      channels = dim;
      return {};
    }
    IT_TRY(channels, same_dim(*channels, dim, text("x is ", context.shape(0) ? to_string(*context.shape(0)) : "of unknown rank", ", '",
                                                   context.op().inputs[i].name, "' is ", to_string(*context.shape(i)), "; channels")));
    return {};
  };
  if (const Shape* x = context.shape(0)) {
    if (x->empty()) return bad_input("x is a scalar, expected a batch axis");
    IT_TRY_VOID(narrow(x->size() > 1 ? (*x)[1] : Dim(1), 0));
  }
  for (std::size_t i = 1; i < 5; ++i) {
    const Shape* s = context.shape(i);
    if (s && s->size() != 1) return bad_input(text("input '", context.op().inputs[i].name, "' is ", to_string(*s), ", expected a vector"));
    if (s) IT_TRY_VOID(narrow((*s)[0], i));
  }
  Type moments = Type::tensor(context.dtype(3), Shape{channels ? *channels : context.fresh()});
  return std::vector<Type>{tensor_like(context.type(0)), moments, moments};
}

struct Moments {
  TensorRef mean, variance;
};

// Of the batch, per channel.
Moments batch_moments(Meaning& m, DType computed, const Shape& x, const Dim& channels) {
  Shape extents = x;
  if (x.size() > 1) extents.erase(extents.begin() + 1);
  auto element = [&](const Expr& channel, Indices inner) {
    if (x.size() > 1) inner.insert(inner.begin() + 1, channel);
    return cast(computed, m.in(0)(std::move(inner)));
  };
  Expr count = cast(computed, index(element_count(extents)));
  Moments out;
  out.mean = m.define(computed, {channels}, [&](const Indices& c) {
    return m.reduce(Op::sum, extents, [&](const Indices& inner) { return element(c[0], inner); }) / count;
  });
  out.variance = m.define(computed, {channels}, [&](const Indices& c) {
    return m.reduce(Op::sum, extents, [&](const Indices& inner) {
      Expr difference = element(c[0], inner) - out.mean(c);
      return difference * difference;
    }) / count;
  });
  return out;
}

Result<Program> meaning(const OpContext& context) {
  const Shape& x = *context.shape(0);
  bool training = context.attributes().integer("training_mode") != 0;
  bool doubles = context.dtype(0) == DType::f64 || context.dtype(1) == DType::f64 || context.dtype(3) == DType::f64;
  DType dtype = context.dtype(0), computed = doubles ? DType::f64 : DType::f32;
  const Dim& channels = (*context.shape(1))[0];
  Meaning m(context);
  auto given = [&](std::size_t i) {
    return m.define(computed, {channels}, [&](const Indices& c) { return cast(computed, m.in(i)(c)); });
  };
  Moments used = training ? batch_moments(m, computed, x, channels) : Moments{given(3), given(4)};
  TensorRef deviation = m.define(computed, {channels}, [&](const Indices& c) {
    return unary(Op::sqrt, used.variance(c) + constant(computed, static_cast<double>(context.attributes().real("epsilon", 1e-5f))));
  });
  m.output(m.define(dtype, x, [&](const Indices& at) {
    Indices c = {x.size() > 1 ? at[1] : index(0)};
    Expr scale = cast(computed, m.in(1)(c)), bias = cast(computed, m.in(2)(c));
    return cast(dtype, scale * (cast(computed, m.in(0)(at)) - used.mean(c)) / deviation(c) + bias);
  }));
  double momentum = static_cast<double>(context.attributes().real("momentum", 0.9f));
  for (std::size_t i = 1; i < context.output_count(); ++i) {
    const TensorRef& now = i == 1 ? used.mean : used.variance;
    m.output(m.define(context.dtype(3), {channels}, [&](const Indices& c) {
      Expr before = cast(computed, m.in(i + 2)(c));
      return cast(context.dtype(3), before * constant(computed, momentum) + now(c) * constant(computed, 1 - momentum));
    }));
  }
  return std::move(m).finish();
}

// Statistics per feature instead of per channel: everything but the batch axis becomes one channel axis.
Status per_activation(Upgrade& node) {
  int x = node.inputs()[0];
  std::optional<std::size_t> rank = rank_of(node, x);
  if (rank && *rank == 2) return {};
  if (node.outputs().size() > 1) return unsupported(text("BatchNormalization of opset ", node.opset(), " with spatial=0 in training"));
  int shape = node.emit("Shape", {x}, {});
  node.set_input(0, node.emit("Flatten", {x}, {{"axis", std::int64_t{1}}}));
  for (std::size_t i = 1; i < 5; ++i) node.set_input(i, node.emit("Reshape", {node.inputs()[i], constant_ints(node, {-1})}, {}));
  node.emit_after(0, "Reshape", {shape}, {{"allowzero", std::int64_t{1}}});
  return {};
}

// Below opset 14 a node trained if it had more than one output (and below 7 no is_test); the batch's own moments, saved for the gradient,
// were the fourth and fifth output. They are dropped: nothing in an inference graph reads them.
Status upgrade(Upgrade& node) {
  if (node.opset() >= 14) return {};
  std::int64_t is_test = 0, spatial = 1;
  if (node.opset() < 7) {
    IT_TRY(is_test, take_integer(node, "is_test", 0));
  }
  if (node.opset() < 9) {
    IT_TRY(spatial, take_integer(node, "spatial", 1));
  }
  std::vector<int>& outputs = node.outputs();
  auto first_extra = outputs.begin() + std::min<std::ptrdiff_t>(1, std::ssize(outputs));
  bool training = is_test == 0 && std::any_of(first_extra, outputs.end(), [](int o) { return o >= 0; });
  outputs.resize(std::min<std::size_t>(outputs.size(), training ? 3 : 1));
  if (training) node.attributes().set("training_mode", std::int64_t{1});
  return spatial == 0 && node.inputs().size() == 5 ? per_activation(node) : Status();
}

constexpr DTypeSet floats = dtypes::floats;
constexpr std::array<int, 6> versions = {1, 6, 7, 9, 14, 15};
constexpr std::array<Param, 5> inputs = {Param{"X", floats, "T"}, Param{"scale", floats, "T1"}, Param{"B", floats, "T1"},
                                         Param{"input_mean", floats, "T2"}, Param{"input_var", floats, "T2"}};
constexpr std::array<Param, 3> outputs = {Param{"Y", floats, "T"}, Param{"running_mean", floats, "T2", Arity::optional},
                                          Param{"running_var", floats, "T2", Arity::optional}};
constexpr std::array<AttributeDef, 3> attributes = {real_attribute("epsilon", 1e-5f), real_attribute("momentum", 0.9f), int_attribute("training_mode", 0)};

const std::array table = {OpDef{.name = "BatchNormalization", .summary = "Normalised per channel over the batch", .versions = versions, .inputs = inputs,
                                .outputs = outputs, .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade}};

}  // namespace

std::span<const OpDef> batch_normalization_ops() { return table; }

}  // namespace infini
