// The same elements in the same order under other extents: Reshape, Flatten, Squeeze, Unsqueeze, Identity.
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// y[at] is the element of x with the same row-major number.
Result<Program> same_order(const OpContext& context) {
  IT_TRY(std::vector<Type> types, context.op().infer(context));
  if (!types[0].has_shape()) return unsupported("the rank of the result is not known");
  const Shape& to = *types[0].shape;
  return elementwise_meaning(context, context.dtype(0), to, [&](Meaning& m, const Indices& at) {
    const Shape& from = *context.shape(0);
    return from == to ? m.in(0)(at) : m.in(0)(unflatten(flat_index(at, to), from));
  });
}

Dim product(const Shape& shape, std::size_t begin, std::size_t end) { return element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.begin() + static_cast<std::ptrdiff_t>(end))); }

// ---- Reshape --------------------------------------------------------------------------------------------------------------------------

// The number of elements, if it is a number that an expression can hold.
std::optional<std::int64_t> known_count(const Dim& count) { return count == Dim(dim_limit) ? std::nullopt : count.constant(); }

// -1: what is left of the elements.
Result<Dim> remaining(const Shape& from, const Shape& others) {
  Dim total = element_count(from), rest = element_count(others);
  if (std::optional<Dim> exact = exact_div(total, rest)) return *exact;
  std::optional<std::int64_t> all = known_count(total), part = known_count(rest);
  if (part == 0) return bad_input("-1 beside a dimension of 0 leaves the size open");
  if (all && part) return bad_input(text(to_string(from), " has ", *all, " elements, which ", *part, " does not divide"));
  return floor_div(total, rest);
}

Result<Shape> reshaped(const Shape& from, const std::vector<std::optional<Dim>>& operand, bool allow_zero, const OpContext& context) {
  Shape to, others;
  std::optional<std::size_t> open;
  bool all_known = true;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    std::optional<std::int64_t> number = operand[i] ? operand[i]->constant() : std::nullopt;
    if (number == -1) {
      if (open) return bad_input("the shape holds -1 twice");
      open = i;
      to.emplace_back(0);
      continue;
    }
    if (number && *number < -1) return bad_input(text("the shape holds ", *number));
    if (number == 0 && !allow_zero) {
      if (i >= from.size()) return bad_input(text("0 at ", i, " of the shape has no dimension of ", to_string(from), " to keep"));
      to.push_back(from[i]);
    } else {
      all_known = all_known && operand[i];
      to.push_back(operand[i] ? *operand[i] : context.fresh());
    }
    others.push_back(to.back());
  }
  if (open && all_known) {
    IT_TRY(to[*open], remaining(from, others));
  } else if (open) {
    to[*open] = context.fresh();
  }
  std::optional<std::int64_t> before = known_count(element_count(from)), after = known_count(element_count(to));
  if (before && after && *before != *after) return bad_input(text(to_string(from), " cannot become ", to_string(to), ": ", *before, " elements are not ", *after));
  return to;
}

Result<std::vector<Type>> infer_reshape(const OpContext& context) {
  auto operand = context.dims(1);
  if (!operand) return one(Type::tensor(context.dtype(0)));
  if (!context.shape(0)) return one(fresh_tensor(context, context.dtype(0), operand->size()));
  IT_TRY(Shape to, reshaped(*context.shape(0), *operand, context.attributes().integer("allowzero") != 0, context));
  return one(Type::tensor(context.dtype(0), std::move(to)));
}

Status upgrade_reshape(Upgrade& node) {
  if (node.opset() >= 5) return {};
  node.attribute_to_input("shape", 1, DType::i64);
  return {};
}

// ---- Flatten --------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_flatten(const OpContext& context) {
  const Shape* shape = context.shape(0);
  if (!shape) return one(fresh_tensor(context, context.dtype(0), 2));
  std::int64_t axis = context.attributes().integer("axis", 1), rank = static_cast<std::int64_t>(shape->size());
  if (axis < -rank || axis > rank) return bad_input(text("axis ", axis, " is outside [", -rank, ", ", rank, "]"));
  auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  return one(Type::tensor(context.dtype(0), Shape{product(*shape, 0, at), product(*shape, at, shape->size())}));
}

