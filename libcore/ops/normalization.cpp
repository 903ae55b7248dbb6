// Normalisations over parts of one sample: (x - mean) / sqrt(variance + epsilon), scaled and shifted.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

double epsilon(const OpContext& context) { return static_cast<double>(context.attributes().real("epsilon", 1e-5f)); }

// The mean and the deviation sqrt(variance + epsilon) of a set of elements per element of a tensor of shape `sets`;
// `element(set, inner)` reads, inner running over `extents`.
struct Moments {
  TensorRef mean, deviation;
};
using Element = std::function<Expr(const Indices& set, const Indices& inner)>;

Expr mean_over(Meaning& m, const Shape& extents, const std::function<Expr(const Indices&)>& element) {
  Expr sum = m.reduce(Op::sum, extents, element);
  return sum / cast(sum.dtype(), index(element_count(extents)));
}

Moments moments(Meaning& m, DType computed, const Shape& sets, const Shape& extents, double eps, const Element& element) {
  TensorRef mean = m.define(computed, sets, [&](const Indices& set) {
    return mean_over(m, extents, [&](const Indices& inner) { return element(set, inner); });
  });
  TensorRef deviation = m.define(computed, sets, [&](const Indices& set) {
    Expr variance = mean_over(m, extents, [&](const Indices& inner) {
      Expr difference = element(set, inner) - mean(set);
      return difference * difference;
    });
    return unary(Op::sqrt, variance + constant(computed, eps));
  });
  return {mean, deviation};
}

Status check_channels(const OpContext& context, std::size_t least_rank) {
  const Shape* x = context.shape(0);
  if (!x) return {};
  if (x->size() < least_rank) return bad_input(text("input is ", to_string(*x), ", expected a rank of at least ", least_rank));
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const Shape* s = context.shape(i);
    if (!s) continue;
    if (s->size() != 1) return bad_input(text("input '", context.op().inputs[i].name, "' is ", to_string(*s), ", expected a vector"));
    IT_TRY_VOID(same_dim((*x)[1], (*s)[0], text("input is ", to_string(*x), ", '", context.op().inputs[i].name, "' is ", to_string(*s), "; channels")));
  }
  return {};
}

// ---- InstanceNormalization, GroupNormalization ---------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_instance(const OpContext& context) {
  IT_TRY_VOID(check_channels(context, 3));
  return infer_same(context);
}

// `groups` groups of channels; as many as there are channels for instances.
Result<Program> grouped(const OpContext& context, const Dim& groups, bool round_before_scale) {
  const Shape& x = *context.shape(0);
  DType dtype = context.dtype(0), computed = compute_type(dtype);
  Dim per_group = floor_div(x[1], groups);
  Shape extents(x.begin() + 1, x.end());
  extents[0] = per_group;
  Meaning m(context);
  Moments stat = moments(m, computed, {x[0], groups}, extents, epsilon(context), [&](const Indices& set, const Indices& inner) {
    Indices at = {set[0], set[1] * index(per_group) + inner[0]};
    at.insert(at.end(), inner.begin() + 1, inner.end());
    return wide(m.in(0)(at));
  });
  m.output(m.define(dtype, x, [&](const Indices& at) {
    Indices set = {at[0], floor_div(at[1], index(per_group))};
    Expr normalised = (wide(m.in(0)(at)) - stat.mean(set)) / stat.deviation(set);
    if (round_before_scale) normalised = wide(cast(dtype, normalised));
    return cast(dtype, wide(m.in(1)({at[1]})) * normalised + wide(m.in(2)({at[1]})));
  }));
  return std::move(m).finish();
}

Result<Program> instance_meaning(const OpContext& context) { return grouped(context, (*context.shape(0))[1], false); }

Result<std::vector<Type>> infer_group(const OpContext& context) {
  IT_TRY_VOID(check_channels(context, 2));
  std::int64_t groups = context.attributes().integer("num_groups");
  if (groups < 1) return bad_input(text("attribute 'num_groups' is ", groups, ", expected at least 1"));
  const Shape* x = context.shape(0);
  if (x && (*x)[1].is_constant() && *(*x)[1].constant() % groups != 0) {
    return bad_input(text("input is ", to_string(*x), ", whose channels are no multiple of num_groups=", groups));
  }
  return infer_same(context);
}

