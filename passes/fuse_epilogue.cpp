// Conv, ConvTranspose, MatMul and Gemm with the bias, residual and activation that follow: one `fused` node, which a kernel computes while the result
// is still in registers. Where a device has no such kernel, running puts the nodes apart again.
#include <algorithm>
#include <array>
#include <map>

#include "passes/fuse.h"

namespace infini {
namespace {

constexpr std::array<PassOption, 1> options = {PassOption{"max", "6", "steps behind one anchor"}};
constexpr std::array<std::string_view, 4> anchors = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
constexpr std::array<std::string_view, 11> steps = {"Add",    "Clip", "Elu",       "Gelu",    "HardSigmoid", "HardSwish",
                                                    "LeakyRelu", "Relu", "Sigmoid", "Swish", "Tanh"};

template <std::size_t n>
bool is_one_of(const Node& node, const std::array<std::string_view, n>& types) {
  return node.op && node.domain.empty() && std::find(types.begin(), types.end(), node.type) != types.end();
}

class EpilogueFuser {
 public:
  EpilogueFuser(const Graph& graph, PassContext& context) : graph_(graph), uses_(uses_of(graph)), taken_(graph.nodes().size()) {
    std::uint64_t max_steps = context.size_option("max");
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      if (!is_one_of(graph.nodes()[n], anchors) || taken_[n]) continue;
      std::vector<NodeId> members = chain_from(node_id(n), max_steps);
      if (members.size() < 2 || !context.may_rewrite()) continue;
      for (NodeId id : members) taken_[id.at()] = true;
      chains_.emplace(members.back(), std::move(members));
    }
  }

  Result<bool> visit(Rewriter& rewriter, NodeId id, const PassContext& context) const {
    if (!taken_[id.at()]) return false;
    auto chain = chains_.find(id);
    if (chain != chains_.end()) IT_TRY_VOID(emit_fused(rewriter, chain->second, graph_.node(id).outputs[0], context));
    return true;  // the other members wait for the last one
  }

 private:
  std::vector<NodeId> chain_from(NodeId anchor, std::uint64_t max_steps) const {
    std::vector<NodeId> members = {anchor};
    ValueId tip = graph_.node(anchor).outputs[0];
    if (graph_.value(tip).type.dtype != DType::f32) return members;
    while (members.size() <= max_steps && read_once(uses_, tip)) {
      NodeId next = uses_.readers[tip.at()][0];
      const Node& node = graph_.node(next);
      if (taken_[next.at()] || !is_one_of(node, steps) || !keeps_type(node, tip) || !inputs_ready(node, tip, members)) break;
      members.push_back(next);
      tip = node.outputs[0];
    }
    return members;
  }

  // The step computes a tensor of the anchor's own type: nothing is broadcast up, and the tip is read in one place.
  bool keeps_type(const Node& node, ValueId tip) const {
    if (std::count(node.inputs.begin(), node.inputs.end(), tip) != 1 || node.outputs.size() != 1) return false;
    if (node.type != "Add" && node.inputs[0] != tip) return false;
    return graph_.value(node.outputs[0]).type.has_shape() && graph_.value(node.outputs[0]).type == graph_.value(tip).type;
  }

  // Bounds of a Clip are constants; a residual does not come from the chain itself.
  bool inputs_ready(const Node& node, ValueId tip, std::span<const NodeId> members) const {
    for (ValueId input : node.inputs) {
      if (!input || input == tip) continue;
      if (node.type != "Add" && !constant_of(graph_, input)) return false;
      NodeId producer = graph_.value(input).producer;
      if (producer && std::find(members.begin(), members.end(), producer) != members.end()) return false;
    }
    return true;
  }

  const Graph& graph_;
  Uses uses_;
  std::vector<bool> taken_;
  std::map<NodeId, std::vector<NodeId>> chains_;  // by last member
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  EpilogueFuser fuser(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return fuser.visit(rewriter, id, context); });
}

const Pass pass{.name = "fuse-epilogue", .summary = "Join convolutions and products with the bias, residual and activation behind them", .options = options,
                .run = run};

}  // namespace

const Pass& fuse_epilogue_pass() { return pass; }

}  // namespace infini
