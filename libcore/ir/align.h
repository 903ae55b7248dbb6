// Which node of one graph is which node of another.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libcore/base/hash.h"
#include "libcore/ir/graph.h"

namespace infini {

struct Alignment {
  // The partner in the other graph, by node and by value of each; invalid: none. Constants have none. Partners have the same operator.
  std::vector<NodeId> node_in_b, node_in_a;
  std::vector<ValueId> value_in_b, value_in_a;
  // What some source nodes became in A, and what the same became in B, where that are not two nodes of one operator. These nodes have no partner.
  struct Rewrite {
    std::vector<NodeId> a, b;
  };
  std::vector<Rewrite> rewrites;
};

// Content of the constants of a graph by value, as far as it is known; nothing for other values and payloads that are absent.
using ContentDigests = std::vector<std::optional<Hash128>>;
Result<ContentDigests> constant_digests(const Graph& graph);

// Partners are, in this order: nodes with equal large constants; with equal origins (source nodes of the same operator and name, or place),
// unless most of the first speak against that; what such neighbours lead to; nodes and results of the same name; and again their neighbours. `given` are values that should be partners: inputs, captures and
// outputs.
Alignment align(const Graph& a, const Graph& b, const ContentDigests& in_a, const ContentDigests& in_b, std::span<const std::pair<ValueId, ValueId>> given);

}  // namespace infini