Result<Program> group_meaning(const OpContext& context) { return grouped(context, Dim(context.attributes().integer("num_groups")), true); }

// Opset 18 had one scale and bias per group; each is repeated for the group's channels.
Status upgrade_group(Upgrade& node) {
  if (node.opset() >= 21 || node.inputs().size() != 3) return {};
  std::int64_t groups = node.attributes().integer("num_groups");
  if (groups < 1) return bad_input(text("attribute 'num_groups' is ", groups, ", expected at least 1"));
  int channels = node.emit("Shape", {node.inputs()[0]}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
  int per_group = node.emit("Div", {channels, constant_ints(node, {groups})}, {});
  int target = node.emit("Concat", {constant_ints(node, {groups}), per_group}, {{"axis", std::int64_t{0}}});
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    int column = node.emit("Unsqueeze", {node.inputs()[i], constant_ints(node, {1})}, {});
    int repeated = node.emit("Expand", {column, target}, {});
    node.set_input(i, node.emit("Reshape", {repeated, constant_ints(node, {-1})}, {}));
  }
  return {};
}

// ---- LayerNormalization, RMSNormalization --------------------------------------------------------------------------------------------

Result<std::size_t> first_axis(const OpContext& context) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis", -1), x.size()));
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    if (context.shape(i)) IT_TRY_VOID(check_broadcasts_to(*context.shape(i), x, context.op().inputs[i].name));
  }
  return axis;
}

Result<DType> stash_type(const OpContext& context) {
  std::int64_t number = context.attributes().integer("stash_type", 1);
  if (number == 1) return DType::f32;
  if (number == 16) return DType::bf16;
  return bad_input(text("attribute 'stash_type' is ", number, ", expected 1 (f32) or 16 (bf16)"));
}

Result<std::vector<Type>> infer_layer(const OpContext& context) {
  IT_TRY(DType stash, stash_type(context));
  std::vector<Type> types = {tensor_like(context.type(0)), Type::tensor(stash), Type::tensor(stash)};
  if (!context.shape(0)) return types;
  IT_TRY(std::size_t axis, first_axis(context));
  Shape rows = *context.shape(0);
  std::fill(rows.begin() + static_cast<std::ptrdiff_t>(axis), rows.end(), Dim(1));
  types[1].shape = types[2].shape = std::move(rows);
  return types;
}

// Leading indices of a row, then the indices inside it.
Indices joined(const Indices& at, std::size_t axis, const Indices& inner) {
  Indices out(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

Result<Program> layer_meaning(const OpContext& context) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, first_axis(context));
  IT_TRY(std::vector<Type> types, infer_layer(context));
  DType dtype = context.dtype(0), computed = compute_type(dtype);
  Shape rows(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis)), extents(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
  Meaning m(context);
  Moments stat = moments(m, computed, rows, extents, epsilon(context), [&](const Indices& set, const Indices& inner) {
    return wide(m.in(0)(joined(set, axis, inner)));
  });
  auto row_of = [axis](const Indices& at) { return joined(at, axis, {}); };
  m.output(m.define(dtype, x, [&](const Indices& at) {
    Expr normalised = cast(dtype, (wide(m.in(0)(at)) - stat.mean(row_of(at))) / stat.deviation(row_of(at)));
    Expr y = cast(dtype, wide(normalised) * wide(m.in(1).broadcast(at)));
    return context.has(2) ? cast(dtype, wide(y) + wide(m.in(2).broadcast(at))) : y;
  }));
  if (context.output_count() > 1) {
    m.output(m.define(types[1].dtype, *types[1].shape, [&](const Indices& at) { return cast(types[1].dtype, stat.mean(row_of(at))); }));
  }
  if (context.output_count() > 2) {
    m.output(m.define(types[2].dtype, *types[2].shape, [&](const Indices& at) {
      return cast(types[2].dtype, unary(Op::reciprocal, stat.deviation(row_of(at))));
    }));
  }
  return std::move(m).finish();
}

