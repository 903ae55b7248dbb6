#include "libcore/ir/body_types.h"

#include "libcore/base/text.h"

namespace infini {
namespace {

class GraphBodyTypes final : public BodyTypes {
 public:
  Result<std::vector<Type>> infer(const Body& body, std::span<const Type> arguments) const override {
    IT_TRY(std::vector<Type> types, infer_body(*body.graph, arguments));
    std::vector<Type> out;
    for (ValueId output : body.graph->outputs()) out.push_back(types[output.at()]);
    return out;
  }
};
const GraphBodyTypes body_types;

// Sizes that only running tells get the declared symbol where there is one, so one name here is enough.
struct OneOpenDim final : FreshDims {
  Dim next() override { return Dim::symbol("#body"); }
};

}  // namespace

const BodyTypes& graph_body_types() { return body_types; }

Result<std::vector<Type>> infer_body(const Graph& graph, std::span<const Type> arguments) {
  std::vector<Type> types;
  for (const ValueInfo& info : graph.values()) types.push_back(info.type);
  for (std::size_t i = 0; i < arguments.size() && i < graph.inputs().size(); ++i) {
    if (arguments[i].kind != TypeKind::unknown) types[graph.inputs()[i].at()] = arguments[i];
  }
  OneOpenDim open;
  for (const Node& node : graph.nodes()) {
    if (!node.op) continue;
    std::vector<InputFact> facts = input_facts(graph, node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      facts[i].type = &types[node.inputs[i].at()];
      if (!facts[i].constant) facts[i].dims = nullptr;
    }
    OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &open, &body_types);
    IT_TRY(std::vector<Type> inferred, within(text(node.type, " '", node.name, "'"), infer_types(context)));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) types[node.outputs[i].at()] = inferred[i];
    }
  }
  return types;
}

}  // namespace infini
