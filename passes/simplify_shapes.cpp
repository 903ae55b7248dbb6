// Shape operands become constants (with 0 and -1 where sizes are symbols), and chains of reshapes become one: what computed the shapes is left to dce.
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

constexpr std::array<std::string_view, 4> reshaping = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};

bool reshapes(const Node& node) {
  return node.op && node.domain.empty() && std::find(reshaping.begin(), reshaping.end(), node.type) != reshaping.end();
}

// The operand of Reshape that turns `from` into `to`: numbers, 0 for an axis kept in place, one -1. Nothing if symbols ask for more.
std::optional<std::vector<std::int64_t>> reshape_operand(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> out;
  int open = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::optional<std::int64_t> number = to[i].constant();
    if (number && *number != 0) {
      out.push_back(*number);
    } else if (i < from.size() && from[i] == to[i]) {
      out.push_back(0);
    } else if (!number && ++open == 1) {
      out.push_back(-1);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

class Simplifier {
 public:
  Simplifier(const Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Result<bool> visit(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    if (reshapes_as_known(node)) return reshape(rewriter, id);
    if (is_op(node, "Slice")) return slice(rewriter, id);
    if (is_op(node, "Expand")) return expand(rewriter, id);
    return false;
  }

 private:
  // What a node asks for while running must be checked while running.
  bool reshapes_as_known(const Node& node) const { return reshapes(node) && (node.inputs.size() < 2 || !node.inputs[1] || is_known_shape(graph_, node.inputs[1])); }

  // The value at the start of a chain of reshapes.
  ValueId chain_start(ValueId value, std::vector<NodeId>& from) const {
    while (graph_.value(value).producer) {
      NodeId id = graph_.value(value).producer;
      if (!reshapes_as_known(graph_.node(id))) break;
      from.push_back(id);
      value = graph_.node(id).inputs[0];
    }
    return value;
  }

  // Readers of `output` read `source` instead.
  bool drop(Rewriter& rewriter, ValueId output, ValueId source) {
    ValueId now = rewriter.map(source);
    if (!rewriter.can_replace(output, now) || !context_.may_rewrite()) return false;
    rewriter.replace(output, now);
    return true;
  }

  Result<bool> reshape(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<NodeId> from = {id};
    ValueId source = chain_start(node.inputs[0], from);
    const Type &in = graph_.value(source).type, &out = graph_.value(node.outputs[0]).type;
    if (!in.has_shape() || !out.has_shape()) return false;
    if (in == out) return drop(rewriter, node.outputs[0], source);
    std::optional<std::vector<std::int64_t>> operand = reshape_operand(*in.shape, *out.shape);
    if (!operand) {
      context_.near_miss(graph_, id, text("from ", to_string(*in.shape), " to ", to_string(*out.shape), " needs more than one open dimension"));
      return false;
    }
    bool is_done = is_op(node, "Reshape") && from.size() == 1 && constant_of(graph_, node.inputs[1]);
    if (is_done || (from.size() == 1 && !is_op(node, "Reshape"))) return false;
    if (!context_.may_rewrite()) return false;
    GraphBuilder::NodeSpec spec;
    spec.op = context_.op("Reshape");
    spec.name = node.name;
    spec.inputs = {rewriter.map(source), rewriter.constant(Tensor::vector_i64(*operand), "shape")};
    spec.attributes.set("allowzero", std::int64_t{0});
    spec.declared = {out};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, node.outputs));
    return true;
  }

  // A slice that keeps everything.
  Result<bool> slice(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    const Type &in = graph_.value(node.inputs[0]).type, &out = graph_.value(node.outputs[0]).type;
    if (!in.has_shape() || !(in == out)) return false;
    if (node.inputs.size() > 4) {
      auto steps = small_constant(graph_, node.inputs[4]);
      if (!steps || std::any_of(steps->begin(), steps->end(), [](double step) { return step < 0; })) return false;
    }
    return drop(rewriter, node.outputs[0], node.inputs[0]);
  }

  // An Expand whose shape the input's own shape and numbers say.
  Result<bool> expand(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    const Type& out = graph_.value(node.outputs[0]).type;
    if (!out.has_shape() || constant_of(graph_, node.inputs[1]) || !is_known_shape(graph_, node.inputs[1])) return false;
    const Type& in = graph_.value(node.inputs[0]).type;
    if (!in.has_shape()) return false;
    std::vector<std::int64_t> operand;
    for (std::size_t i = 0; i < out.rank(); ++i) {
      const Dim& dim = (*out.shape)[i];
      std::size_t offset = out.rank() - in.rank();
      bool kept = i >= offset && (*in.shape)[i - offset] == dim;
      if (!kept && !dim.is_constant()) return false;
      operand.push_back(kept ? 1 : *dim.constant());
    }
    if (!context_.may_rewrite()) return false;
    GraphBuilder::NodeSpec spec;
    spec.op = node.op;
    spec.name = node.name;
    spec.inputs = {rewriter.map(node.inputs[0]), rewriter.constant(Tensor::vector_i64(operand), "shape")};
    NodeId from[] = {id};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, node.outputs));
    return true;
  }

  const Graph& graph_;
  PassContext& context_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  Simplifier simplifier(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return simplifier.visit(rewriter, id); });
}

const Pass pass{.name = "simplify-shapes", .summary = "Turn computed shapes into constants, merge chains of reshapes, drop those that change nothing", .run = run};

}  // namespace

const Pass& simplify_shapes_pass() { return pass; }

}  // namespace infini
