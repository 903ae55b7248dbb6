#include "libcore/ops/upgrades.h"

#include "libcore/base/text.h"
#include "libcore/ops/shape_rules.h"

namespace infini {

Result<std::int64_t> take_integer(Upgrade& node, std::string_view name, std::int64_t otherwise) {
  std::optional<AttributeValue> value = node.attributes().take(name);
  if (!value) return otherwise;
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&*value)) return *integer;
  return bad_input(text("attribute '", name, "' is ", infini::name(kind(*value)), ", expected an integer"));
}

std::optional<std::size_t> rank_of(const Upgrade& node, int value) {
  InputFact fact = node.fact(value);
  if (!fact.type || !fact.type->has_shape()) return std::nullopt;
  return fact.type->rank();
}

int constant_ints(Upgrade& node, const std::vector<std::int64_t>& values) { return node.constant(Tensor::vector_i64(values)); }

int constant_like(Upgrade& node, int like, float value) {
  InputFact fact = node.fact(like);
  bool known = fact.type && fact.type->is_tensor();
  Result<TensorWriter> writer = TensorWriter::make(known ? fact.type->dtype : DType::f32, {});
  IT_CHECK(writer.has_value());
  writer->set_double(0, static_cast<double>(value));
  int number = node.constant(std::move(*writer).finish());
  return known ? number : node.emit("CastLike", {number, like}, {});
}

int append_axes(Upgrade& node, int value, std::size_t rank, std::size_t count) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < count; ++i) axes.push_back(static_cast<std::int64_t>(rank + i));
  return axes.empty() ? value : node.emit("Unsqueeze", {value, constant_ints(node, axes)}, {});
}

Status upgrade_broadcast(Upgrade& node) {
  if (node.opset() >= 7) return {};
  bool placed = node.attributes().has("axis");
  IT_TRY(std::int64_t axis, take_integer(node, "axis", 0));
  IT_TRY(std::int64_t on, take_integer(node, "broadcast", 0));
  if (on == 0 || !placed || node.inputs().size() != 2) return {};
  std::optional<std::size_t> a = rank_of(node, node.inputs()[0]), b = rank_of(node, node.inputs()[1]);
  if (!a || !b) return unsupported(text(node.op().name, " of opset ", node.opset(), " with axis=", axis, " needs inputs of known rank"));
  if (*b == 0) return {};
  IT_TRY(std::size_t start, normalise_axis(axis, *a));
  if (start + *b > *a) return bad_input(text(node.op().name, ": the second input, of rank ", *b, ", does not fit into the first, of rank ", *a, ", at axis ", start));
  node.set_input(1, append_axes(node, node.inputs()[1], *b, *a - start - *b));
  return {};
}

Status upgrade_flattened(Upgrade& node) {
  if (node.opset() >= 13) return {};
  IT_TRY(std::int64_t axis, take_integer(node, "axis", 1));
  node.attributes().set("axis", std::int64_t{-1});
  int input = node.inputs().empty() ? -1 : node.inputs()[0];
  std::optional<std::size_t> rank = rank_of(node, input);
  if (axis == -1 || (rank && axis == static_cast<std::int64_t>(*rank) - 1)) return {};
  int shape = node.emit("Shape", {input}, {});
  node.set_input(0, node.emit("Flatten", {input}, {{"axis", axis}}));
  node.emit_after(0, "Reshape", {shape}, {{"allowzero", std::int64_t{1}}});
  return {};
}

}  // namespace infini
