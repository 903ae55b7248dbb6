#include "libcore/ir/inline.h"

#include "libcore/base/text.h"
#include "libcore/ir/rewrite.h"

namespace infini {
namespace {

// The value of the graph being built that stands for each value of the body.
class BodyCopy {
 public:
  BodyCopy(Rewriter& rewriter, const Node& node, const Body& body) : rewriter_(rewriter), graph_(*body.graph), mapped_(graph_.values().size()) {
    for (std::size_t i = 0; i < graph_.inputs().size() && i < node.inputs.size(); ++i) mapped_[graph_.inputs()[i].at()] = rewriter.map(node.inputs[i]);
    for (std::size_t i = 0; i < graph_.captures().size(); ++i) mapped_[graph_.captures()[i].at()] = rewriter.map(body.captures[i]);
  }

  ValueId map(ValueId inner) {
    if (!inner) return inner;
    ValueId& to = mapped_[inner.at()];
    const ValueInfo& info = graph_.value(inner);
    if (!to && info.constant) to = rewriter_.builder().add_constant(rewriter_.builder().fresh_name(info.name), info.constant);
    return to;
  }

  Status copy(const Node& inner, const Node& outer) {
    GraphBuilder::NodeSpec spec(inner);
    if (inner.origin.empty()) spec.origin = outer.origin;
    for (ValueId input : inner.inputs) spec.inputs.push_back(map(input));
    for (ValueId output : inner.outputs) {
      spec.wanted.push_back(output.valid());
      spec.output_names.push_back(output ? name_for(output, outer) : "");
      spec.declared.push_back(output ? graph_.value(output).type : Type());
    }
    IT_TRY(std::vector<ValueId> made, rewriter_.builder().add_node(std::move(spec)));
    for (std::size_t i = 0; i < inner.outputs.size(); ++i) {
      if (inner.outputs[i]) mapped_[inner.outputs[i].at()] = made[i];
    }
    return {};
  }

 private:
  // What the node outside calls the value, if it is one of its outputs.
  std::string name_for(ValueId inner, const Node& outer) const {
    for (std::size_t i = 0; i < graph_.outputs().size() && i < outer.outputs.size(); ++i) {
      if (graph_.outputs()[i] == inner && outer.outputs[i]) return rewriter_.old().value(outer.outputs[i]).name;
    }
    return rewriter_.builder().fresh_name(graph_.value(inner).name);
  }

  Rewriter& rewriter_;
  const Graph& graph_;
  std::vector<ValueId> mapped_;
};

}  // namespace

bool is_fused(const Node& node) { return node.domain == "infini" && node.type == "fused"; }

Result<Graph> inline_bodies(const Graph& graph, const std::function<bool(const Node&)>& which) {
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    const Node& node = graph.node(id);
    if (!which(node)) return false;
    const Body* body = node.attributes.get<Body>("body");
    if (!body) return internal_error(text("node '", node.name, "' has no body to inline"));
    BodyCopy copy(rewriter, node, *body);
    for (const Node& inner : body->graph->nodes()) IT_TRY_VOID(copy.copy(inner, node));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) rewriter.replace(node.outputs[i], copy.map(body->graph->outputs()[i]));
    }
    return true;
  });
}

}  // namespace infini
