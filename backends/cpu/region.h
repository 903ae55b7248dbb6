// A region as kernels like to read it: names, shapes, constants and attributes, a `fused` node replaced by its body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/plugin/it_backend.h"
#include "libcore/tensor/dtype.h"

namespace infini::cpu {

using Extents = std::vector<std::int64_t>;

// Product of the extents from `begin` up to, not including, `end`.
std::int64_t count(const Extents& extents, std::size_t begin, std::size_t end);
inline std::int64_t count(const Extents& extents) { return count(extents, 0, extents.size()); }

// Axis numbers from the outermost to the innermost; empty: row-major.
using Order = std::vector<std::int32_t>;
// {0, 2, .., rank-1, 1}; empty below rank 3.
Order channels_last(std::size_t rank);
// The extents as they lie in memory.
Extents in_order(const Extents& extents, const Order& order);

struct Value {
  DType dtype = DType::none;
  Extents extents;
  const std::byte* data = nullptr;  // of a constant, perhaps unaligned
  int input = -1, output = -1;      // position in the region's inputs and outputs

  bool is_constant() const { return data != nullptr; }
  std::int64_t count() const { return cpu::count(extents); }
  std::size_t bytes() const { return byte_size(dtype, count()); }
  std::size_t rank() const { return extents.size(); }
  // The constant's elements; empty if it is none or of another type.
  std::vector<float> floats() const;
  std::vector<std::int64_t> ints() const;  // of i32 and i64
};

class Node {
 public:
  Node(const it_node* raw, std::vector<int> ins, std::vector<int> outs)
      : inputs(std::move(ins)), outputs(std::move(outs)), raw_(raw) {}

  bool is(std::string_view op) const { return domain().empty() && this->op() == op; }
  std::string_view op() const { return {raw_->op.data, raw_->op.size}; }
  std::string_view domain() const { return {raw_->domain.data, raw_->domain.size}; }

  // The attribute, or what is given if there is none of that name and kind.
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  float number(std::string_view name, float otherwise) const;
  std::string_view string(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> otherwise = {}) const;
  std::span<const std::byte> tensor(std::string_view name) const;  // its bytes; empty if there is none

  // Indices into Region::values, -1 where left out.
  std::vector<int> inputs, outputs;

 private:
  const it_attribute* find(std::string_view name, it_attribute_kind kind) const;
  const it_node* raw_;
};

class Region {
 public:
  // internal error if indices point outside. The raw region must outlive this view.
  static Result<Region> make(const it_region& raw);

  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;

  // Input or output number `position` of a node, or null if left out.
  const Value* input(const Node& node, std::size_t position) const { return at(node.inputs, position); }
  const Value* output(const Node& node, std::size_t position) const { return at(node.outputs, position); }
  // The one node of a region of length 1, else null.
  const Node* single() const { return nodes.size() == 1 ? &nodes[0] : nullptr; }

 private:
  const Value* at(const std::vector<int>& list, std::size_t position) const {
    return position < list.size() && list[position] >= 0 ? &values[static_cast<std::size_t>(list[position])] : nullptr;
  }
  Status add(const it_region& raw, std::vector<int> number_of);
};

}  // namespace infini::cpu
