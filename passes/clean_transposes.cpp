// Transpositions are held back until somebody needs them: composed with each other, dropped where they cancel, carried below elementwise
// operators to meet their inverse.
#include <algorithm>
#include <map>
#include <numeric>

#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

using Permutation = std::vector<std::int64_t>;

std::optional<Permutation> permutation_of(const Graph& graph, const Node& node) {
  Permutation perm = node.attributes.integers("perm");
  if (!perm.empty()) return perm;
  const Type& type = graph.value(node.inputs[0]).type;
  if (!type.has_shape()) return std::nullopt;
  perm.resize(type.rank());
  std::iota(perm.rbegin(), perm.rend(), 0);
  return perm;
}

bool is_identity(const Permutation& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// An old value that is Transpose(base, perm) of a value of the new graph, and the old nodes that say so.
struct Held {
  ValueId base;
  Permutation perm;
  std::vector<NodeId> from;
};

class Cleaner {
 public:
  Cleaner(const Graph& graph, PassContext& context) : graph_(graph), context_(context), uses_(uses_of(graph)) {}

  Result<bool> visit(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    if (is_op(node, "Transpose")) {
      IT_TRY(bool taken, hold(rewriter, id));
      if (taken) return true;
    } else if (is_elementwise(node)) {
      IT_TRY(bool carried, carry(rewriter, id));
      if (carried) return true;
    }
    for (ValueId input : node.inputs) {
      if (input) IT_TRY_VOID(release(rewriter, input));
    }
    for (const Body* body : bodies(node)) {
      for (ValueId captured : body->captures) IT_TRY_VOID(release(rewriter, captured));
    }
    return false;
  }

 private:
  Result<bool> hold(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    std::optional<Permutation> perm = permutation_of(graph_, node);
    if (!perm) return false;
    Held held{ValueId(), *perm, {id}};
    auto before = held_.find(node.inputs[0]);
    if (before == held_.end()) {
      held.base = rewriter.map(node.inputs[0]);
    } else {
      held.base = before->second.base;
      held.from.insert(held.from.end(), before->second.from.begin(), before->second.from.end());
      for (std::int64_t& axis : held.perm) axis = before->second.perm[static_cast<std::size_t>(axis)];
      if (!context_.may_rewrite()) return false;
    }
    ValueId output = node.outputs[0];
    if (is_identity(held.perm) && rewriter.can_replace(output, held.base)) {
      if (before == held_.end() && !context_.may_rewrite()) return false;
      rewriter.replace(output, held.base);
      return true;
    }
    held_.emplace(output, std::move(held));
    if (uses_.is_output[output.at()]) IT_TRY_VOID(release(rewriter, output));
    return true;
  }

  // f(Transpose(a), Transpose(b)) = Transpose(f(a, b)), if the transpositions are alike and nobody else reads them.
  Result<bool> carry(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    const Held* common = nullptr;
    GraphBuilder::NodeSpec spec(node);
    std::vector<NodeId> from = {id};
    for (ValueId input : node.inputs) {
      if (!input) return false;
      auto held = held_.find(input);
      if (held == held_.end()) {
        if (!scalar_constant(graph_, input)) return false;
        spec.inputs.push_back(rewriter.map(input));
        continue;
      }
      if (uses_.count(input) != 1 || (common && common->perm != held->second.perm)) return false;
      common = &held->second;
      from.insert(from.end(), common->from.begin(), common->from.end());
      spec.inputs.push_back(common->base);
    }
    if (!common || node.outputs.size() != 1 || !same_rank(node) || !context_.may_rewrite()) return false;
    IT_TRY(std::vector<ValueId> made, rewriter.emit(std::move(spec), std::span(from).first(1)));
    held_[node.outputs[0]] = {made[0], common->perm, std::move(from)};
    if (uses_.is_output[node.outputs[0].at()]) IT_TRY_VOID(release(rewriter, node.outputs[0]));
    return true;
  }

  // A scalar constant of higher rank than the tensor would lift the result's rank.
  bool same_rank(const Node& node) const {
    const Type& out = graph_.value(node.outputs[0]).type;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      const Type& type = graph_.value(input).type;
      return type.has_shape() && out.has_shape() && (type.rank() == out.rank() || graph_.value(input).constant);
    });
  }

  // The transposition happens after all: somebody reads `value` as it is.
  Status release(Rewriter& rewriter, ValueId value) {
    auto found = held_.find(value);
    if (found == held_.end()) return {};
    Held held = std::move(found->second);
    held_.erase(found);
    GraphBuilder::NodeSpec spec;
    spec.op = context_.op("Transpose");
    spec.name = graph_.node(held.from.front()).name;
    spec.inputs = {held.base};
    spec.attributes.set("perm", held.perm);
    ValueId outputs[] = {value};
    return rewriter.emit(std::move(spec), held.from, outputs);
  }

  const Graph& graph_;
  PassContext& context_;
  Uses uses_;
  std::map<ValueId, Held> held_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  Cleaner cleaner(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return cleaner.visit(rewriter, id); });
}

const Pass pass{.name = "clean-transposes", .summary = "Compose, cancel and sink transpositions", .run = run};

}  // namespace

const Pass& clean_transposes_pass() { return pass; }

}  // namespace infini
