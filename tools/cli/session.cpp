#include "tools/cli/session.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/exec/report.h"
#include "tools/cli/pass_options.h"

namespace infini::cli {
Result<double> number_option(const Arguments& arguments, std::string_view key, double otherwise, double least) {
  constexpr double most = 1e9;
  double value = otherwise;
  if (arguments.has(key) && (!parse_double(arguments.get(key), value) || !(value >= least && value <= most))) {
    return usage_error(text("--", key, "=", arguments.get(key), ": expected a number from ", least, " to ", most));
  }
  return value;
}

Result<std::int64_t> count_option(const Arguments& arguments, std::string_view key, std::int64_t otherwise, std::int64_t least) {
  constexpr std::int64_t most = 1'000'000'000;
  std::int64_t value = otherwise;
  if (arguments.has(key) && (!parse_int(arguments.get(key), value) || value < least || value > most)) {
    return usage_error(text("--", key, "=", arguments.get(key), ": expected a whole number from ", least, " to ", most));
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

Result<std::unique_ptr<Executor>> make_executor(const Graph& graph, Devices devices, std::vector<std::string> observed, const Talk& talk, OnRefusals also) {
  ExecOptions options;
  options.devices = std::move(devices);
  options.observe = std::move(observed);
  auto said = std::make_shared<bool>(false);
  options.on_refusals = [&talk, said, devices = options.devices, also = std::move(also)](const Graph& whole, const Planned& planned) {
    Copies copies = copies_of(planned.plan, devices);
    if (also) also(whole, planned, copies);
    if (*said) return;
    *said = true;
    talk.notice(text(planned.refusals.size(), " of ", whole.nodes().size(), " nodes go to a device that stands in, ", copies.count, " copies between devices:",
                     grouped_report(whole, planned.refusals, true)));
  };
  return Executor::make(std::make_shared<const Graph>(graph), std::move(options));
}

Status write_page(const std::string& path, const std::string& page) {
  IT_TRY(FileWriter file, FileWriter::open(path));
  IT_TRY_VOID(file.write(std::string_view(page)));
  return file.commit();
}

Result<NamedValues> named_inputs(const Graph& graph, const std::vector<Value>& values) {
  NamedValues out;
  for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(graph.value(graph.inputs()[i]).name, values[i]);
  return out;
}

int print_page(const std::string& page, const Talk& talk) {
  Status written = write_page("-", page);
  return written ? 0 : report(talk, written.error());
}

}  // namespace infini::cli
