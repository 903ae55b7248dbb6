// it-check: yes or no about a graph, its outputs, its coverage by a device, two graphs, or this machine.
#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "tools/cli/checks.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 5> examples = {
    "it-import model.onnx --with-test-data DIR | it-check outputs",
    "it-check graph model.itg --digest",
    "it-check coverage -d cpu model.onnx",
    "it-import model.onnx | it-opt | it-check diff model.onnx -",
    "it-check env --require cpu",
};

constexpr std::array<std::string_view, 5> verbs = {"graph", "outputs", "coverage", "diff", "env"};

constexpr std::array own = {
    Option{"--rtol", Takes::value, "R", "relative tolerance (the test vector's own, 1e-3)", "Comparison"},
    Option{"--atol", Takes::value, "A", "absolute tolerance (the test vector's own, 1e-7)", "Comparison"},
    Option{"--expect", Takes::value, "FILE.npz", "outputs: these instead of the stream's test vectors", "Comparison"},
    Option{"--digest", Takes::flag, {}, "graph: digests of structure and content", "Graph"},
    Option{"--history", Takes::flag, {}, "graph: the ledger", "Graph"},
    Option{"--require", Takes::value, "DEVICE,...", "env: devices that must be there", "Environment"},
    Option{"--provider-modules", Takes::value, "MODULE,...", "env: modules of kernels that must load: names as in Python, or libraries", "Environment"},
    Option{"--expect-env", Takes::value, "FILE.yaml", "env: compare with what --emit=yaml wrote on another machine", "Environment"},
    Option{"--emit", Takes::value, "yaml", "env: the compatibility matrix of this machine", "Environment"},
    Option{"--json", Takes::flag, {}, "graph, outputs, coverage, diff, env: the report as JSON", "Output"},
    Option{"-O", Takes::value, "0|1|2|3", "optimise before checking (an .onnx operand: as imported)", "Running"},
};

const Tool& tool() {
  static const std::vector<Option> options = [] {
    std::vector<Option> list(own.begin(), own.end());
    list.insert(list.end(), device_options().begin(), device_options().end());
    list.insert(list.end(), input_options().begin(), input_options().end());
    return list;
  }();
  static const Tool description{"it-check", "Checks a graph (graph), its outputs (outputs), what a device can run of it (coverage), what is different in another (diff), or this machine (env).",
                                "graph|outputs|coverage|env [FILE|-] | coverage FOLDER | diff A B", 1, 3, examples, options, verbs};
  return description;
}

// An option whose help begins with names of checks belongs to those alone.
Status refuse_foreign_options(const Arguments& arguments, std::string_view verb) {
  for (const Option& option : own) {
    std::string owners(option.help.substr(0, std::min(option.help.find(':'), option.help.size())));
    bool owned = false, ours = false;
    for (const std::string& owner : split(owners, ',')) {
      owned = owned || std::find(verbs.begin(), verbs.end(), trim(owner)) != verbs.end();
      ours = ours || trim(owner) == verb;
    }
    if (owned && !ours && arguments.has(option.names.substr(2))) {
      return usage_error(text(option.names, " belongs to it-check ", owners, ", not to it-check ", verb));
    }
  }
  return {};
}

Result<Input> read(const std::string& operand, const OpTable& ops, const Arguments& arguments, const Talk& talk) {
  IT_TRY(Input input, read_module(operand, ops, talk, true));
  if (arguments.has("O")) IT_TRY_VOID(optimise_operand(input, ops, arguments, talk));
  return input;
}

Result<int> diff(const Arguments& arguments, const Talk& talk) {
  const std::vector<std::string>& operands = arguments.operands();
  if (operands.size() != 3) return usage_error("it-check diff takes two graphs: it-check diff A B");
  if (operands[1] == "-" && operands[2] == "-") return usage_error("A and B cannot both be standard input");
  OpTable ops;
  IT_TRY(Input a, read(operands[1], ops, arguments, talk));
  IT_TRY(Input b, read(operands[2], ops, arguments, talk));
  return check_diff(a.module.graph, b.module.graph, arguments, talk);
}

Result<int> check(const Arguments& arguments, const Talk& talk) {
  const std::string& verb = arguments.operands()[0];
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return usage_error(text("there is no check '", verb, "': graph, outputs, coverage, diff or env"));
  }
  IT_TRY_VOID(refuse_foreign_options(arguments, verb));
  if (verb == "diff") return diff(arguments, talk);
  if (arguments.operands().size() > 2) return usage_error(text("unexpected operand '", arguments.operands()[2], "'"));
  if (verb == "env") return check_environment(arguments, talk);
  OpTable ops;
  std::string operand = arguments.operands().size() > 1 ? arguments.operands()[1] : "-";
  if (verb == "coverage") return check_coverage(operand, [&](const std::string& file) { return read(file, ops, arguments, talk); }, arguments, talk);
  IT_TRY(Input input, read(operand, ops, arguments, talk));
  if (verb == "graph") return check_graph(input.module, arguments, talk);
  return check_outputs(input.module, arguments, talk);
}

int work(const Arguments& arguments, const Talk& talk) {
  if (arguments.has("list-devices")) return print_page(list_devices(arguments), talk);
  Result<int> status = check(arguments, talk);
  return status ? *status : report(talk, status.error());
}

}  // namespace

// it_check_start.cpp has main.
extern "C" __attribute__((visibility("default"))) int it_check_main(int argc, char** argv) { return run_tool(tool(), argc, argv, work); }
