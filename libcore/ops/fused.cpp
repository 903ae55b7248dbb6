// fused: a body graph that one kernel should run; written back to ONNX inlined. Ours, not ONNX's.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

Result<std::vector<Type>> infer(const OpContext& context) {
  const Body* body = context.attributes().get<Body>("body");
  if (!context.bodies()) return std::vector<Type>(context.output_count());
  std::vector<Type> arguments;
  for (std::size_t i = 0; i < context.input_count(); ++i) arguments.push_back(context.has(i) ? context.type(i) : Type());
  return context.bodies()->infer(*body, arguments);
}

Result<std::vector<Value>> run(const OpContext& context, std::span<const Value* const> inputs, const RunBody& run_body) {
  std::vector<Value> arguments;
  for (const Value* input : inputs) arguments.push_back(*input);
  return run_body(*context.attributes().get<Body>("body"), arguments);
}

constexpr std::array<int, 1> versions = {1};
constexpr std::array<Param, 1> inputs = {Param{"inputs", {}, {}, Arity::variadic}};
constexpr std::array<Param, 1> outputs = {Param{"outputs", {}, {}, Arity::variadic}};
constexpr std::array<AttributeDef, 1> attributes = {required_attribute("body", AttributeKind::body)};

const std::array table = {OpDef{.name = "fused", .summary = "A body graph that one kernel should run", .versions = versions, .inputs = inputs,
                                .outputs = outputs, .attributes = attributes, .infer = infer, .run_body = run, .domain = "infini"}};

}  // namespace

std::span<const OpDef> fused_ops() { return table; }

}  // namespace infini
