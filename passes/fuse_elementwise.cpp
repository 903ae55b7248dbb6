// Elementwise operators that feed each other become one `fused` node: each element is read once and written once.
#include <algorithm>
#include <array>
#include <map>

#include "passes/fuse.h"

namespace infini {
namespace {

constexpr std::array<PassOption, 2> options = {PassOption{"nodes", "24", "operators in one node"}, PassOption{"inputs", "8", "tensors that one node reads"}};

class ElementwiseFuser {
 public:
  ElementwiseFuser(const Graph& graph, PassContext& context)
      : graph_(graph), uses_(uses_of(graph)), taken_(graph.nodes().size()), max_nodes_(context.size_option("nodes")), max_inputs_(context.size_option("inputs")) {
    for (std::size_t n = graph.nodes().size(); n-- > 0;) {
      if (taken_[n] || !fusable(graph.nodes()[n])) continue;
      std::vector<NodeId> members = group_of(node_id(n));
      if (members.size() < 2 || !context.may_rewrite()) continue;
      for (NodeId id : members) taken_[id.at()] = true;
      groups_.emplace(node_id(n), std::move(members));
    }
  }

  Result<bool> visit(Rewriter& rewriter, NodeId id, const PassContext& context) const {
    if (!taken_[id.at()]) return false;
    auto group = groups_.find(id);
    if (group != groups_.end()) IT_TRY_VOID(emit_fused(rewriter, group->second, graph_.node(id).outputs[0], context));
    return true;
  }

 private:
  // Floats in, the same floats out.
  bool fusable(const Node& node) const {
    if (!is_elementwise(node) || node.outputs.size() != 1 || node.type == "Cast") return false;
    const Type& out = graph_.value(node.outputs[0]).type;
    if (!out.has_shape() || !is_floating(out.dtype)) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return !input || (graph_.value(input).type.has_shape() && graph_.value(input).type.dtype == out.dtype);
    });
  }

  // Grows upward from the last node: a producer joins if only the group reads it and it has the group's own shape.
  std::vector<NodeId> group_of(NodeId root) const {
    const Shape& shape = *graph_.value(graph_.node(root).outputs[0]).type.shape;
    std::vector<NodeId> members = {root};
    for (std::size_t next = 0; next < members.size(); ++next) {
      for (ValueId input : graph_.node(members[next]).inputs) {
        NodeId producer = input ? graph_.value(input).producer : NodeId();
        if (!producer || taken_[producer.at()] || contains(members, producer) || !fusable(graph_.node(producer))) continue;
        if (*graph_.value(input).type.shape != shape || !read_only_by(input, members) || members.size() >= max_nodes_) continue;
        members.push_back(producer);
        if (outer_inputs(members) > max_inputs_) members.pop_back();
      }
    }
    std::sort(members.begin(), members.end());
    return members;
  }

  static bool contains(std::span<const NodeId> members, NodeId id) { return std::find(members.begin(), members.end(), id) != members.end(); }

  bool read_only_by(ValueId value, std::span<const NodeId> members) const {
    const std::vector<NodeId>& readers = uses_.readers[value.at()];
    return !uses_.is_output[value.at()] && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) { return contains(members, reader); });
  }

  std::size_t outer_inputs(std::span<const NodeId> members) const {
    std::vector<ValueId> outer;
    for (NodeId id : members) {
      for (ValueId input : graph_.node(id).inputs) {
        bool inner = input && graph_.value(input).producer && contains(members, graph_.value(input).producer);
        if (input && !inner && std::find(outer.begin(), outer.end(), input) == outer.end()) outer.push_back(input);
      }
    }
    return outer.size();
  }

  const Graph& graph_;
  Uses uses_;
  std::vector<bool> taken_;
  std::map<NodeId, std::vector<NodeId>> groups_;  // by last member
  std::uint64_t max_nodes_, max_inputs_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  ElementwiseFuser fuser(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return fuser.visit(rewriter, id, context); });
}

const Pass pass{.name = "fuse-elementwise", .summary = "Join elementwise operators that feed each other", .options = options, .run = run};

}  // namespace

const Pass& fuse_elementwise_pass() { return pass; }

}  // namespace infini
