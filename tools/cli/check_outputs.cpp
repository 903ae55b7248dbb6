#include "libcore/base/text.h"
#include "tools/cli/checks.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/output_report.h"
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

Result<std::vector<OutputReport>> compare_all(const Module& module, Executor& executor, const Arguments& arguments, const Talk& talk) {
  std::vector<OutputReport> out;
  if (arguments.has("expect")) {
    IT_TRY(BoundInputs inputs, bind_inputs(module, arguments));
    for (const std::string& line : inputs.made_up) talk.notice(line);
    IT_TRY(std::vector<Value> values, executor.run(inputs.values));
    IT_TRY(OutputReport report, compare_with_file(module.graph, named_outputs(module.graph, std::move(values)), arguments));
    out.push_back(std::move(report));
    return out;
  }
  for (const TestVector& test : module.tests) {
    IT_TRY(std::vector<Value> inputs, inputs_of(test, module.graph));
    IT_TRY(std::vector<Value> values, within(text("test vector '", test.name, "'"), executor.run(inputs)));
    Tolerance standard{.relative = test.rtol, .absolute = test.atol};
    IT_TRY(OutputReport report, compare_outputs(test.name, named_outputs(module.graph, std::move(values)), test.outputs, arguments, standard));
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace

Result<int> check_outputs(const Module& module, const Arguments& arguments, const Talk& talk) {
  if (!arguments.has("expect") && module.tests.empty()) return usage_error("the stream carries no test vector: import with --with-test-data, or give --load-inputs and --expect");
  IT_TRY(Devices devices, open_devices(arguments));
  std::string device = devices[0]->name();
  IT_TRY(std::unique_ptr<Executor> executor, make_executor(module.graph, std::move(devices), {}, talk));
  IT_TRY(std::vector<OutputReport> reports, compare_all(module, *executor, arguments, talk));
  std::string page;
  bool equal = true;
  for (const OutputReport& report : reports) {
    page += to_text(report);
    equal = equal && report.equal();
  }
  int written = print_page(arguments.has("json") ? to_json(reports, device) : page, talk);
  return written ? written : equal ? 0 : status_no;
}

}  // namespace infini::cli
