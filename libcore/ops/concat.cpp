// Concat, and Split, which undoes it.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// ---- Concat -----------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_concat(const OpContext& context) {
  DType dtype = context.dtype(0);
  if (!context.shape(0)) return one(Type::tensor(dtype));
  Shape out = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), out.size()));
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    const Shape* next = context.shape(i);
    if (!next) return one(fresh_tensor(context, dtype, out.size()));
    if (next->size() != out.size()) return bad_input(text("input 0 is ", to_string(*context.shape(0)), ", input ", i, " is ", to_string(*next), "; ranks must be equal"));
    for (std::size_t a = 0; a < out.size(); ++a) {
      if (a == axis) {
        out[a] = out[a] + (*next)[a];
      } else {
        IT_TRY(out[a], within(text("input 0 is ", to_string(*context.shape(0)), ", input ", i, " is ", to_string(*next)),
                              same_dim(out[a], (*next)[a], text("axis ", a))));
      }
    }
  }
  return one(Type::tensor(dtype, std::move(out)));
}

Result<Program> concat_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_concat(context));
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), types[0].rank()));
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [&](Meaning& m, const Indices& at) {
    // From the last input backwards: at[axis] < start of the next ? this one : what follows.
    Dim start = (*types[0].shape)[axis];
    Expr chosen;
    for (std::size_t i = context.input_count(); i-- > 0;) {
      Dim end = start;
      start = start - (*context.shape(i))[axis];
      Indices from = at;
      from[axis] = at[axis] - index(start);
      Expr element = m.in(i)(from);
      chosen = chosen ? select(less(at[axis], index(end)), element, chosen) : element;
    }
    return chosen;
  });
}

Status upgrade_concat(Upgrade& node) {
  if (node.opset() < 4 && !node.attributes().has("axis")) node.attributes().set("axis", std::int64_t{1});
  return {};
}

// ---- Split ------------------------------------------------------------------------------------------------------------------------------

// The extent of each part along the axis.
Result<std::vector<Dim>> parts(const OpContext& context, const Dim& whole) {
  std::size_t count = context.output_count();
  if (context.has(1)) {
    auto given = context.dims(1);
    if (!given) return context.fresh(count);
    if (given->size() != count) return bad_input(text("split has ", given->size(), " parts, the node has ", count, " outputs"));
    std::vector<Dim> out;
    Dim total = 0;
    for (const std::optional<Dim>& part : *given) {
      if (part && part->constant().value_or(0) < 0) return bad_input(text("split holds ", part->to_string()));
      out.push_back(part ? *part : context.fresh());
      total = total + out.back();
    }
    if (total.is_constant() && whole.is_constant() && !(total == whole)) {
      return bad_input(text("the parts of split add up to ", total.to_string(), ", the axis is ", whole.to_string()));
    }
    return out;
  }
  auto number = static_cast<std::int64_t>(count);
  if (context.attributes().has("num_outputs") && context.attributes().integer("num_outputs") != number) {
    return bad_input(text("num_outputs is ", context.attributes().integer("num_outputs"), ", the node has ", count, " outputs"));
  }
  Dim each = ceil_div(whole, Dim(number));
  std::vector<Dim> out(count, each);
  if (!(each * Dim(number) == whole)) {
    for (std::size_t i = 0; i < count; ++i) out[i] = max(min(each, whole - each * Dim(static_cast<std::int64_t>(i))), Dim(0));
  }
  return out;
}

Result<std::vector<Type>> infer_split(const OpContext& context) {
  const Shape* shape = context.shape(0);
  if (!shape) return std::vector<Type>(context.output_count(), Type::tensor(context.dtype(0)));
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), shape->size()));
  IT_TRY(std::vector<Dim> extents, parts(context, (*shape)[axis]));
  std::vector<Type> out;
  for (const Dim& extent : extents) {
    out.push_back(Type::tensor(context.dtype(0), *shape));
    (*out.back().shape)[axis] = extent;
  }
  return out;
}

Result<Program> split_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_split(context));
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), context.shape(0)->size()));
  Meaning m(context);
  Dim start = 0;
  for (const Type& type : types) {
    m.output(m.define(type.dtype, *type.shape, [&](const Indices& at) {
      Indices from = at;
      from[axis] = at[axis] + index(start);
      return m.in(0)(from);
    }));
    start = start + (*type.shape)[axis];
  }
  return std::move(m).finish();
}

Status upgrade_split(Upgrade& node) {
  if (node.opset() < 13) node.attribute_to_input("split", 1, DType::i64);
  // Opset 1 could have the parts as second input of the data's own type.
  if (node.opset() < 2 && node.inputs().size() > 1 && node.inputs()[1] >= 0) {
    node.set_input(1, node.emit("Cast", {node.inputs()[1]}, {{"to", static_cast<std::int64_t>(DType::i64)}}));
  }
  bool parts_given = node.inputs().size() > 1 && node.inputs()[1] >= 0;
  if (!parts_given && !node.attributes().has("num_outputs")) node.attributes().set("num_outputs", static_cast<std::int64_t>(node.outputs().size()));
  return {};
}

constexpr std::array<int, 4> concat_versions = {1, 4, 11, 13};
constexpr std::array<int, 5> split_versions = {1, 2, 11, 13, 18};
constexpr std::array<Param, 1> concat_inputs = {Param{"inputs", dtypes::basic, "T", Arity::variadic}};
constexpr std::array<Param, 1> concat_outputs = {Param{"concat_result", dtypes::basic, "T"}};
constexpr std::array<Param, 2> split_inputs = {Param{"input", dtypes::basic, "T"}, Param{"split", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 1> split_outputs = {Param{"outputs", dtypes::basic, "T", Arity::variadic}};
constexpr std::array<AttributeDef, 1> concat_attributes = {required_attribute("axis", AttributeKind::integer)};
constexpr std::array<AttributeDef, 2> split_attributes = {int_attribute("axis", 0), optional_attribute("num_outputs", AttributeKind::integer)};
constexpr std::array<int, 1> second = {1};

const std::array table = {
    OpDef{.name = "Concat", .summary = "Tensors one after another along an axis", .versions = concat_versions, .inputs = concat_inputs,
          .outputs = concat_outputs, .attributes = concat_attributes, .infer = infer_concat, .meaning = concat_meaning, .upgrade = upgrade_concat},
    OpDef{.name = "Split", .summary = "Parts of a tensor along an axis", .versions = split_versions, .inputs = split_inputs, .outputs = split_outputs,
          .attributes = split_attributes, .infer = infer_split, .meaning = split_meaning, .upgrade = upgrade_split, .value_inputs = second},
};

}  // namespace

std::span<const OpDef> concat_ops() { return table; }

}  // namespace infini
