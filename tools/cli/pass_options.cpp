#include "tools/cli/pass_options.h"

#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/verify/numeric.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

constexpr std::array shown = {
    Option{"--list-passes", Takes::flag, {}, "list passes and exit", "Passes"},
    Option{"--print-pipeline", Takes::flag, {}, "print the pipeline to stderr", "Passes"},
    Option{"--stats", Takes::flag, {}, "time, rewrites and nodes per pass, to stderr", "Passes"},
    Option{"--print-ir-after", Takes::optional_value, "PASS", "print the graph to stderr after each pass, or after one", "Passes"},
    Option{"--print-ir-after-change", Takes::flag, {}, "print the graph to stderr after each pass that changed it", "Passes"},
    Option{"--verify-each", Takes::value, "numeric", "run the graph after each pass and hold the pass to its class", "Passes"},
    Option{"--explain", Takes::value, "PASS", "say why PASS left alone what it almost took", "Passes"},
};

// Relative L2 of an output: what a pass of that class may change. Rounding: f32 sums of some thousand terms.
double allowed_difference(Safety safety) {
  switch (safety) {
    case Safety::exact: return 0;
    case Safety::rounding: return 1e-5;
    case Safety::approx: return 1e-3;
    case Safety::lossy: break;
  }
  return 1e-1;
}

std::string stats_line(const PassReport& report) {
  std::string name(report.pass->name);
  name.resize(std::max<std::size_t>(name.size(), 22), ' ');
  return text(name, " ", std::floor(report.ms * 1000) / 1000, " ms, ", report.rewrites, " rewrites, ", report.nodes_before, " -> ",
              report.nodes_after, " nodes");
}

}  // namespace

std::span<const Option> pass_options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> list(pipeline_options().begin(), pipeline_options().end());
    list.insert(list.end(), shown.begin(), shown.end());
    return list;
  }();
  return all;
}

Result<Graph> run_passes(const Module& module, const Pipeline& pipeline, const OpTable& ops, const Arguments& arguments, const Talk& talk) {
  IT_TRY(PipelineOptions chosen, driver_options(arguments));
  for (std::string_view key : {"explain", "print-ir-after"}) IT_TRY_VOID(check_pass_name(arguments, key));
  chosen.explain = arguments.get("explain");
  std::optional<NumericCheck> numeric;
  if (arguments.has("verify-each")) {
    IT_TRY(Devices devices, open_reference());
    IT_TRY(BoundInputs inputs, bind_inputs(module, arguments));
    IT_TRY(numeric, NumericCheck::make(module.graph, std::move(devices), std::move(inputs.values)));
  }
  bool after_all = arguments.has("print-ir-after") && arguments.get("print-ir-after").empty();
  chosen.after_pass = [&](const PassReport& report, const Graph&, const Graph& after) -> Status {
    bool asked = after_all || arguments.get("print-ir-after") == report.pass->name;
    if (asked || (arguments.has("print-ir-after-change") && report.changed)) talk.notice(text("after ", report.pass->name, ":\n", print(after)));
    if (numeric && report.changed) return numeric->check(after, allowed_difference(report.pass->safety));
    return {};
  };
  if (arguments.has("print-pipeline")) talk.notice(to_string(pipeline));
  IT_TRY(PipelineResult result, run_pipeline(module.graph, pipeline, ops, chosen));
  if (arguments.has("stats")) {
    for (const PassReport& report : result.reports) talk.notice(stats_line(report));
  }
  for (const std::string& miss : result.near_misses) talk.notice(text(chosen.explain, ": ", miss));
  return std::move(result.graph);
}

int print_passes(const Talk& talk) {
  std::string out;
  for (const Pass* pass : all_passes()) {
    std::string left = text(pass->name);
    left.resize(std::max<std::size_t>(left.size() + 1, 24), ' ');
    std::string_view klass = name(pass->safety);
    out += text(left, klass, std::string(klass.size() < 10 ? 10 - klass.size() : 1, ' '), pass->summary, "\n");
    for (const PassOption& option : pass->options) out += text("    {", option.name, "=", option.standard, "}  ", option.summary, "\n");
  }
  for (int level : {1, 2, 3}) out += text("-O", level, ": ", to_string(level_pipeline(level)), "\n");
  return print_page(out, talk);
}

}  // namespace infini::cli
