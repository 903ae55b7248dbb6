#include "passes/fuse.h"

#include <map>

#include "libcore/base/text.h"

namespace infini {
namespace {

// Writes the body: a graph of copies of the members.
class BodyWriter {
 public:
  explicit BodyWriter(const Graph& old) : old_(old), builder_(old.shared_sources()) { builder_.set_name("fused"); }

  Status add(const Node& node) {
    GraphBuilder::NodeSpec spec(node);
    for (ValueId input : node.inputs) spec.inputs.push_back(inside(input));
    for (ValueId output : node.outputs) {
      spec.output_names.push_back(output ? old_.value(output).name : "");
      spec.wanted.push_back(output.valid());
      spec.declared.push_back(output ? old_.value(output).type : Type());
    }
    IT_TRY(std::vector<ValueId> made, builder_.add_node(std::move(spec)));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (node.outputs[i]) inside_[node.outputs[i]] = made[i];
    }
    return {};
  }

  Result<Graph> finish(ValueId output) && {
    builder_.add_output(inside_.at(output));
    return std::move(builder_).build();
  }

  const std::vector<ValueId>& outer_inputs() const { return outer_inputs_; }

 private:
  ValueId inside(ValueId old) {
    if (!old) return old;
    auto found = inside_.find(old);
    if (found != inside_.end()) return found->second;
    outer_inputs_.push_back(old);
    return inside_[old] = builder_.add_input(old_.value(old).name, old_.value(old).type);
  }

  const Graph& old_;
  GraphBuilder builder_;
  std::map<ValueId, ValueId> inside_;
  std::vector<ValueId> outer_inputs_;
};

}  // namespace

Status emit_fused(Rewriter& rewriter, std::span<const NodeId> members, ValueId output, const PassContext& context) {
  const Graph& old = rewriter.old();
  BodyWriter writer(old);
  std::vector<std::string> types;
  for (NodeId id : members) {
    IT_TRY_VOID(writer.add(old.node(id)));
    types.push_back(old.node(id).type);
  }
  GraphBuilder::NodeSpec spec;
  spec.op = context.op("fused", "infini");
  for (ValueId input : writer.outer_inputs()) spec.inputs.push_back(rewriter.map(input));
  IT_TRY(Graph body, std::move(writer).finish(output));
  spec.attributes.set("body", Body{std::make_shared<const Graph>(std::move(body)), {}});
  spec.name = old.node(members.front()).name;
  ValueId outputs[] = {output};
  return rewriter.emit(std::move(spec), members, outputs);
}

bool read_once(const Uses& uses, ValueId value) { return uses.readers[value.at()].size() == 1 && !uses.is_output[value.at()]; }

}  // namespace infini
