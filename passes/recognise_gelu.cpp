// Gelu written in primitives: x * 0.5 * (1 + erf(x / sqrt 2)), and 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), factors in any order.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

constexpr double tolerance = 1e-5;  // relative; constants are written with six digits and more
constexpr int max_depth = 4;

bool is_number(const Graph& graph, ValueId value, double expected) {
  auto number = scalar_constant(graph, value);
  return number && std::abs(*number - expected) <= tolerance * std::abs(expected);
}

// The other operand of a node of two, if one is the number expected.
ValueId beside_number(const Graph& graph, const Node* node, double expected) {
  if (!node) return {};
  if (is_number(graph, node->inputs[1], expected)) return node->inputs[0];
  if (is_number(graph, node->inputs[0], expected)) return node->inputs[1];
  return {};
}

// A product taken apart: the numbers multiplied, the rest listed, and the nodes of the tree.
struct Product {
  double number = 1;
  std::vector<ValueId> factors;
  std::vector<NodeId> nodes;
};

void take_apart(const Graph& graph, ValueId value, Product& product, int depth) {
  if (auto number = scalar_constant(graph, value)) {
    product.number *= *number;
    return;
  }
  const Node* mul = producer(graph, value, "Mul");
  if (!mul || depth == max_depth) {
    product.factors.push_back(value);
    return;
  }
  product.nodes.push_back(graph.value(value).producer);
  for (ValueId input : mul->inputs) take_apart(graph, input, product, depth + 1);
}

// value = x^3?
bool is_cube(const Graph& graph, ValueId value, ValueId x) {
  if (const Node* pow = producer(graph, value, "Pow")) return pow->inputs[0] == x && is_number(graph, pow->inputs[1], 3);
  Product product;
  take_apart(graph, value, product, 0);
  return product.number == 1 && product.factors == std::vector<ValueId>{x, x, x};
}

bool is_erf_argument(const Graph& graph, ValueId value, ValueId x) {
  if (const Node* div = producer(graph, value, "Div")) return div->inputs[0] == x && is_number(graph, div->inputs[1], std::numbers::sqrt2);
  return beside_number(graph, producer(graph, value, "Mul"), 1 / std::numbers::sqrt2) == x;
}

bool is_tanh_argument(const Graph& graph, ValueId value, ValueId x) {
  ValueId sum = beside_number(graph, producer(graph, value, "Mul"), std::sqrt(2 / std::numbers::pi));
  const Node* add = producer(graph, sum, "Add");
  if (!add) return false;
  for (int i : {0, 1}) {
    auto side = static_cast<std::size_t>(i);
    ValueId cube = beside_number(graph, producer(graph, add->inputs[1 - side], "Mul"), 0.044715);
    if (add->inputs[side] == x && cube && is_cube(graph, cube, x)) return true;
  }
  return false;
}

struct Found {
  ValueId x;
  std::string approximate;
  std::vector<NodeId> nodes;
};

// factors = {x, 1 + f(...)} with 0.5 beside them.
std::optional<Found> match(const Graph& graph, NodeId root) {
  const Node& node = graph.node(root);
  if (!is_op(node, "Mul") || !is_floating(graph.value(node.outputs[0]).type.dtype)) return std::nullopt;
  Product product;
  take_apart(graph, node.outputs[0], product, 0);
  if (product.factors.size() != 2 || std::abs(product.number - 0.5) > tolerance) return std::nullopt;
  for (std::size_t i : {0u, 1u}) {
    ValueId x = product.factors[i];
    ValueId inner = beside_number(graph, producer(graph, product.factors[1 - i], "Add"), 1);
    if (!inner) continue;
    const Node* erf = producer(graph, inner, "Erf");
    const Node* tanh = producer(graph, inner, "Tanh");
    bool by_erf = erf && is_erf_argument(graph, erf->inputs[0], x), by_tanh = tanh && is_tanh_argument(graph, tanh->inputs[0], x);
    // A constant of higher rank would have lifted the result's.
    if ((!by_erf && !by_tanh) || !(graph.value(x).type == graph.value(node.outputs[0]).type)) continue;
    Found found{x, by_tanh ? "tanh" : "none", product.nodes};
    found.nodes.push_back(graph.value(product.factors[1 - i]).producer);
    found.nodes.push_back(graph.value(inner).producer);
    return found;
  }
  return std::nullopt;
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    std::optional<Found> found = match(graph, id);
    if (!found || !context.may_rewrite()) return false;
    GraphBuilder::NodeSpec spec;
    spec.op = context.op("Gelu");
    spec.inputs = {rewriter.map(found->x)};
    spec.attributes.set("approximate", found->approximate);
    IT_TRY_VOID(rewriter.emit(std::move(spec), found->nodes, graph.node(id).outputs));
    return true;
  });
}

const Pass pass{.name = "recognise-gelu", .summary = "Gelu from Erf or Tanh and products", .safety = Safety::rounding, .run = run};

}  // namespace

const Pass& recognise_gelu_pass() { return pass; }

}  // namespace infini
