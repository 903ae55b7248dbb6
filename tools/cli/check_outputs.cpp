#include "libcore/base/text.h"
#include "tools/cli/checks.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

NamedValues named_outputs(const Graph& graph, std::vector<Value> values) {
  NamedValues out;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) out.emplace_back(graph.value(graph.outputs()[i]).name, std::move(values[i]));
  return out;
}

// The vector's inputs in the graph's order.
Result<std::vector<Value>> inputs_of(const TestVector& test, const Graph& graph) {
  std::vector<Value> out;
  for (ValueId id : graph.inputs()) {
    const std::string& name = graph.value(id).name;
    const Value* found = value_named(test.inputs, name);
    if (!found) return bad_input(text("test vector '", test.name, "' has no input '", name, "'"));
    out.push_back(*found);
  }
  return out;
}

}  // namespace

Result<int> check_outputs(const Module& module, const Arguments& arguments, const Talk& talk) {
  bool from_file = arguments.has("expect");
  if (!from_file && module.tests.empty()) return usage_error("the stream carries no test vector: import with --with-test-data, or give --load-inputs and --expect");
  IT_TRY(Devices devices, open_devices(arguments));
  IT_TRY(std::unique_ptr<Executor> executor, make_executor(module.graph, std::move(devices), {}, talk));
  if (from_file) {
    IT_TRY(BoundInputs inputs, bind_inputs(module, arguments));
    for (const std::string& line : inputs.made_up) talk.notice(line);
    IT_TRY(std::vector<Value> values, executor->run(inputs.values));
    return compare_with_file(named_outputs(module.graph, std::move(values)), arguments);
  }
  int status = 0;
  for (const TestVector& test : module.tests) {
    IT_TRY(std::vector<Value> inputs, inputs_of(test, module.graph));
    IT_TRY(std::vector<Value> values, within(text("test vector '", test.name, "'"), executor->run(inputs)));
    IT_TRY(int verdict, compare_outputs(named_outputs(module.graph, std::move(values)), test.outputs, arguments, test.rtol, test.atol));
    status = std::max(status, verdict);
  }
  return status;
}

}  // namespace infini::cli
