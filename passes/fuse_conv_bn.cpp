// BatchNormalization (inference) behind Conv or ConvTranspose goes into the weights and the bias.
#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"
#include "passes/fuse.h"

namespace infini {
namespace {

constexpr std::uint64_t max_weight_bytes = std::uint64_t{1} << 30;

// y = scale[c] * x + shift[c].
struct Affine {
  std::vector<double> scale, shift;
};

Result<std::vector<double>> numbers(const Graph& graph, ValueId value, const PassContext& context) {
  IT_TRY(Tensor tensor, context.bytes(*constant_of(graph, value), max_weight_bytes));
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.count(); ++i) out.push_back(tensor.as_double(i));
  return out;
}

Result<Affine> affine_of(const Graph& graph, const Node& bn, const PassContext& context) {
  IT_TRY(std::vector<double> scale, numbers(graph, bn.inputs[1], context));
  IT_TRY(std::vector<double> bias, numbers(graph, bn.inputs[2], context));
  IT_TRY(std::vector<double> mean, numbers(graph, bn.inputs[3], context));
  IT_TRY(std::vector<double> variance, numbers(graph, bn.inputs[4], context));
  Affine out;
  auto epsilon = static_cast<double>(bn.attributes.real("epsilon", 1e-5f));
  for (std::size_t c = 0; c < scale.size(); ++c) {
    double factor = scale[c] / std::sqrt(variance[c] + epsilon);
    out.scale.push_back(factor);
    out.shift.push_back(bias[c] - factor * mean[c]);
  }
  return out;
}

bool is_finite(const Affine& affine) {
  auto finite = [](double number) { return std::isfinite(number); };
  return std::all_of(affine.scale.begin(), affine.scale.end(), finite) && std::all_of(affine.shift.begin(), affine.shift.end(), finite);
}

// The weight's axis that counts output channels: Conv [m,c/g,...]; ConvTranspose [c,m/g,...] holds them per group.
Result<Tensor> scaled_weight(const Node& conv, const Tensor& weight, const Affine& affine) {
  IT_TRY(TensorWriter out, TensorWriter::make(weight.dtype(), weight.extents()));
  const Extents& w = weight.extents();
  bool transposed = conv.type == "ConvTranspose";
  std::int64_t group = conv.attributes.integer("group", 1), taps = 1;
  for (std::size_t i = 2; i < w.size(); ++i) taps *= w[i];
  for (std::int64_t i = 0; i < weight.count(); ++i) {
    std::int64_t second = i / taps % w[1], first = i / taps / w[1];
    std::int64_t channel = transposed ? first / (w[0] / group) * w[1] + second : first;
    out.set_double(i, weight.as_double(i) * affine.scale[static_cast<std::size_t>(channel)]);
  }
  return std::move(out).finish();
}

Result<Tensor> new_bias(const Graph& graph, const Node& conv, DType dtype, const Affine& affine, const PassContext& context) {
  std::vector<double> old(affine.scale.size(), 0);
  if (conv.inputs.size() > 2 && conv.inputs[2]) {
    IT_TRY(old, numbers(graph, conv.inputs[2], context));
  }
  IT_TRY(TensorWriter out, TensorWriter::make(dtype, {static_cast<std::int64_t>(old.size())}));
  for (std::size_t c = 0; c < old.size(); ++c) out.set_double(static_cast<std::int64_t>(c), old[c] * affine.scale[c] + affine.shift[c]);
  return std::move(out).finish();
}

class ConvBnFuser {
 public:
  ConvBnFuser(const Graph& graph, PassContext& context) : graph_(graph), context_(context), uses_(uses_of(graph)) {}

  Result<bool> visit(Rewriter& rewriter, NodeId id) {
    const Node& bn = graph_.node(id);
    if (!is_op(bn, "BatchNormalization")) return false;
    const Node* conv = convolution(bn);
    if (!conv) return false;
    if (std::string why = obstacle(bn, *conv); !why.empty()) {
      context_.near_miss(graph_, id, std::move(why));
      return false;
    }
    IT_TRY(Affine affine, affine_of(graph_, bn, context_));
    if (!is_finite(affine)) {
      context_.near_miss(graph_, id, "a scale or shift is not finite");
      return false;
    }
    if (!context_.may_rewrite()) return false;
    IT_TRY(Tensor weight, context_.bytes(*constant_of(graph_, conv->inputs[1]), max_weight_bytes));
    IT_TRY(Tensor scaled, scaled_weight(*conv, weight, affine));
    IT_TRY(Tensor bias, new_bias(graph_, *conv, weight.dtype(), affine, context_));
    GraphBuilder::NodeSpec spec(*conv);
    spec.inputs = {rewriter.map(conv->inputs[0]), rewriter.constant(std::move(scaled), "weight"), rewriter.constant(std::move(bias), "bias")};
    NodeId from[] = {graph_.value(bn.inputs[0]).producer, id};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, bn.outputs));
    return true;
  }

 private:
  const Node* convolution(const Node& bn) const {
    const Node* conv = producer(graph_, bn.inputs[0], "Conv");
    return conv ? conv : producer(graph_, bn.inputs[0], "ConvTranspose");
  }

  std::string obstacle(const Node& bn, const Node& conv) const {
    if (bn.attributes.integer("training_mode") != 0 || bn.outputs.size() > 1) return "training mode";
    if (!read_once(uses_, bn.inputs[0])) return text("'", graph_.value(bn.inputs[0]).name, "' has other readers");
    if (!constant_of(graph_, conv.inputs[1])) return "the weight is not a constant";
    if (conv.inputs.size() > 2 && conv.inputs[2] && !constant_of(graph_, conv.inputs[2])) return "the bias is not a constant";
    for (std::size_t i = 1; i < bn.inputs.size(); ++i) {
      if (!constant_of(graph_, bn.inputs[i])) return text("'", graph_.value(bn.inputs[i]).name, "' is not a constant");
    }
    for (const Node* node : {&conv, &bn}) {
      for (std::size_t i = 1; i < node->inputs.size(); ++i) {
        ValueId value = node->inputs[i];
        if (value && !loadable(*constant_of(graph_, value), max_weight_bytes)) return text("'", graph_.value(value).name, "' is not at hand");
      }
    }
    return {};
  }

  const Graph& graph_;
  PassContext& context_;
  Uses uses_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  ConvBnFuser fuser(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return fuser.visit(rewriter, id); });
}

const Pass pass{.name = "fuse-conv-bn", .summary = "Fold BatchNormalization into the convolution before it", .safety = Safety::rounding, .run = run};

}  // namespace

const Pass& fuse_conv_bn_pass() { return pass; }

}  // namespace infini
