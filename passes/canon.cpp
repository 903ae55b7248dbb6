// One spelling for each thing: operators that do nothing go, constants stand on the right, general forms give way to special ones.
#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

// What becomes of a node: nothing, one of its inputs, or a node of another spelling.
struct Change {
  std::optional<ValueId> input;
  std::optional<std::string_view> op;
  std::vector<ValueId> inputs;
  std::optional<Tensor> last;  // a new constant as last input
};

bool same_type(const Graph& graph, ValueId a, ValueId b) {
  const Type &x = graph.value(a).type, &y = graph.value(b).type;
  return x.has_shape() && y.has_shape() && x == y;
}


bool constant_is_all(const Graph& graph, ValueId id, double value) {
  auto elements = small_constant(graph, id);
  return elements && !elements->empty() && std::all_of(elements->begin(), elements->end(), [&](double e) { return e == value; });
}

// Operators whose result is an input, by their attributes or constant operands.
bool passes_through(const Graph& graph, const Node& node) {
  ValueId in = node.inputs.empty() ? ValueId() : node.inputs[0];
  if (!in || node.outputs.empty() || !node.outputs[0]) return false;
  bool only_first = node.outputs.size() == 1;
  if (node.type == "Identity") return true;
  if (node.type == "Dropout") {
    auto training = node.inputs.size() > 2 && node.inputs[2] ? scalar_constant(graph, node.inputs[2]) : std::optional(0.0);
    return only_first && training == 0.0;
  }
  if (node.type == "Cast") return graph.value(in).type.is_tensor() && node.attributes.integer("to") == static_cast<std::int64_t>(graph.value(in).type.dtype);
  if (node.type == "Concat" || node.type == "Max" || node.type == "Min" || node.type == "Sum" || node.type == "Mean") return node.inputs.size() == 1;
  if (node.type == "Pad") return constant_is_all(graph, node.inputs[1], 0) && same_type(graph, in, node.outputs[0]);
  if (node.type == "Tile") return constant_is_all(graph, node.inputs[1], 1);
  if (node.type == "Expand" || node.type == "Reshape") return is_known_shape(graph, node.inputs[1]) && same_type(graph, in, node.outputs[0]);
  return false;
}

constexpr std::array<std::string_view, 7> commutative = {"Add", "Mul", "And", "Or", "Xor", "Equal", "Sum"};

std::optional<Change> change_for(const Graph& graph, const Node& node) {
  if (passes_through(graph, node)) return Change{node.inputs[0], {}, {}, {}};
  if (node.type == "Sum" && node.inputs.size() == 2) return Change{{}, "Add", node.inputs, {}};
  bool commutes = std::find(commutative.begin(), commutative.end(), node.type) != commutative.end() && node.inputs.size() == 2;
  if (commutes && constant_of(graph, node.inputs[0]) && !constant_of(graph, node.inputs[1])) {
    return Change{{}, node.type, {node.inputs[1], node.inputs[0]}, {}};
  }
  if (node.type == "Div" && is_floating(graph.value(node.inputs[0]).type.dtype)) {
    // Multiplying by the reciprocal of a power of two is the same number.
    auto divisor = scalar_constant(graph, node.inputs[1]);
    int exponent = 0;
    if (divisor && std::abs(std::frexp(*divisor, &exponent)) == 0.5 && std::abs(exponent) < 64) {
      const Tensor& old = *constant_of(graph, node.inputs[1])->at_hand();
      Result<TensorWriter> writer = TensorWriter::make(old.dtype(), old.extents());
      if (!writer || old.dtype() == DType::f16) return std::nullopt;
      writer->set_double(0, 1 / *divisor);
      return Change{{}, "Mul", {node.inputs[0]}, std::move(*writer).finish()};
    }
  }
  return std::nullopt;
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    const Node& node = graph.node(id);
    if (!node.op || !node.domain.empty()) return false;
    std::optional<Change> change = change_for(graph, node);
    if (!change) return false;
    if (change->input) {
      ValueId input = rewriter.map(*change->input);
      if (!rewriter.can_replace(node.outputs[0], input) || !context.may_rewrite()) return false;
      rewriter.replace(node.outputs[0], input);
      return true;
    }
    if (!context.may_rewrite()) return false;
    GraphBuilder::NodeSpec spec;
    spec.op = context.op(*change->op);
    spec.name = node.name;
    for (ValueId input : change->inputs) spec.inputs.push_back(rewriter.map(input));
    if (change->last) spec.inputs.push_back(rewriter.constant(*change->last, "reciprocal"));
    NodeId from[] = {id};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, node.outputs));
    return true;
  });
}

const Pass pass{.name = "canon", .summary = "Drop operators that do nothing, put constants on the right, prefer special forms", .run = run};

}  // namespace

const Pass& canon_pass() { return pass; }

}  // namespace infini
