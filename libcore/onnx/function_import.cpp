// Importer: model-local functions, expanded where they are called.
#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/onnx/importer.h"
#include "libcore/onnx/order.h"

namespace infini::onnx_files {
namespace {

constexpr int depth_limit = 64;
constexpr std::size_t expansion_limit = 100'000;  // nodes; functions that call functions twice grow exponentially

}  // namespace

Status Importer::check_call(const NodeInput& in, const Function& function, const BoundAttributes& attributes) const {
  const onnx::FunctionProto& proto = *function.proto;
  for (const FunctionCall* call = in.scope.call; call; call = call->caller) {
    if (call->function == &function) return bad_input("the function calls itself");
  }
  if (in.scope.depth >= depth_limit) return bad_input(text("graphs and calls are nested deeper than ", depth_limit));
  if (sources_->size() + static_cast<std::size_t>(proto.node_size()) > expansion_limit) {
    return unsupported(text("with its functions expanded the model has more than ", expansion_limit, " nodes"));
  }
  if (in.proto.input_size() > proto.input_size()) {
    return bad_input(text("has ", in.proto.input_size(), " inputs, the function takes ", proto.input_size()));
  }
  if (in.proto.output_size() > proto.output_size()) {
    return bad_input(text("has ", in.proto.output_size(), " outputs, the function gives ", proto.output_size()));
  }
  for (const auto& [name, attribute] : attributes) {
    if (!function.has_attribute(name)) return bad_input(text("attribute '", name, "' is not one of the function"));
  }
  return {};
}

void Importer::call_function(const NodeInput& in, const Function& function, const BoundAttributes& attributes) {
  if (Status fine = check_call(in, function, attributes); !fine) return fail(in, std::move(fine.error()));
  std::optional<std::vector<ValueId>> inputs = inputs_of(in);
  if (!inputs) return fail_outputs(in);
  const onnx::FunctionProto& proto = *function.proto;
  Result<Opsets> opsets = proto.opset_import().empty() ? Result<Opsets>(*in.scope.opsets) : opsets_of(proto.opset_import());
  if (!opsets) return fail(in, std::move(opsets.error()));
  opsets->insert(in.scope.opsets->begin(), in.scope.opsets->end());

  FunctionCall call{&function, in.scope.call, {}};
  for (const onnx::AttributeProto& standard : function.defaults) call.attributes[standard.name()] = {&standard, &in.scope};
  for (const auto& [name, attribute] : attributes) call.attributes[name] = attribute;
  Path path = in.path;
  path.push_back(static_cast<std::uint32_t>(in.proto.attribute_size()));  // as if the body were one attribute more
  Scope inner{.frame = in.scope.frame, .call = &call, .opsets = &*opsets, .path = std::move(path), .depth = in.scope.depth + 1};
  inner.prefix = text(in.scope.prefix, in.proto.name().empty() ? in.proto.op_type() : in.proto.name(), "/");
  inputs->resize(static_cast<std::size_t>(proto.input_size()));
  for (int i = 0; i < proto.input_size(); ++i) inner.values[proto.input(i)] = {(*inputs)[static_cast<std::size_t>(i)]};
  std::vector<std::string> wanted;
  for (int i = 0; i < in.proto.output_size(); ++i) {
    const std::string& name = in.proto.output(i);
    wanted.push_back(result_name(in.scope, name));
    if (name.empty() || !inner.result_names.try_emplace(proto.output(i), wanted.back()).second) continue;
    if (auto declared = in.scope.declared.find(name); declared != in.scope.declared.end()) inner.declared.emplace(proto.output(i), declared->second);
  }

  Names given(proto.input().begin(), proto.input().end());
  auto nowhere = [](std::string_view) { return false; };
  std::optional<std::vector<int>> order = ordered({proto.node(), given, nowhere, inner.path}, problems_);
  if (!order) return fail_outputs(in);
  for (int i : *order) node(proto.node(i), static_cast<std::uint32_t>(i), inner);
  bind_results(in, inner, proto, wanted);
}

// Gives the caller's names to the results; one that is an input, or a second name for a value, takes an Identity.
void Importer::bind_results(const NodeInput& in, Scope& inner, const onnx::FunctionProto& proto, std::span<const std::string> wanted) {
  GraphBuilder& builder = in.scope.frame.builder;
  for (int i = 0; i < in.proto.output_size(); ++i) {
    const std::string& name = in.proto.output(i);
    if (name.empty()) continue;
    auto found = inner.values.find(proto.output(i));
    if (found == inner.values.end()) return fail(in, bad_input(text("the function does not produce its output '", proto.output(i), "'")));
    BoundValue& binding = in.scope.values[name] = found->second;
    const std::string& own = wanted[static_cast<std::size_t>(i)];
    if (!binding.id || builder.value(binding.id).name == own) continue;
    GraphBuilder::NodeSpec identity;
    identity.op = ops_.find("", "Identity");
    if (!identity.op) return fail(in, internal_error("Identity has no definition"));
    identity.inputs = {binding.id};
    identity.output_names = {own};
    identity.origin = in.origin;
    Result<std::vector<ValueId>> made = builder.add_node(std::move(identity));
    if (!made) return fail(in, std::move(made.error()));
    binding.id = (*made)[0];
  }
}

}  // namespace infini::onnx_files
