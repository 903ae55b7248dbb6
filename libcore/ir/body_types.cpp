#include "libcore/ir/body_types.h"

#include "libcore/ir/infer_node.h"

namespace infini {
namespace {

class GraphBodyTypes final : public BodyTypes {
 public:
  Result<std::vector<Type>> infer(const Body& body, std::span<const Type> arguments) const override {
    FreshNumbers fresh(0);
    for (const Type& argument : arguments) fresh.keep(argument);
    return infer_body_outputs(*body.graph, arguments, fresh);
  }
};
const GraphBodyTypes body_types;

bool as_declared(const Graph& graph, std::span<const Type> arguments) {
  for (std::size_t i = 0; i < arguments.size() && i < graph.inputs().size(); ++i) {
    if (arguments[i].kind != TypeKind::unknown && !(arguments[i] == graph.value(graph.inputs()[i]).type)) return false;
  }
  return true;
}

// Types and elements of all values, node by node.
class Inference {
 public:
  Inference(const Graph& graph, std::span<const Type> arguments, FreshNumbers& fresh)
      : graph_(graph), fresh_(fresh), types_(graph.values().size()), dims_(graph.values().size()) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const ValueInfo& value = graph.values()[i];
      types_[i] = value.type;
      if (!value.producer) dims_[i] = value.dims;
      fresh_.keep(value.type);
    }
    for (std::size_t i = 0; i < arguments.size() && i < graph.inputs().size(); ++i) {
      if (arguments[i].kind != TypeKind::unknown) types_[graph.inputs()[i].at()] = arguments[i];
    }
  }

  Status node(const Node& node) {
    std::vector<InputFact> facts = input_facts(graph_, node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      facts[i].type = &types_[node.inputs[i].at()];
      const std::optional<expr::DimTensor>& dims = dims_[node.inputs[i].at()];
      facts[i].dims = dims ? &*dims : nullptr;
    }
    std::vector<Type> stated;
    for (ValueId output : node.outputs) stated.push_back(output ? graph_.value(output).type : Type());
    IT_TRY(InferredOutputs inferred, infer_node(*node.op, node.attributes, facts, node.outputs.size(), stated, fresh_));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i]) continue;
      types_[node.outputs[i].at()] = std::move(inferred.types[i]);
      dims_[node.outputs[i].at()] = std::move(inferred.dims[i]);
    }
    return {};
  }

  std::vector<Type> take() && { return std::move(types_); }

 private:
  const Graph& graph_;
  FreshNumbers& fresh_;
  std::vector<Type> types_;
  std::vector<std::optional<expr::DimTensor>> dims_;
};

Result<std::vector<Type>> infer_values(const Graph& graph, std::span<const Type> arguments, FreshNumbers& fresh) {
  Inference inference(graph, arguments, fresh);
  if (as_declared(graph, arguments)) return std::move(inference).take();
  for (const Node& node : graph.nodes()) {
    if (node.op) IT_TRY_VOID(within(describe(graph, node), inference.node(node)));
  }
  return std::move(inference).take();
}

}  // namespace

const BodyTypes& graph_body_types() { return body_types; }

Result<std::vector<Type>> infer_body_outputs(const Graph& graph, std::span<const Type> arguments, FreshNumbers& fresh) {
  IT_TRY(std::vector<Type> types, infer_values(graph, arguments, fresh));
  std::vector<Type> out;
  for (ValueId output : graph.outputs()) out.push_back(types[output.at()]);
  return out;
}

Result<std::vector<Type>> infer_body(const Graph& graph, std::span<const Type> arguments) {
  FreshNumbers fresh(0);
  for (const Type& argument : arguments) fresh.keep(argument);
  return infer_values(graph, arguments, fresh);
}

}  // namespace infini
