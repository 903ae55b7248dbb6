// Nodes that run on the host: strings, sequences, optionals, control flow, and results whose size only running tells.
#include <chrono>

#include "libcore/base/text.h"
#include "libcore/exec/executor.h"
#include "libcore/ir/body_types.h"

namespace infini {
namespace {

struct OpenDims final : FreshDims {
  Dim next() override { return Dim::symbol("#run"); }
};

}  // namespace

Status Executor::run_on_host(const Node& node) {
  auto label = [&] { return describe(*graph_, node); };
  if (!node.op) return internal_error(text(label(), " came past the planner"));
  std::vector<Value> held(node.inputs.size());
  std::vector<const Value*> values;
  std::vector<Type> types(node.inputs.size());
  std::vector<InputFact> facts;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    ValueId id = node.inputs[i];
    if (!id) {
      values.push_back(nullptr);
      facts.emplace_back();
      continue;
    }
    if (!state_[id.at()] && !constants_[id.at()]) return internal_error(text("value '", graph_->value(id).name, "' is not there"));
    held[i] = state_[id.at()] ? *state_[id.at()] : Value(*constants_[id.at()]);
    types[i] = held[i].type();
    values.push_back(&held[i]);
    facts.push_back({&types[i], held[i].tensor(), nullptr});
  }
  OpenDims open;
  OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &open, &graph_body_types());
  auto begin = std::chrono::steady_clock::now();
  IT_TRY_VOID(within(label(), [&]() -> Status {
    auto checked = infer_types(context);
    if (!checked) return std::move(checked.error());
    return {};
  }()));
  auto run_body = [this](const Body& body, std::span<const Value> arguments) { return this->run_body(body, arguments); };
  IT_TRY(std::vector<Value> results, within(label(), run_reference(context, values, run_body)));
  for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
    if (node.outputs[i]) state_[node.outputs[i].at()] = std::move(results[i]);
  }
  if (options_.on_step) {
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    options_.on_step({*graph_, node, "host", node.type, "host", took.count()});
  }
  return {};
}

Result<std::vector<Value>> Executor::run_body(const Body& body, std::span<const Value> arguments) {
  std::unique_ptr<Executor>& executor = bodies_[body.graph.get()];
  if (!executor) {
    ExecOptions options = options_;
    options.observe.clear();
    IT_TRY(executor, Executor::make(body.graph, std::move(options)));
  }
  std::vector<Value> inputs(arguments.begin(), arguments.end());
  for (ValueId captured : body.captures) {
    if (state_[captured.at()]) {
      inputs.push_back(*state_[captured.at()]);
    } else if (constants_[captured.at()]) {
      inputs.emplace_back(*constants_[captured.at()]);
    } else {
      return internal_error(text("captured value '", graph_->value(captured).name, "' is not there"));
    }
  }
  return executor->run(inputs);
}

}  // namespace infini
