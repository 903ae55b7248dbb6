// From the messages to a graph: one walk over the nodes in order, functions expanded where they are called, nested graphs built on the way.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/ir/graph.h"
#include "libcore/onnx/functions.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/onnx.h"
#include "libcore/onnx/payload.h"
#include "libcore/onnx/problems.h"
#include "libcore/onnx/types.h"

namespace infini::onnx_files {

using OpsetImports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

// Opset by domain; "ai.onnx" stands under "".
using Opsets = std::map<std::string, int, std::less<>>;
// unsupported: an opset of ai.onnx beyond newest_opset.
Result<Opsets> opsets_of(const OpsetImports& imports);

// What a name stands for while a graph is built.
struct BoundValue {
  ValueId id = {};      // none: left out (an optional input of a function that the caller does not give)
  bool failed = false;  // its node has a problem, which has been reported
};

// A graph under construction, and the values of the graph around it that it has asked for.
struct Frame {
  GraphBuilder builder;
  std::vector<ValueId> captures;
};

struct Scope;
struct BoundAttribute {
  const onnx::AttributeProto* proto = nullptr;
  Scope* scope = nullptr;  // where names in its graphs are looked up
};
using BoundAttributes = std::vector<std::pair<std::string, BoundAttribute>>;

struct FunctionCall {
  const Function* function = nullptr;
  const FunctionCall* caller = nullptr;
  std::map<std::string, BoundAttribute, std::less<>> attributes;
};

// The names of one graph or function body.
struct Scope {
  Frame& frame;
  Scope* outer = nullptr;                // of a nested graph: the graph around it
  const FunctionCall* call = nullptr;
  const Opsets* opsets = nullptr;
  Path path;                             // what a node's path starts with
  int depth = 0;                         // nested graphs and calls
  std::string prefix = {};               // of values inside a function
  std::unordered_map<std::string, BoundValue> values = {};
  std::unordered_map<std::string, std::string> result_names = {};  // what the caller calls a function's results
  std::unordered_map<std::string, Type> declared = {};             // by the name in the graph being built
};

// One node on its way in.
struct NodeInput {
  const onnx::NodeProto& proto;
  Scope& scope;
  Path path;
  std::string op_name;
  std::string label;
  std::string domain;
  Origin origin;
};

class Importer {
 public:
  Importer(const OpTable& ops, const Payloads& payloads, const FunctionTable& functions, Dimensions& dimensions)
      : ops_(ops), payloads_(payloads), functions_(functions), dimensions_(dimensions) {}

  // `input_types`: those of the graph's inputs that are no initializers, in order. The error reports all problems.
  Result<Graph> main_graph(const onnx::ModelProto& model, std::span<const Type> input_types, std::span<const Symbol> bounds);

  const std::vector<OperatorGroup>& carried() const { return carried_.list(); }
  std::vector<std::string>& notes() { return notes_; }

 private:
  // graph_import.cpp
  bool fill(const onnx::GraphProto& graph, Scope& scope, std::span<const Type> input_types);
  bool add_inputs(const onnx::GraphProto& graph, Scope& scope, std::span<const Type> input_types);
  bool add_initializers(const onnx::GraphProto& graph, Scope& scope);
  bool add_outputs(const onnx::GraphProto& graph, Scope& scope);
  void note_declared(const onnx::GraphProto& graph, Scope& scope);
  bool knows(const Scope& scope, std::string_view name) const;
  BoundValue lookup(Scope& scope, const std::string& name);
  BoundValue capture(Scope& scope, const std::string& name, ValueId outside);
  std::optional<Body> body(const onnx::GraphProto& graph, Scope& outer, Path path, std::span<const Type> input_types);

  // node_import.cpp
  void node(const onnx::NodeProto& proto, std::uint32_t index, Scope& scope);
  void constant_node(const NodeInput& in, const BoundAttributes& attributes);
  void understood_node(const NodeInput& in, const OpDef& op, std::vector<ValueId> inputs, Attributes attributes);
  void carried_node(const NodeInput& in, std::vector<ValueId> inputs, Attributes attributes);
  std::optional<std::vector<ValueId>> inputs_of(const NodeInput& in);
  std::optional<BoundAttributes> bound_attributes(const NodeInput& in);
  std::optional<Attributes> attributes_of(const NodeInput& in, const BoundAttributes& bound, const std::vector<ValueId>& inputs);
  Result<AttributeValue> graphs_of(const NodeInput& in, const BoundAttribute& attribute, std::uint32_t number, const std::vector<ValueId>& inputs);
  std::string result_name(const Scope& scope, const std::string& name) const;
  GraphBuilder::NodeSpec spec_of(const NodeInput& in, std::vector<ValueId> inputs, Attributes attributes) const;
  void bind_outputs(const NodeInput& in, std::span<const ValueId> values);
  void fail(const NodeInput& in, Error error);
  void fail_outputs(const NodeInput& in);

  // function_import.cpp
  void call_function(const NodeInput& in, const Function& function, const BoundAttributes& attributes);
  Status check_call(const NodeInput& in, const Function& function, const BoundAttributes& attributes) const;
  void bind_results(const NodeInput& in, Scope& inner, const onnx::FunctionProto& proto, std::span<const std::string> wanted);

  const OpTable& ops_;
  const Payloads& payloads_;
  const FunctionTable& functions_;
  Dimensions& dimensions_;
  std::shared_ptr<std::vector<SourceNode>> sources_ = std::make_shared<std::vector<SourceNode>>();
  Problems problems_;
  Groups carried_;
  std::vector<std::string> notes_;
};

}  // namespace infini::onnx_files
