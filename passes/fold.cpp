// Replaces what follows from constants by constants, computed by the operators' own definitions.
#include <algorithm>
#include <array>
#include <map>

#include "libcore/base/text.h"
#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {
namespace {

constexpr std::array<PassOption, 1> options = {
    PassOption{"max", "64MiB", "no constant operand or result above this size; a result above 1 MiB must not be larger than its operands"}};
constexpr std::uint64_t growth_free = 1 << 20;

struct NoFresh final : FreshDims {
  Dim next() override { return Dim::symbol("#fold"); }
};

class Folder {
 public:
  Folder(const Graph& graph, PassContext& context) : graph_(graph), context_(context), limit_(context.size_option("max")) {}

  Result<bool> visit(Rewriter& rewriter, NodeId id) {
    const Node& node = graph_.node(id);
    if (!node.op || node.op->effect || node.op->run_body || !node.op->infer || node.outputs.empty() || is_random(node)) return false;
    std::vector<std::optional<Tensor>> results;
    if (!from_dims(node, results)) {
      IT_TRY(bool folded, from_constants(rewriter, node, results));
      if (!folded) return false;
    }
    if (!context_.may_rewrite()) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) replace(rewriter, node.outputs[i], std::move(*results[i]));
    }
    return true;
  }

 private:
  // Shape arithmetic whose every element the shapes decide.
  bool from_dims(const Node& node, std::vector<std::optional<Tensor>>& results) const {
    for (ValueId output : node.outputs) {
      results.emplace_back();
      if (!output) continue;
      const ValueInfo& info = graph_.value(output);
      if (!info.dims) return clear(results);
      std::optional<Extents> extents = constant_extents(info.dims->shape);
      if (!extents) return clear(results);
      Result<TensorWriter> writer = TensorWriter::make(info.type.dtype, *extents);
      if (!writer) return clear(results);
      for (std::size_t i = 0; i < info.dims->elements.size(); ++i) {
        const std::optional<Dim>& element = info.dims->elements[i];
        if (!element || !element->is_constant()) return clear(results);
        writer->set_int(static_cast<std::int64_t>(i), *element->constant());
      }
      results.back() = std::move(*writer).finish();
    }
    return true;
  }
  static bool clear(std::vector<std::optional<Tensor>>& results) {
    results.clear();
    return false;
  }

  // The value's tensor if it is a constant, old or folded before.
  ConstantRef constant(Rewriter& rewriter, ValueId id) const { return rewriter.builder().value(rewriter.map(id)).constant; }

  Result<bool> from_constants(Rewriter& rewriter, const Node& node, std::vector<std::optional<Tensor>>& results) const {
    std::uint64_t operand_bytes = 0;
    std::vector<ConstantRef> constants;
    for (ValueId input : node.inputs) {
      constants.push_back(input ? constant(rewriter, input) : nullptr);
      if (!input) continue;
      if (!constants.back() || !loadable(*constants.back(), limit_)) return false;
      operand_bytes += constants.back()->size();
    }
    if (!small_enough(node, operand_bytes)) return false;
    std::vector<Value> held(constants.size());
    std::vector<Type> types(constants.size());
    std::vector<const Value*> values(constants.size(), nullptr);
    std::vector<InputFact> facts(constants.size());
    for (std::size_t i = 0; i < constants.size(); ++i) {
      if (!constants[i]) continue;
      IT_TRY(Tensor tensor, context_.bytes(*constants[i], limit_));
      types[i] = tensor.type();
      held[i] = std::move(tensor);
      values[i] = &held[i];
      facts[i] = {&types[i], held[i].tensor(), nullptr};
    }
    NoFresh fresh;
    OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &fresh);
    Result<std::vector<Value>> computed = run_reference(context, values, {});
    if (!computed) return false;  // it fails when run as well, with its own message
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Tensor* tensor = (*computed)[i].tensor();
      if (node.outputs[i] && !tensor) return clear(results);
      results.push_back(tensor ? std::optional(*tensor) : std::nullopt);
    }
    return true;
  }

  bool small_enough(const Node& node, std::uint64_t operand_bytes) const {
    std::uint64_t bytes = 0;
    for (ValueId output : node.outputs) {
      if (!output) continue;
      const Type& type = graph_.value(output).type;
      if (!type.has_shape()) return node.op->reference != nullptr && operand_bytes < growth_free;
      std::optional<Extents> extents = constant_extents(*type.shape);
      std::optional<std::int64_t> count = extents ? element_count(*extents) : std::nullopt;
      if (!count) return extents == std::nullopt && operand_bytes < growth_free && node.op->reference;
      bytes += byte_size(type.dtype, *count);
    }
    return bytes <= limit_ && (bytes <= growth_free || bytes <= operand_bytes);
  }

  static void replace(Rewriter& rewriter, ValueId output, Tensor tensor) {
    const std::string& name = rewriter.old().value(output).name;
    rewriter.replace(output, rewriter.builder().add_constant(name, make_constant(std::move(tensor))));
  }

  const Graph& graph_;
  PassContext& context_;
  std::uint64_t limit_;
};

Result<Graph> run(const Graph& graph, PassContext& context) {
  Folder folder(graph, context);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) { return folder.visit(rewriter, id); });
}

const Pass pass{.name = "fold", .summary = "Compute what follows from constants and shapes", .options = options, .run = run};

}  // namespace

const Pass& fold_pass() { return pass; }

}  // namespace infini
