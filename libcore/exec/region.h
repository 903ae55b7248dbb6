// One node, as the C records that cross the plugin boundary.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/ir/graph.h"
#include "libcore/plugin/it_backend.h"

namespace infini {

// What is known of a value when a plan is made: its exact type, and its bytes where they are at hand.
struct ExactValue {
  Type type;
  const Tensor* known = nullptr;
};

// Owns every array that the C region points into; the tensors behind `known` must outlive it.
class Region {
 public:
  // The node with its inputs and outputs as the graph states them; bodies become nested regions. unsupported if a value is no tensor of plain elements.
  static Result<Region> of_node(const Graph& graph, const Node& node, const std::function<ExactValue(ValueId)>& value);

  const it_region* view() const { return region_; }
  // The operands that are not constants, and the outputs, in the order in which the backend numbers them.
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }

 private:
  friend class RegionWriter;
  struct Storage;
  std::shared_ptr<Storage> storage_;
  const it_region* region_ = nullptr;
  std::vector<ValueId> inputs_, outputs_;
};

}  // namespace infini