Result<std::vector<Type>> infer_rms(const OpContext& context) {
  IT_TRY_VOID(stash_type(context));
  if (context.shape(0)) IT_TRY_VOID(first_axis(context));
  return one(Type::tensor(context.dtype(1), context.type(0).shape));
}

Result<Program> rms_meaning(const OpContext& context) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, first_axis(context));
  DType dtype = context.dtype(1), computed = compute_type(context.dtype(0));
  Shape rows(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis)), extents(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
  Meaning m(context);
  TensorRef size = m.define(computed, rows, [&](const Indices& set) {
    Expr mean = mean_over(m, extents, [&](const Indices& inner) {
      Expr element = wide(m.in(0)(joined(set, axis, inner)));
      return element * element;
    });
    return unary(Op::sqrt, mean + constant(computed, epsilon(context)));
  });
  m.output(m.define(dtype, x, [&](const Indices& at) {
    Expr normalised = cast(dtype, wide(m.in(0)(at)) / size(joined(at, axis, {})));
    return cast(dtype, wide(normalised) * wide(m.in(1).broadcast(at)));
  }));
  return std::move(m).finish();
}

constexpr DTypeSet floats = dtypes::floats;
constexpr DTypeSet stash_types = DTypeSet(DType::f32) | DType::bf16;
constexpr std::array<int, 3> v_1_6_22 = {1, 6, 22};
constexpr std::array<int, 2> v_18_21 = {18, 21};
constexpr std::array<int, 1> v_17 = {17}, v_23 = {23};
constexpr std::array<Param, 3> instance_in = {Param{"input", floats, "T"}, Param{"scale", floats, "T"}, Param{"B", floats, "T"}};
constexpr std::array<Param, 1> instance_out = {Param{"output", floats, "T"}};
constexpr std::array<Param, 3> group_in = {Param{"X", floats, "T"}, Param{"scale", floats, "T"}, Param{"bias", floats, "T"}};
constexpr std::array<Param, 1> group_out = {Param{"Y", floats, "T"}};
constexpr std::array<Param, 3> layer_in = {Param{"X", floats, "T"}, Param{"Scale", floats, "T"}, Param{"B", floats, "T", Arity::optional}};
constexpr std::array<Param, 3> layer_out = {Param{"Y", floats, "T"}, Param{"Mean", stash_types, "U", Arity::optional},
                                            Param{"InvStdDev", stash_types, "U", Arity::optional}};
constexpr std::array<Param, 2> rms_in = {Param{"X", floats, "T"}, Param{"scale", floats, "V"}};
constexpr std::array<Param, 1> rms_out = {Param{"Y", floats, "V"}};
constexpr std::array<AttributeDef, 1> instance_attributes = {real_attribute("epsilon", 1e-5f)};
constexpr std::array<AttributeDef, 3> group_attributes = {real_attribute("epsilon", 1e-5f), required_attribute("num_groups", AttributeKind::integer),
                                                          int_attribute("stash_type", 1)};
constexpr std::array<AttributeDef, 3> layer_attributes = {int_attribute("axis", -1), real_attribute("epsilon", 1e-5f), int_attribute("stash_type", 1)};

const std::array table = {
    OpDef{.name = "GroupNormalization", .summary = "Normalised over groups of channels, scaled per channel", .versions = v_18_21, .inputs = group_in,
          .outputs = group_out, .attributes = group_attributes, .infer = infer_group, .meaning = group_meaning, .upgrade = upgrade_group},
    OpDef{"InstanceNormalization", "Normalised per sample and channel", v_1_6_22, instance_in, instance_out, instance_attributes, infer_instance,
          instance_meaning},
    OpDef{"LayerNormalization", "Normalised over the last axes", v_17, layer_in, layer_out, layer_attributes, infer_layer, layer_meaning},
    OpDef{"RMSNormalization", "Divided by the root mean square over the last axes", v_23, rms_in, rms_out, layer_attributes, infer_rms, rms_meaning},
};

}  // namespace

std::span<const OpDef> normalization_ops() { return table; }

}  // namespace infini
