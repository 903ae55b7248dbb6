#include "tools/cli/session.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/exec/report.h"
#include "libcore/tensor/compare.h"
#include "tools/cli/pass_options.h"

namespace infini::cli {
namespace {

constexpr double default_rtol = 1e-3, default_atol = 1e-7;

std::string verdict(const std::string& name, const Comparison& found) {
  if (found.equal) return text("ok       ", printable(name), ": relative L2 ", found.relative_l2, ", largest difference ", found.max_absolute);
  return text("DIFFERS  ", printable(name), ": ", found.reason, found.count > 0 ? text("; relative L2 ", found.relative_l2) : "");
}

}  // namespace

Result<double> number_option(const Arguments& arguments, std::string_view key, double otherwise, double least) {
  double value = otherwise;
  if (arguments.has(key) && (!parse_double(arguments.get(key), value) || !(value >= least) || value > 1e9)) {
    return usage_error(text("--", key, "=", arguments.get(key), ": expected a number, ", least, " or more"));
  }
  return value;
}

const Value* value_named(const NamedValues& values, std::string_view name) {
  auto found = std::find_if(values.begin(), values.end(), [name](const auto& entry) { return entry.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

Status optimise_operand(Input& input, const OpTable& ops, const Arguments& arguments, const Talk& talk) {
  if (!input.imported && !arguments.has("O")) return {};
  IT_TRY(Pipeline pipeline, chosen_pipeline(arguments, 2));
  IT_TRY(input.module.graph, run_passes(input.module, pipeline, ops, arguments, talk));
  return {};
}

Result<std::unique_ptr<Executor>> make_executor(const Graph& graph, Devices devices, std::vector<std::string> observed, const Talk& talk) {
  ExecOptions options;
  options.devices = std::move(devices);
  options.observe = std::move(observed);
  auto said = std::make_shared<bool>(false);
  options.on_refusals = [&talk, said](const Graph& whole, const Planned& planned) {
    if (*said) return;
    *said = true;
    const std::vector<Step>& steps = planned.plan.steps;
    auto copies = std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.kind == Step::Kind::transfer; });
    talk.notice(text(planned.refusals.size(), " of ", whole.nodes().size(), " nodes go to a device that stands in, ", copies, " copies between devices:",
                     grouped_report(whole, planned.refusals)));
  };
  return Executor::make(std::make_shared<const Graph>(graph), std::move(options));
}

Result<NamedValues> named_inputs(const Graph& graph, const std::vector<Value>& values) {
  NamedValues out;
  for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(graph.value(graph.inputs()[i]).name, values[i]);
  return out;
}

Result<int> compare_outputs(const NamedValues& outputs, const NamedValues& expected, const Arguments& arguments, double rtol, double atol) {
  IT_TRY(double relative, number_option(arguments, "rtol", rtol));
  IT_TRY(double absolute, number_option(arguments, "atol", atol));
  if (expected.empty()) return bad_input("nothing to compare with: no outputs are expected");
  std::string page;
  int status = 0;
  for (const auto& [name, value] : expected) {
    const Value* output = value_named(outputs, name);
    if (!output) return bad_input(text("an output '", name, "' is expected, the graph has none of that name"));
    Comparison result = compare(*output, value, {.relative = relative, .absolute = absolute});
    if (!result.equal) status = status_no;
    page += verdict(name, result) + "\n";
  }
  for (const auto& [name, value] : outputs) {
    if (!value_named(expected, name)) page += text("skipped  ", printable(name), ": nothing is expected of it\n");
  }
  IT_TRY(FileWriter file, FileWriter::open("-"));
  IT_TRY_VOID(file.write(std::string_view(page)));
  IT_TRY_VOID(file.commit());
  return status;
}

Result<int> compare_with_file(const NamedValues& outputs, const Arguments& arguments) {
  IT_TRY(NamedValues expected, load_npz(arguments.get("expect")));
  return compare_outputs(outputs, expected, arguments, default_rtol, default_atol);
}

int print_page(const std::string& page, const Talk& talk) {
  Result<FileWriter> file = FileWriter::open("-");
  Status written = file ? file->write(std::string_view(page)) : Status(file.error());
  if (written) written = file->commit();
  return written ? 0 : report(talk, written.error());
}

}  // namespace infini::cli
