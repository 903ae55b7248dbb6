// The graph: values in single assignment and nodes in topological order. Immutable; GraphBuilder makes one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/index.h"
#include "libcore/base/result.h"
#include "libcore/ir/constant.h"
#include "libcore/ops/op.h"

namespace infini {

// A node of the source file: where it stood (node indices, outermost first; nested graphs by node, attribute number, node) and what it was.
struct SourceNode {
  std::vector<std::uint32_t> path;
  std::string op;
  std::string name;
  friend bool operator==(const SourceNode&, const SourceNode&) = default;
};

// The source nodes that something came from: indices into Graph::sources(), sorted, each once.
using Origin = std::vector<std::uint32_t>;
Origin merged(const Origin& a, const Origin& b);

struct ValueInfo {
  std::string name;                            // unique in its graph; never empty
  Type type;
  std::optional<expr::DimTensor> dims;         // elements as dimensions, for shape arithmetic
  NodeId producer;                             // none for inputs, captures and constants
  std::uint32_t output = 0;                    // which output of the producer
  ConstantRef constant;                        // null unless the value is a constant
};

struct Node {
  const OpDef* op = nullptr;                   // null: carried, not understood
  std::string domain;                          // "" is ai.onnx
  std::string type;                            // the operator's name
  int version = 0;                             // opset of a carried node's domain; 0 where op is known
  std::string overload;
  std::string name;                            // may be empty or duplicated
  std::vector<ValueId> inputs;                 // invalid: left out; no trailing ones left out
  std::vector<ValueId> outputs;                // invalid: not wanted
  Attributes attributes;
  Origin origin;
};

struct Symbol {
  std::string name;
  SymbolBounds bounds;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// "1..512", "1.." without an upper bound.
std::string to_string(const SymbolBounds& bounds);

class Graph {
 public:
  const std::string& name() const { return name_; }
  std::span<const ValueInfo> values() const { return values_; }
  std::span<const Node> nodes() const { return nodes_; }
  const ValueInfo& value(ValueId id) const { return values_[id.at()]; }
  const Node& node(NodeId id) const { return nodes_[id.at()]; }
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const ValueId> outputs() const { return outputs_; }
  std::span<const ValueId> captures() const { return captures_; }     // values of the graph around this body
  std::span<const Symbol> symbols() const { return symbols_; }        // with bounds; symbols without any need not be here
  std::span<const SourceNode> sources() const { return *sources_; }   // shared by a graph and its bodies
  std::shared_ptr<const std::vector<SourceNode>> shared_sources() const { return sources_; }
  std::span<const std::pair<std::string, std::string>> metadata() const { return metadata_; }

 private:
  friend class GraphBuilder;
  friend struct GraphAccess;  // of the verifier's tests, which break graphs
  std::string name_;
  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_, outputs_, captures_;
  std::vector<Symbol> symbols_;
  std::shared_ptr<const std::vector<SourceNode>> sources_ = std::make_shared<const std::vector<SourceNode>>();
  std::vector<std::pair<std::string, std::string>> metadata_;
};

// Nodes that read each value, outputs and captures by bodies included; by value index.
struct Uses {
  std::vector<std::vector<NodeId>> readers;    // each node once per value, ascending; a node whose body captures the value is a reader
  std::vector<bool> is_output;
  std::size_t count(ValueId value) const { return readers[value.at()].size() + (is_output[value.at()] ? 1 : 0); }
};
Uses uses_of(const Graph& graph);

// All bodies among a node's attributes.
std::vector<const Body*> bodies(const Node& node);
// Calls `change` for each of them, until one fails.
Status for_each_body(Attributes& attributes, const std::function<Status(Body&)>& change);

// "Conv 'conv1'", or "Conv (of 'y')" by its first result where the node has no name; for messages.
std::string describe(const Graph& graph, const Node& node);

// What is known of the node's inputs, as infer and meaning want it; points into `graph`.
std::vector<InputFact> input_facts(const Graph& graph, const Node& node);

// Makes a graph in order: inputs and captures first, then constants and nodes, each after what it reads.
class GraphBuilder {
 public:
  GraphBuilder();
  explicit GraphBuilder(std::shared_ptr<const std::vector<SourceNode>> sources);
  GraphBuilder(GraphBuilder&&) noexcept;
  GraphBuilder& operator=(GraphBuilder&&) noexcept;
  ~GraphBuilder();
  // A builder for a body of this graph: shares the sources and the count of fresh dimensions, so that both graphs' are different.
  GraphBuilder nested() const;

  void set_name(std::string name) { graph_.name_ = std::move(name); }
  void add_metadata(std::string key, std::string value) { graph_.metadata_.emplace_back(std::move(key), std::move(value)); }
  void set_symbol(Symbol symbol);
  void erase_symbol(std::string_view name);

  // A name that is empty or taken gives way to a fresh one, here and below.
  ValueId add_input(std::string name, Type type);
  // `dims`: the elements of the value outside, where known.
  ValueId add_capture(std::string name, Type type, std::optional<expr::DimTensor> dims = std::nullopt);
  ValueId add_constant(std::string name, ConstantRef constant);

  // What add_node needs; empty output names are filled with fresh ones, `wanted[i] == false` leaves an output out.
  struct NodeSpec {
    NodeSpec() = default;
    explicit NodeSpec(const Node& node);       // what it is, without inputs and outputs
    const OpDef* op = nullptr;
    std::string domain, type;                  // read only where op is null
    int version = 0;
    std::string overload;
    std::string name;
    std::vector<ValueId> inputs;
    std::vector<std::string> output_names;     // one per output; empty: as many as `wanted`, or one
    std::vector<bool> wanted;                  // empty: all
    Attributes attributes;                     // defaults are filled in here
    Origin origin;
    std::vector<Type> declared;                // types for a carried node's outputs; hints otherwise (a known rank or number where inference has none)
  };
  // Infers and checks; returns the outputs, invalid where not wanted. bad_input names the node and shows the shapes.
  Result<std::vector<ValueId>> add_node(NodeSpec spec);
  void add_output(ValueId value);

  // What stands so far, for whoever builds.
  const ValueInfo& value(ValueId id) const { return graph_.values_[id.at()]; }
  std::size_t value_count() const { return graph_.values_.size(); }
  const Node& last_node() const { return graph_.nodes_.back(); }
  // `stem`, or `stem` with the first suffix _1, _2, ... that makes it new; neither taken nor kept.
  std::string fresh_name(std::string_view stem);
  // Keeps a name for a value that will be added under it: fresh names avoid it.
  void keep_name(std::string name);
  // Fresh dimensions avoid the symbols of `type`, which will turn up later.
  void keep_symbols(const Type& type);
  // Renames a value that this builder made (to keep an output's name through a rewrite); another value of that name gets a fresh one.
  void rename(ValueId value, std::string name);
  // Removes the constants and captures that nothing reads. Values after them move, so it comes last.
  void drop_unread();
  // Where a declared type contradicts what was inferred (which stands), a line each; for verbose reports.
  std::span<const std::string> notes() const;

  // Checks the graph's structure (see verify.h; types were inferred as nodes were added) and hands it out.
  Result<Graph> build() &&;

 private:
  ValueId add_value(std::string name, ValueInfo value);
  // Gives fresh dimensions that a body of the node has made, and this graph has as well, new names.
  Status settle_bodies(Node& node);
  static Graph renamed(const Graph& graph, const std::vector<std::pair<std::string, Dim>>& symbols);

  Graph graph_;
  struct State;                                // taken names, the count of fresh dimensions, notes
  std::unique_ptr<State> state_;
};

}  // namespace infini
