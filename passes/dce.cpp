// Drops nodes whose results nobody reads.
#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

// From the outputs backwards: a node is needed if it has an effect or one of its results is.
std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> value_needed(graph.values().size()), node_needed(graph.nodes().size());
  for (ValueId output : graph.outputs()) value_needed[output.at()] = true;
  for (std::size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    bool needed = node.op && node.op->effect;
    for (ValueId output : node.outputs) needed = needed || (output && value_needed[output.at()]);
    node_needed[n] = needed;
    if (!needed) continue;
    for (ValueId input : node.inputs) {
      if (input) value_needed[input.at()] = true;
    }
    for (const Body* body : bodies(node)) {
      for (ValueId captured : body->captures) value_needed[captured.at()] = true;
    }
  }
  return node_needed;
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  std::vector<bool> needed = needed_nodes(graph);
  return rewrite(graph, [&](Rewriter&, NodeId id) -> Result<bool> { return !needed[id.at()] && context.may_rewrite(); });
}

const Pass pass{.name = "dce", .summary = "Drop nodes whose results nobody reads", .run = run};

}  // namespace

const Pass& dce_pass() { return pass; }

}  // namespace infini
