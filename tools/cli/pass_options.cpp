#include "tools/cli/pass_options.h"

#include <array>
#include <cmath>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/verify/numeric.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

constexpr std::uint64_t max_pipeline_bytes = 1 << 20;

constexpr std::array options = {
    Option{"-O", Takes::value, "0|1|2|3", "level: 1 is exact, 2 and 3 add other roundings (2)", "Passes"},
    Option{"--passes", Takes::value, "LIST", "these passes: 'fold{max=1MiB},fix(canon,cse,dce){max=8}'", "Passes"},
    Option{"--pipeline", Takes::value, "FILE.yaml", "the passes of a file", "Passes"},
    Option{"--list-passes", Takes::flag, {}, "list passes and exit", "Passes"},
    Option{"--print-pipeline", Takes::flag, {}, "print the pipeline to stderr", "Passes"},
    Option{"--stats", Takes::flag, {}, "time, rewrites and nodes per pass, to stderr", "Passes"},
    Option{"--stop-after-pass", Takes::value, "PASS", "stop after this pass has run once", "Passes"},
    Option{"--stop-after", Takes::value, "N", "stop after N rewrites", "Passes"},
    Option{"--print-ir-after", Takes::optional_value, "PASS", "print the graph to stderr after each pass, or after one", "Passes"},
    Option{"--print-ir-after-change", Takes::flag, {}, "print the graph to stderr after each pass that changed it", "Passes"},
    Option{"--verify-each", Takes::value, "numeric", "run the graph after each pass and hold the pass to its class", "Passes"},
    Option{"--explain", Takes::value, "PASS", "say why PASS left alone what it almost took", "Passes"},
    Option{"--assume-finite", Takes::flag, {}, "no activation is infinite or NaN", "Passes"},
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

std::span<const Option> pass_options() { return options; }

Result<Pipeline> chosen_pipeline(const Arguments& arguments, int level) {
  int given = (arguments.has("O") ? 1 : 0) + (arguments.has("passes") ? 1 : 0) + (arguments.has("pipeline") ? 1 : 0);
  if (given > 1) return usage_error("-O, --passes and --pipeline exclude each other");
  if (arguments.has("passes")) return within("--passes", parse_pipeline(arguments.get("passes")));
  if (arguments.has("pipeline")) {
    std::string path = arguments.get("pipeline");
    IT_TRY(std::vector<std::byte> bytes, read_file(path, max_pipeline_bytes));
    return within(path, parse_pipeline_yaml(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  std::int64_t number = level;
  if (arguments.has("O") && (!parse_int(arguments.get("O"), number) || number < 0 || number > 3)) {
    return usage_error(text("-O", arguments.get("O"), ": levels are 0 to 3"));
  }
  return level_pipeline(static_cast<int>(number));
}

Result<Graph> run_passes(const Module& module, const Pipeline& pipeline, const OpTable& ops, const Arguments& arguments, const Talk& talk) {
  PipelineOptions chosen;
  std::int64_t limit = 0;
  chosen.stop_after_pass = arguments.get("stop-after-pass");
  for (std::string_view key : {"stop-after-pass", "explain", "print-ir-after"}) {
    std::string pass = arguments.get(key);
    if (!pass.empty() && !find_pass(pass)) return usage_error(text("--", key, ": there is no pass '", pass, "'; see it-opt --list-passes"));
  }
  if (arguments.has("stop-after")) {
    if (!parse_int(arguments.get("stop-after"), limit) || limit < 0) return usage_error(text("--stop-after=", arguments.get("stop-after"), ": expected a number"));
    chosen.stop_after = static_cast<std::size_t>(limit);
  }
  chosen.assume_finite = arguments.has("assume-finite");
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

std::string ledger_options(const Pipeline& pipeline, const Arguments& arguments) {
  std::string out = text("--passes=", to_string(pipeline));
  for (std::string_view key : {"stop-after-pass", "stop-after"}) {
    if (arguments.has(key)) out += text(" --", key, "=", arguments.get(key));
  }
  if (arguments.has("assume-finite")) out += " --assume-finite";
  return out;
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
