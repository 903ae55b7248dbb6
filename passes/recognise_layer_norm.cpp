// LayerNormalization written in primitives: (x - mean x) / sqrt(mean (x - mean x)^2 + eps) * scale + bias, over the last axes.
#include <algorithm>

#include "libcore/ir/rewrite.h"
#include "passes/fuse.h"

namespace infini {
namespace {

struct Found {
  ValueId x, scale, bias, result;
  std::int64_t axis = -1;
  float epsilon = 0;
  std::vector<NodeId> nodes;
};

// The first of the axes, if they are the last ones and kept as ones.
std::optional<std::int64_t> trailing_axes(const Graph& graph, const Node& reduce) {
  const Type& in = graph.value(reduce.inputs[0]).type;
  if (!in.has_shape() || reduce.attributes.integer("keepdims", 1) != 1 || reduce.inputs.size() < 2) return std::nullopt;
  auto axes = small_constant(graph, reduce.inputs[1]);
  if (!axes || axes->empty()) return std::nullopt;
  auto rank = static_cast<std::int64_t>(in.rank());
  std::vector<std::int64_t> sorted;
  for (double axis : *axes) sorted.push_back(axis < 0 ? static_cast<std::int64_t>(axis) : static_cast<std::int64_t>(axis) - rank);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i) - static_cast<std::int64_t>(sorted.size())) return std::nullopt;
  }
  return sorted.front();
}

class Matcher {
 public:
  Matcher(const Graph& graph, const Uses& uses) : graph_(graph), uses_(uses) {}

  // From the division on; scale and bias behind it join if they fit.
  std::optional<Found> match(NodeId id) {
    const Node& div = graph_.node(id);
    if (!is_op(div, "Div")) return std::nullopt;
    Found found;
    const Node* sub = producer(graph_, div.inputs[0], "Sub");
    const Node* sqrt = producer(graph_, div.inputs[1], "Sqrt");
    const Node* add = sqrt ? producer(graph_, sqrt->inputs[0], "Add") : nullptr;
    if (!sub || !add) return std::nullopt;
    auto epsilon = scalar_constant(graph_, add->inputs[1]);
    const Node* variance = producer(graph_, add->inputs[0], "ReduceMean");
    const Node* mean = producer(graph_, sub->inputs[1], "ReduceMean");
    if (!epsilon || *epsilon < 0 || !variance || !mean || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
    if (!is_square_of(variance->inputs[0], div.inputs[0])) return std::nullopt;
    auto axis = trailing_axes(graph_, *mean);
    if (!axis || axis != trailing_axes(graph_, *variance)) return std::nullopt;
    // An epsilon of higher rank would have lifted the result's.
    const Type& type = graph_.value(sub->inputs[0]).type;
    if (!(type == graph_.value(div.outputs[0]).type) || type.dtype == DType::f64) return std::nullopt;  // of f64, the operator takes f32 means
    found.x = sub->inputs[0];
    found.axis = *axis;
    found.epsilon = static_cast<float>(*epsilon);
    found.result = div.outputs[0];
    for (ValueId made : {sub->inputs[1], div.inputs[0], variance->inputs[0], add->inputs[0], sqrt->inputs[0], div.inputs[1], div.outputs[0]}) {
      found.nodes.push_back(graph_.value(made).producer);
    }
    take_affine(found);
    return found;
  }

 private:
  bool is_square_of(ValueId value, ValueId base) const {
    if (const Node* pow = producer(graph_, value, "Pow")) return pow->inputs[0] == base && scalar_constant(graph_, pow->inputs[1]) == 2.0;
    const Node* mul = producer(graph_, value, "Mul");
    return mul && mul->inputs[0] == base && mul->inputs[1] == base;
  }

  // The constant beside `value` in its only reader of type `op`, if its shape is exactly the normalised axes.
  const Node* only_reader(ValueId value, std::string_view op, const Found& found, ValueId& operand) const {
    if (!read_once(uses_, value)) return nullptr;
    const Node& reader = graph_.node(uses_.readers[value.at()][0]);
    if (!is_op(reader, op)) return nullptr;
    operand = reader.inputs[0] == value ? reader.inputs[1] : reader.inputs[0];
    const Type &type = graph_.value(operand).type, &x = graph_.value(found.x).type;
    auto width = static_cast<std::size_t>(-found.axis);
    bool fits = type.has_shape() && type.rank() == width && type.dtype == x.dtype && std::equal(type.shape->begin(), type.shape->end(), x.shape->end() + found.axis);
    return fits && constant_of(graph_, operand) ? &reader : nullptr;
  }

  void take_affine(Found& found) const {
    ValueId operand;
    if (const Node* mul = only_reader(found.result, "Mul", found, operand)) {
      found.scale = operand;
      found.nodes.push_back(graph_.value(mul->outputs[0]).producer);
      found.result = mul->outputs[0];
    }
    if (const Node* add = only_reader(found.result, "Add", found, operand)) {
      found.bias = operand;
      found.nodes.push_back(graph_.value(add->outputs[0]).producer);
      found.result = add->outputs[0];
    }
  }

  const Graph& graph_;
  const Uses& uses_;
};

// A scale of ones for a normalisation that has none.
std::optional<Tensor> ones(const Graph& graph, const Found& found) {
  const Type& x = graph.value(found.x).type;
  std::optional<Extents> extents = constant_extents(Shape(x.shape->end() + found.axis, x.shape->end()));
  if (!extents) return std::nullopt;
  Result<TensorWriter> writer = TensorWriter::make(x.dtype, *extents);
  if (!writer) return std::nullopt;
  for (std::int64_t i = 0; i < writer->tensor().count(); ++i) writer->set_double(i, 1);
  return std::move(*writer).finish();
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  Uses uses = uses_of(graph);
  Matcher matcher(graph, uses);
  // The match is found at its division and emitted at its last node, when everything it reads is there.
  std::vector<std::optional<Found>> at(graph.nodes().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    std::optional<Found> found = matcher.match(node_id(n));
    if (found) at[graph.value(found->result).producer.at()] = std::move(found);
  }
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    if (!at[id.at()]) return false;
    const Found& found = *at[id.at()];
    std::optional<Tensor> unit;
    if (!found.scale && !(unit = ones(graph, found))) return false;
    if (!context.may_rewrite()) return false;
    GraphBuilder::NodeSpec spec;
    spec.op = context.op("LayerNormalization");
    spec.inputs = {rewriter.map(found.x), found.scale ? rewriter.map(found.scale) : rewriter.constant(std::move(*unit), "ones")};
    if (found.bias) spec.inputs.push_back(rewriter.map(found.bias));
    spec.attributes.set("axis", found.axis);
    spec.attributes.set("epsilon", found.epsilon);
    ValueId outputs[] = {found.result};
    IT_TRY_VOID(rewriter.emit(std::move(spec), found.nodes, outputs));
    return true;
  });
}

const Pass pass{.name = "recognise-layer-norm", .summary = "LayerNormalization from means, differences and a square root", .safety = Safety::rounding,
                .run = run};

}  // namespace

const Pass& recognise_layer_norm_pass() { return pass; }

}  // namespace infini