// ---- Squeeze, Unsqueeze -----------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_squeeze(const OpContext& context) {
  const Shape* shape = context.shape(0);
  if (!shape) return one(Type::tensor(context.dtype(0)));
  std::vector<bool> drop(shape->size());
  if (context.has(1)) {
    auto given = context.ints(1);
    if (!given) return one(Type::tensor(context.dtype(0)));
    IT_TRY(std::vector<std::size_t> axes, normalise_axes(*given, shape->size()));
    for (std::size_t axis : axes) {
      const Dim& dim = (*shape)[axis];
      if (dim.is_constant() && !(dim == Dim(1))) return bad_input(text("axis ", axis, " of ", to_string(*shape), " is ", dim.to_string(), ", only 1 can be squeezed"));
      drop[axis] = true;
    }
  } else {
    if (!constant_extents(*shape)) return one(Type::tensor(context.dtype(0)));  // a symbol may be 1: the rank is open
    for (std::size_t i = 0; i < shape->size(); ++i) drop[i] = (*shape)[i] == Dim(1);
  }
  Shape out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (!drop[i]) out.push_back((*shape)[i]);
  }
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<std::vector<Type>> infer_unsqueeze(const OpContext& context) {
  const Shape* shape = context.shape(0);
  auto given = context.ints(1);
  if (!shape || !given) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::vector<std::size_t> axes, normalise_axes(*given, shape->size() + given->size()));
  Shape out = *shape;
  for (std::size_t axis : axes) out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Status upgrade_axes(Upgrade& node) {
  if (node.opset() < 13) node.attribute_to_input("axes", 1, DType::i64);
  return {};
}

// ---- Identity ---------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_identity(const OpContext& context) { return one(context.type(0)); }

Result<std::vector<Value>> copy(const OpContext&, std::span<const Value* const> inputs) { return std::vector<Value>{*inputs[0]}; }

constexpr std::array<int, 9> reshape_versions = {1, 5, 13, 14, 19, 21, 23, 24, 25};
constexpr std::array<int, 8> flatten_versions = {1, 9, 11, 13, 21, 23, 24, 25};
constexpr std::array<int, 7> squeeze_versions = {1, 11, 13, 21, 23, 24, 25};
constexpr std::array<int, 9> identity_versions = {1, 13, 14, 16, 19, 21, 23, 24, 25};
constexpr std::array<Param, 2> reshape_inputs = {Param{"data", dtypes::any, "T"}, Param{"shape", DType::i64}};
constexpr std::array<Param, 1> flatten_inputs = {Param{"input", dtypes::any, "T"}};
constexpr std::array<Param, 2> squeeze_inputs = {Param{"data", dtypes::any, "T"}, Param{"axes", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 2> unsqueeze_inputs = {Param{"data", dtypes::any, "T"}, Param{"axes", DType::i64}};
constexpr std::array<Param, 1> identity_inputs = {Param{"input", {}}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::any, "T"}};
constexpr std::array<Param, 1> identity_outputs = {Param{"output", {}}};
constexpr std::array<AttributeDef, 1> reshape_attributes = {int_attribute("allowzero", 0)};
constexpr std::array<AttributeDef, 1> flatten_attributes = {int_attribute("axis", 1)};
constexpr std::array<int, 1> second = {1};

const std::array table = {
    OpDef{.name = "Flatten", .summary = "Two axes: those before `axis`, and the rest", .versions = flatten_versions, .inputs = flatten_inputs,
          .outputs = outputs, .attributes = flatten_attributes, .infer = infer_flatten, .meaning = same_order},
    OpDef{.name = "Identity", .summary = "The input itself", .versions = identity_versions, .inputs = identity_inputs, .outputs = identity_outputs,
          .infer = infer_identity, .meaning = same_order, .on_values = copy},
    OpDef{.name = "Reshape", .summary = "Other extents: 0 keeps one, -1 takes what is left", .versions = reshape_versions, .inputs = reshape_inputs,
          .outputs = outputs, .attributes = reshape_attributes, .infer = infer_reshape, .meaning = same_order, .upgrade = upgrade_reshape, .value_inputs = second},
    OpDef{.name = "Squeeze", .summary = "Drops axes of extent 1", .versions = squeeze_versions, .inputs = squeeze_inputs, .outputs = outputs,
          .infer = infer_squeeze, .meaning = same_order, .upgrade = upgrade_axes, .value_inputs = second},
    OpDef{.name = "Unsqueeze", .summary = "Adds axes of extent 1", .versions = squeeze_versions, .inputs = unsqueeze_inputs, .outputs = outputs,
          .infer = infer_unsqueeze, .meaning = same_order, .upgrade = upgrade_axes, .value_inputs = second},
};

}  // namespace

std::span<const OpDef> reshape_ops() { return table; }

}  // namespace infini
