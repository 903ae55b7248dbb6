#include "libcore/onnx/export_opset.h"

#include <algorithm>
#include <functional>

#include "libcore/base/text.h"
#include "libcore/onnx/problems.h"

namespace infini::onnx_files {
namespace {

// Operators that are carried as the file had them: from this opset on, later versions have only added types and attributes whose defaults
// change nothing (ONNX's operator change log).
struct Form {
  std::string_view op;
  int since;
};
constexpr Form forms[] = {
    {"Acos", 7}, {"Acosh", 9}, {"AffineGrid", 20}, {"Asin", 7}, {"Asinh", 9}, {"Atan", 7}, {"Atanh", 9}, {"Bernoulli", 15}, {"BitShift", 11},
    {"BitwiseAnd", 18}, {"BitwiseNot", 18}, {"BitwiseOr", 18}, {"BitwiseXor", 18}, {"BlackmanWindow", 17}, {"Celu", 12}, {"CenterCropPad", 18},
    {"Col2Im", 18}, {"Compress", 9}, {"ConcatFromSequence", 11}, {"ConvInteger", 10}, {"Cosh", 9}, {"DFT", 20}, {"DeformConv", 19},
    {"DequantizeLinear", 13}, {"Det", 11}, {"DynamicQuantizeLinear", 11}, {"EyeLike", 9}, {"GRU", 7}, {"GlobalLpPool", 2}, {"GridSample", 20},
    {"HammingWindow", 17}, {"HannWindow", 17}, {"Hardmax", 13}, {"If", 1}, {"IsInf", 10}, {"IsNaN", 9}, {"LSTM", 7}, {"Loop", 1},
    {"LpNormalization", 1}, {"LpPool", 2}, {"MatMulInteger", 10}, {"MaxRoiPool", 1}, {"MaxUnpool", 11}, {"MeanVarianceNormalization", 13},
    {"MelWeightMatrix", 17}, {"Multinomial", 7}, {"NegativeLogLikelihoodLoss", 13}, {"NonMaxSuppression", 10}, {"NonZero", 9}, {"Optional", 15},
    {"OptionalGetElement", 15}, {"OptionalHasElement", 15}, {"QLinearConv", 10}, {"QLinearMatMul", 10}, {"QuantizeLinear", 13}, {"RNN", 7},
    {"RandomNormal", 1}, {"RandomNormalLike", 1}, {"RandomUniform", 1}, {"RandomUniformLike", 1}, {"ReduceL1", 18}, {"ReduceLogSum", 18},
    {"ReduceLogSumExp", 18}, {"ReverseSequence", 10}, {"RoiAlign", 16}, {"STFT", 17}, {"Scan", 9}, {"SequenceAt", 11}, {"SequenceConstruct", 11},
    {"SequenceEmpty", 11}, {"SequenceErase", 11}, {"SequenceInsert", 11}, {"SequenceLength", 11}, {"SequenceMap", 17}, {"Shrink", 9}, {"Sinh", 9},
    {"SoftmaxCrossEntropyLoss", 13}, {"Softsign", 1}, {"SplitToSequence", 11}, {"StringNormalizer", 10}, {"Tan", 7}, {"TfIdfVectorizer", 9},
    {"ThresholdedRelu", 10}, {"TopK", 11}, {"Unique", 11}, {"Xor", 7},
};

bool reads_the_same(const Node& node, int opset) {
  if (node.version == 0 || node.version == opset) return true;
  auto form = std::find_if(std::begin(forms), std::end(forms), [&](const Form& known) { return known.op == node.type; });
  return node.domain.empty() && form != std::end(forms) && node.version >= form->since && opset > node.version;
}

void each_node(const Graph& graph, const std::function<void(const Graph&, const Node&)>& visit) {
  for (const Node& node : graph.nodes()) {
    visit(graph, node);
    for (const Body* body : bodies(node)) each_node(*body->graph, visit);
  }
}

// Why `node` cannot stand in a model of that opset; empty if it can.
std::string objection(const Node& node, int opset) {
  if (node.op && node.domain == "infini") return "ONNX has no such operator";
  if (node.op && node.op->versions.back() > opset) {
    return text("has its form of opset ", node.op->versions.back(), ", the model is to be opset ", opset);
  }
  if (!node.op && !reads_the_same(node, opset)) return text("is carried in its form of opset ", node.version, ", the model needs opset ", opset);
  return {};
}

}  // namespace

Result<std::map<std::string, int>> choose_opsets(const Graph& graph, int wanted) {
  std::map<std::string, int> opsets = {{"", std::max(wanted, 1)}};
  each_node(graph, [&](const Graph&, const Node& node) {
    int& opset = opsets[node.domain];
    bool fixed = node.domain.empty() && wanted > 0;
    if (!fixed) opset = std::max({opset, 1, node.op ? node.op->versions.back() : node.version});
  });
  Groups problems;
  each_node(graph, [&](const Graph& around, const Node& node) {
    std::string reason = objection(node, opsets[node.domain]);
    if (!reason.empty()) problems.add(operator_name(node.domain, node.type), node.name.empty() ? describe(around, node) : node.name, reason);
  });
  if (!problems.empty()) return unsupported(to_string(problems.list()));
  return opsets;
}

}  // namespace infini::onnx_files
