#include "backends/cpu/region.h"

#include <cstring>
#include <numeric>

#include "libcore/base/text.h"

namespace infini::cpu {

std::int64_t count(const Extents& extents, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t axis = begin; axis < end; ++axis) product *= extents[axis];
  return product;
}

Order channels_last(std::size_t rank) {
  if (rank < 3) return {};
  Order order{0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<std::int32_t>(axis));
  order.push_back(1);
  return order;
}

Extents in_order(const Extents& extents, const Order& order) {
  if (order.empty()) return extents;
  Extents result;
  for (std::int32_t axis : order) result.push_back(extents[static_cast<std::size_t>(axis)]);
  return result;
}

namespace {

template <class From, class To>
std::vector<To> elements(const Value& value) {
  std::vector<To> result(static_cast<std::size_t>(value.count()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    From element;
    std::memcpy(&element, value.data + i * sizeof element, sizeof element);
    result[i] = static_cast<To>(element);
  }
  return result;
}

}  // namespace

std::vector<float> Value::floats() const {
  if (!data || dtype != DType::f32) return {};
  return elements<float, float>(*this);
}

std::vector<std::int64_t> Value::ints() const {
  if (!data) return {};
  if (dtype == DType::i64) return elements<std::int64_t, std::int64_t>(*this);
  if (dtype == DType::i32) return elements<std::int32_t, std::int64_t>(*this);
  return {};
}

const it_attribute* Node::find(std::string_view name, it_attribute_kind kind) const {
  for (std::int32_t i = 0; i < raw_->attribute_count; ++i) {
    const it_attribute& attribute = raw_->attributes[i];
    if (attribute.kind == kind && std::string_view(attribute.name.data, attribute.name.size) == name) return &attribute;
  }
  return nullptr;
}

std::int64_t Node::integer(std::string_view name, std::int64_t otherwise) const {
  const it_attribute* found = find(name, IT_ATTR_INT);
  return found ? found->i : otherwise;
}

float Node::number(std::string_view name, float otherwise) const {
  const it_attribute* found = find(name, IT_ATTR_FLOAT);
  return found ? static_cast<float>(found->f) : otherwise;
}

std::string_view Node::string(std::string_view name, std::string_view otherwise) const {
  const it_attribute* found = find(name, IT_ATTR_STRING);
  return found ? std::string_view(found->s.data, found->s.size) : otherwise;
}

std::vector<std::int64_t> Node::integers(std::string_view name, std::vector<std::int64_t> otherwise) const {
  const it_attribute* found = find(name, IT_ATTR_INTS);
  if (!found) return otherwise;
  return {found->ints, found->ints + found->count};
}

std::span<const std::byte> Node::tensor(std::string_view name) const {
  const it_attribute* found = find(name, IT_ATTR_TENSOR);
  if (!found || !found->tensor_data) return {};
  Extents extents(found->tensor.extents, found->tensor.extents + found->tensor.rank);
  return {static_cast<const std::byte*>(found->tensor_data), byte_size(static_cast<DType>(found->tensor.dtype), cpu::count(extents))};
}

namespace {

bool is_fused(const it_node& node) {
  return std::string_view(node.domain.data, node.domain.size) == "infini" && std::string_view(node.op.data, node.op.size) == "fused";
}

const it_region* body_of(const it_node& node) {
  for (std::int32_t i = 0; i < node.attribute_count; ++i)
    if (node.attributes[i].kind == IT_ATTR_REGION && std::string_view(node.attributes[i].name.data, node.attributes[i].name.size) == "body")
      return node.attributes[i].region;
  return nullptr;
}

Result<std::vector<int>> renumber(const std::int32_t* indices, std::int32_t size, const std::vector<int>& number_of) {
  std::vector<int> result;
  for (std::int32_t i = 0; i < size; ++i) {
    if (indices[i] >= static_cast<std::int32_t>(number_of.size()))
      return internal_error(text("a region refers to value ", indices[i], " of ", number_of.size()));
    result.push_back(indices[i] < 0 ? -1 : number_of[static_cast<std::size_t>(indices[i])]);
  }
  return result;
}

}  // namespace

// number_of: for each value of `raw` its index here if it is known already (the operands of a fused body), else -1.
Status Region::add(const it_region& raw, std::vector<int> number_of) {
  for (std::int32_t i = 0; i < raw.value_count; ++i) {
    int& number = number_of[static_cast<std::size_t>(i)];
    if (number >= 0) continue;
    number = static_cast<int>(values.size());
    const it_value& from = raw.values[i];
    Value value;
    value.dtype = from.type.dtype >= 0 && from.type.dtype < dtype_count ? static_cast<DType>(from.type.dtype) : DType::none;
    value.extents.assign(from.type.extents, from.type.extents + from.type.rank);
    static constexpr std::byte nothing{};
    value.data = from.data ? static_cast<const std::byte*>(from.data) : nullptr;
    if (from.data == nullptr && from.data_size > 0) return internal_error("a constant of a region has a size but no bytes");
    if (value.data && value.bytes() == 0) value.data = &nothing;
    values.push_back(std::move(value));
  }
  for (std::int32_t i = 0; i < raw.node_count; ++i) {
    const it_node& node = raw.nodes[i];
    IT_TRY(std::vector<int> ins, renumber(node.inputs, node.input_count, number_of));
    IT_TRY(std::vector<int> outs, renumber(node.outputs, node.output_count, number_of));
    const it_region* body = is_fused(node) ? body_of(node) : nullptr;
    if (!body) {
      nodes.emplace_back(&node, std::move(ins), std::move(outs));
      continue;
    }
    if (body->input_count != node.input_count || body->output_count != node.output_count)
      return internal_error(text("a fused node has ", node.input_count, " inputs and ", node.output_count, " outputs, its body ",
                                 body->input_count, " and ", body->output_count));
    std::vector<int> known(static_cast<std::size_t>(body->value_count), -1);
    for (std::int32_t j = 0; j < body->input_count; ++j) known[static_cast<std::size_t>(body->inputs[j])] = ins[static_cast<std::size_t>(j)];
    for (std::int32_t j = 0; j < body->output_count; ++j) known[static_cast<std::size_t>(body->outputs[j])] = outs[static_cast<std::size_t>(j)];
    IT_TRY_VOID(add(*body, std::move(known)));
  }
  return {};
}

Result<Region> Region::make(const it_region& raw) {
  Region region;
  std::vector<int> identity(static_cast<std::size_t>(raw.value_count), -1);
  IT_TRY_VOID(region.add(raw, identity));
  // The region's own values come first, in order.
  std::iota(identity.begin(), identity.end(), 0);
  IT_TRY(region.inputs, renumber(raw.inputs, raw.input_count, identity));
  IT_TRY(region.outputs, renumber(raw.outputs, raw.output_count, identity));
  for (std::size_t i = 0; i < region.inputs.size(); ++i)
    if (region.inputs[i] >= 0) region.values[static_cast<std::size_t>(region.inputs[i])].input = static_cast<int>(i);
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    if (region.outputs[i] >= 0) region.values[static_cast<std::size_t>(region.outputs[i])].output = static_cast<int>(i);
  return region;
}

}  // namespace infini::cpu
