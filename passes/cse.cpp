// Equal operators on equal operands are computed once; equal small constants are held once.
#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

// Nodes with this key in common are candidates; `same` decides.
std::string key_of(const Node& node, std::span<const ValueId> inputs) {
  std::string key = text(node.domain, "::", node.type, "/", node.outputs.size());
  for (ValueId input : inputs) key += text(",", input.value);
  return key;
}

class Merger {
 public:
  Merger(const Graph& graph, PassContext& context) : graph_(graph), context_(context), canonical_(graph.values().size()) {
    std::multimap<std::string, ValueId> constants;
    for (std::size_t v = 0; v < canonical_.size(); ++v) {
      canonical_[v] = value_id(v);
      const Constant* constant = graph.values()[v].constant.get();
      const Tensor* tensor = constant ? constant->at_hand() : nullptr;
      if (!tensor || constant->size() > inline_limit) continue;
      std::string key = text(to_string(constant->type()), "/", constant->size());
      auto [begin, end] = constants.equal_range(key);
      for (; begin != end; ++begin) {
        if (same(AttributeValue(*graph.value(begin->second).constant->at_hand()), AttributeValue(*tensor))) break;
      }
      if (begin != end && context.may_rewrite()) {
        canonical_[v] = begin->second;
      } else {
        constants.emplace(key, value_id(v));
      }
    }
  }

  Result<bool> visit(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) {
      inputs.push_back(input ? canonical_[input.at()] : input);
      if (input && canonical_[input.at()] != input && graph_.value(input).constant) rewriter.replace(input, rewriter.map(canonical_[input.at()]));
    }
    if (!node.op || node.op->effect || is_random(node) || !bodies(node).empty() || makes_output(node)) return false;
    std::string key = key_of(node, inputs);
    auto [begin, end] = seen_.equal_range(key);
    for (; begin != end; ++begin) {
      const Node& earlier = graph_.node(begin->second);
      if (!same(earlier.attributes, node.attributes) || !covers(earlier, node)) continue;
      if (!context_.may_rewrite()) return false;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (!node.outputs[i]) continue;
        canonical_[node.outputs[i].at()] = earlier.outputs[i];
        rewriter.replace(node.outputs[i], rewriter.map(earlier.outputs[i]));
      }
      return true;
    }
    seen_.emplace(key, id);
    return false;
  }

 private:
  // Every output wanted of `node` is there on `earlier`.
  static bool covers(const Node& earlier, const Node& node) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] && !earlier.outputs[i]) return false;
    }
    return true;
  }

  // Graph outputs keep their names, so none of them is replaced by another value.
  bool makes_output(const Node& node) const {
    auto is_output = [&](ValueId id) { return id && std::find(graph_.outputs().begin(), graph_.outputs().end(), id) != graph_.outputs().end(); };
    return std::any_of(node.outputs.begin(), node.outputs.end(), is_output);
  }

  const Graph& graph_;
  PassContext& context_;
  std::vector<ValueId> canonical_;
  std::multimap<std::string, NodeId> seen_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  Merger merger(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return merger.visit(rewriter, id); });
}

const Pass pass{.name = "cse", .summary = "Compute equal operators on equal operands once", .run = run};

}  // namespace

const Pass& cse_pass() { return pass; }

}  // namespace infini
