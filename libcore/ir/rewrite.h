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
  // Inputs, captures and hints get `types` of their old types, which must leave a type alone that it has changed before.
  Rewriter(const Graph& old, std::function<Type(const Type&)> types);

  const Graph& old() const { return old_; }
  GraphBuilder& builder() { return builder_; }
  // The new value for an old one; copies constants on first use. Invalid for an invalid id, and for a value not there yet.
  ValueId map(ValueId old);
  // From here on readers of `old` read `replacement`.
  void replace(ValueId old, ValueId replacement);
  // False if `old` is an output of the graph and `replacement` cannot take over its name, being an input, a capture, a constant or
  // another output: finish then adds an Identity, so replacing gains nothing. Nor may an output's type become unknown.
  bool can_replace(ValueId old, ValueId replacement) const;
  // An old node as it is to be copied: inputs and captures mapped, bodies inferred anew where the types of captures have changed,
  // output names and types kept. For a node that is copied with changes.
  Result<GraphBuilder::NodeSpec> spec(NodeId node);
  // Copies one node.
  Status copy(NodeId node);
  // A new node in place of old ones: origin is the union of `from`'s origins; output names are kept from `outputs` (old values, invalid: an
  // output that is not wanted), which are replaced.
  Status emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from, std::span<const ValueId> outputs);
  // A new node whose results nobody named; returns them.
  Result<std::vector<ValueId>> emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from);
  ValueId constant(Tensor tensor, std::string_view stem);

  // Inputs, captures, symbols and metadata are there from the start; this adds the outputs under their old names and builds. Constants and
  // captures nobody reads are dropped.
  Result<Graph> finish() &&;

 private:
  using Outside = std::vector<const ValueInfo*>;
  Rewriter(const Graph& old, std::function<Type(const Type&)> types, const Outside& captures);
  Status copy_body(Body& body);
  bool is_output(ValueId now) const;

  const Graph& old_;
  GraphBuilder builder_;
  std::vector<ValueId> mapped_;
  std::function<Type(const Type&)> types_;  // empty: as they are
};

// Copies `graph` calling `visit` for every node in order: true means the visitor has dealt with it (emitted something or dropped it),
// false means copy it.
Result<Graph> rewrite(const Graph& graph, const std::function<Result<bool>(Rewriter&, NodeId)>& visit);

// The graph with `fn` applied to each nested body of the nodes that `which` names, innermost first. `fn` may drop captures, and must keep the names of
// those that stay.
Result<Graph> map_bodies(const Graph& graph, const std::function<bool(const Node&)>& which, const std::function<Result<Graph>(const Graph&)>& fn);

// The graph, its bodies included, with symbols standing for numbers; types are inferred anew. bad_input if a number is out of a symbol's
// bounds, or an operator refuses the new types.
Result<Graph> bind_symbols(const Graph& graph, const Bindings& bindings);

}  // namespace infini
