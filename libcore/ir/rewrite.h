// Making a graph from a graph: everything is copied in order, except where the caller steps in.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini {

// Walks an old graph and fills a new one. Values of the old graph are mapped to values of the new one as they come to exist.
class Rewriter {
 public:
  explicit Rewriter(const Graph& old);

  const Graph& old() const { return old_; }
  GraphBuilder& builder() { return builder_; }
  // The new value for an old one; copies constants on first use. Invalid for an invalid id.
  ValueId map(ValueId old);
  // From here on readers of `old` read `replacement`.
  void replace(ValueId old, ValueId replacement);
  // Copies one node with its inputs mapped, bodies included (their captures mapped).
  Status copy(NodeId node);
  // A new node in place of old ones: origin is the union of `from`'s origins; output names are kept from `outputs` (old values), which are replaced.
  Status emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from, std::span<const ValueId> outputs);
  // A new node whose results nobody named; returns them.
  Result<std::vector<ValueId>> emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from);
  ValueId constant(Tensor tensor, std::string_view stem);

  // Inputs, captures, symbols and metadata are there from the start; this adds the outputs and builds. Constants nobody reads are dropped.
  Result<Graph> finish() &&;

 private:
  const Graph& old_;
  GraphBuilder builder_;
  std::vector<ValueId> mapped_;
};

// Copies `graph` calling `visit` for every node in order: true means the visitor has dealt with it (emitted something or dropped it),
// false means copy it.
Result<Graph> rewrite(const Graph& graph, const std::function<Result<bool>(Rewriter&, NodeId)>& visit);

// The graph with `fn` applied to each nested body, innermost first.
Result<Graph> map_bodies(const Graph& graph, const std::function<Result<Graph>(const Graph&)>& fn);

}  // namespace infini
