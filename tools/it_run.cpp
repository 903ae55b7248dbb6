// it-run: a graph and inputs in, outputs out.
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/module_io.h"
#include "tools/cli/pass_options.h"
#include "tools/cli/output_report.h"
#include "tools/cli/print_values.h"
#include "tools/cli/run_report.h"
#include "tools/cli/session.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 3> examples = {
    "it-import model.onnx | it-opt | it-run -i x=@x.npy -o y.npz",
    "it-run model.onnx --print          (makes inputs, runs at -O2, prints the outputs)",
    "it-run model.itg -i 'ids:1x8=randint(0,100)' --dump='*Norm*' -o all.npz",
};

constexpr std::array own = {
    Option{"-o,--output", Takes::value, "FILE.npz", "outputs under the graph's names", "Outputs"},
    Option{"--print", Takes::flag, {}, "print the elements of the outputs", "Outputs"},
    Option{"--dump", Takes::value, "GLOB", "intermediate values go to the output as well (all: '*')", "Outputs", true},
    Option{"--json", Takes::value, "FILE", "outputs, times and nodes that went past the device, as JSON", "Outputs"},
    Option{"--expect", Takes::value, "FILE.npz", "compare with these outputs; status 1 if they differ", "Outputs"},
    Option{"--rtol", Takes::value, "R", "relative tolerance of --expect (1e-3)", "Outputs"},
    Option{"--atol", Takes::value, "A", "absolute tolerance of --expect (1e-7)", "Outputs"},
    Option{"-O", Takes::value, "0|1|2|3", "optimise before running (an .onnx operand: 2; a stream: as it is)", "Running"},
};

constexpr std::size_t printed_elements = 1000;

const Tool& tool() {
  static const std::vector<Option> options = [] {
    std::vector<Option> list(input_options().begin(), input_options().end());
    list.insert(list.end(), own.begin(), own.end());
    list.insert(list.end(), device_options().begin(), device_options().end());
    return list;
  }();
  static const Tool description{"it-run", "Runs a graph.", "[FILE|-]", 0, 1, examples, options};
  return description;
}

// Names of the values that --dump asks for, by their names or those of their nodes: computed ones that are no outputs anyway.
// usage: a glob that fits none, outputs included.
Result<std::vector<std::string>> dumped(const Graph& graph, const Arguments& arguments) {
  std::vector<bool> fits(graph.values().size());
  for (const std::string& glob : arguments.all("dump")) {
    bool any = glob == "*";
    std::vector<std::string> known;
    for (std::size_t v = 0; v < fits.size(); ++v) {
      const ValueInfo& value = graph.values()[v];
      if (!value.producer) continue;
      known.push_back(value.name);
      if (!matches_glob(glob, value.name) && !matches_glob(glob, graph.node(value.producer).name)) continue;
      fits[v] = any = true;
    }
    if (any) continue;
    std::string hint = closest(glob, known);
    return usage_error(text("--dump '", glob, "' fits no computed value and no node", hint.empty() ? "" : text("; did you mean '", hint, "'?"),
                            " (-O0 keeps those that fusing takes away)"));
  }
  std::vector<std::string> names;
  for (std::size_t v = 0; v < graph.values().size(); ++v) {
    bool output = std::find(graph.outputs().begin(), graph.outputs().end(), value_id(v)) != graph.outputs().end();
    if (fits[v] && !output) names.push_back(graph.values()[v].name);
  }
  return names;
}

Result<NamedValues> named(const Graph& graph, const std::vector<std::string>& observed, std::vector<Value> values) {
  NamedValues out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::string name = i < graph.outputs().size() ? graph.value(graph.outputs()[i]).name : observed[i - graph.outputs().size()];
    out.emplace_back(std::move(name), std::move(values[i]));
  }
  return out;
}

Status print_outputs(const NamedValues& outputs, bool elements) {
  std::string page;
  for (const auto& [name, value] : outputs) page += (elements ? printed(name, value, printed_elements) : summary_line(name, value)) + "\n";
  return write_page("-", page);
}

Result<int> run(const Arguments& arguments, const Talk& talk) {
  if (arguments.get("output").ends_with(".npy")) return usage_error(text("-o ", arguments.get("output"), ": outputs are written as an archive; name it .npz"));
  OpTable ops;
  RunReport told;
  Clock clock;
  IT_TRY(Devices devices, open_devices(arguments));
  told.device = devices[0]->name();
  IT_TRY(Input input, read_module(arguments.operands().empty() ? "-" : arguments.operands()[0], ops, talk, true));
  told.read_ms = clock.lap();
  IT_TRY_VOID(optimise_operand(input, ops, arguments, talk));
  told.optimise_ms = clock.lap();
  const Graph& graph = input.module.graph;
  IT_TRY(BoundInputs inputs, bind_inputs(input.module, arguments));
  for (const std::string& line : inputs.made_up) talk.notice(line);
  if (arguments.has("save-inputs")) {
    IT_TRY(NamedValues used, named_inputs(graph, inputs.values));
    IT_TRY_VOID(save_npz(arguments.get("save-inputs"), used));
  }
  IT_TRY(std::vector<std::string> observed, dumped(graph, arguments));
  clock.lap();
  IT_TRY(std::unique_ptr<Executor> executor, make_executor(graph, std::move(devices), observed, talk, [&told](const Graph& whole, const Planned& planned, const Copies& copies) { told.add(whole, planned, copies); }));
  told.load_ms = clock.lap();
  IT_TRY(std::vector<Value> values, executor->run(inputs.values));
  told.run_ms = clock.lap();
  told.arena_bytes = executor->arena_bytes();
  IT_TRY(NamedValues outputs, named(graph, observed, std::move(values)));
  if (arguments.has("output")) IT_TRY_VOID(save_npz(arguments.get("output"), outputs));
  std::optional<OutputReport> found;
  if (arguments.has("expect")) {
    IT_TRY(found, compare_with_file(graph, outputs, arguments));
  }
  if (arguments.has("json")) IT_TRY_VOID(write_page(arguments.get("json"), to_json(told, outputs, found)));
  bool silent = arguments.get("json") == "-";
  if (found && !silent) IT_TRY_VOID(write_page("-", to_text(*found)));
  if (found) return found->equal() ? 0 : status_no;
  if (silent && !arguments.has("print")) return 0;
  if (!arguments.has("output") || arguments.has("print")) IT_TRY_VOID(print_outputs(outputs, arguments.has("print")));
  return 0;
}

int work(const Arguments& arguments, const Talk& talk) {
  if (arguments.has("list-devices")) return print_page(list_devices(arguments), talk);
  Result<int> status = run(arguments, talk);
  return status ? *status : report(talk, status.error());
}

}  // namespace

int main(int argc, char** argv) { return run_tool(tool(), argc, argv, work); }
