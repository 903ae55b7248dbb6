// it-bench: how long a graph takes, and where the time goes; and which of two takes longer.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <map>

#include "libcore/base/text.h"
#include "tools/cli/bench_ab.h"
#include "tools/cli/bench_report.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 4> examples = {
    "it-bench model.onnx --threads 2",
    "it-import model.onnx | it-opt -O2 | it-bench --duration 10 --json result.json",
    "it-bench model.itg --profile",
    "it-bench ab old.itg new.itg",
};

constexpr std::array<std::string_view, 1> verbs = {"ab"};

constexpr std::array own = {
    Option{"--warmup", Takes::value, "N", "runs before measuring (2)", "Measuring"},
    Option{"--iterations", Takes::value, "N", "measured runs", "Measuring"},
    Option{"--duration", Takes::value, "SECONDS", "measure for so long (3; ab: 50)", "Measuring"},
    Option{"--percentile", Takes::value, "P,...", "percentiles to print (50,90,99)", "Measuring"},
    Option{"--profile", Takes::flag, {}, "time per node, by origin and device", "Measuring"},
    Option{"--fail-if-slower", Takes::value, "PERCENT", "ab: status 1 if B is slower by more than that, for all the interval", "Measuring"},
    Option{"--json", Takes::value, "FILE", "the result as JSON", "Output"},
    Option{"-O", Takes::value, "0|1|2|3", "optimise before running (an .onnx operand: 2; a stream: as it is)", "Running"},
};

const Tool& tool() {
  static const std::vector<Option> options = [] {
    std::vector<Option> list(own.begin(), own.end());
    list.insert(list.end(), input_options().begin(), input_options().end());
    list.insert(list.end(), device_options().begin(), device_options().end());
    return list;
  }();
  static const Tool description{"it-bench", "Measures how long a graph takes to run, or which of two takes longer (ab).", "[FILE|-] | ab A B", 0, 3, examples, options, verbs};
  return description;
}

std::size_t peak_memory() {
  struct rusage used {};
  return getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<std::size_t>(used.ru_maxrss) * 1024 : 0;  // Linux counts in KiB
}

// Runs until the count or the time is reached; the times in ms.
Result<std::vector<double>> measure(Executor& executor, std::span<const Value> inputs, std::int64_t iterations, double seconds) {
  std::vector<double> times;
  Clock whole, each;
  double spent = 0;
  while (iterations > 0 ? std::ssize(times) < iterations : spent < seconds * 1000 || times.empty()) {
    each.lap();
    IT_TRY([[maybe_unused]] std::vector<Value> outputs, executor.run(inputs));
    times.push_back(each.lap());
    spent += whole.lap();
  }
  return times;
}

Result<int> bench(const Arguments& arguments, const Talk& talk) {
  if (arguments.operands().size() > 1) return usage_error(text("unexpected operand '", arguments.operands()[1], "' (two graphs: it-bench ab A B)"));
  if (arguments.has("fail-if-slower")) return usage_error("--fail-if-slower belongs to it-bench ab");
  IT_TRY(std::int64_t warmup, count_option(arguments, "warmup", 2));
  IT_TRY(std::int64_t iterations, count_option(arguments, "iterations", 0, 1));
  IT_TRY(double seconds, number_option(arguments, "duration", 3));
  if (arguments.has("iterations") && arguments.has("duration")) return usage_error("--iterations and --duration exclude each other");
  BenchReport out;
  IT_TRY(out.percentiles, percentile_list(arguments.get("percentile", "50,90,99")));
  OpTable ops;
  Clock clock;
  IT_TRY(Devices devices, open_devices(arguments));
  IT_TRY(Input input, read_module(arguments.operands().empty() ? "-" : arguments.operands()[0], ops, talk, true));
  out.read_ms = clock.lap();
  IT_TRY_VOID(optimise_operand(input, ops, arguments, talk));
  out.optimise_ms = clock.lap();
  IT_TRY(BoundInputs inputs, bind_inputs(input.module, arguments));
  for (const std::string& line : inputs.made_up) talk.notice(line);
  clock.lap();
  out.device = devices[0]->name();
  IT_TRY(std::unique_ptr<Executor> executor, make_executor(input.module.graph, devices, {}, talk));
  out.load_ms = clock.lap();
  IT_TRY([[maybe_unused]] std::vector<Value> first, executor->run(inputs.values));
  out.first_run_ms = clock.lap();
  first.clear();
  if (warmup > 0) {
    IT_TRY([[maybe_unused]] std::vector<double> ignored, measure(*executor, inputs.values, warmup, 0));
  }
  IT_TRY(out.times_ms, measure(*executor, inputs.values, iterations, seconds));
  out.arena_bytes = executor->arena_bytes();
  out.peak_bytes = peak_memory();
  if (arguments.has("profile")) {
    IT_TRY(out.profile, profile(input.module.graph, devices, inputs.values, std::max<std::int64_t>(iterations, 3)));
  }
  if (arguments.has("json")) IT_TRY_VOID(write_page(arguments.get("json"), to_json(out)));
  return arguments.get("json") == "-" ? 0 : print_page(to_text(out), talk);
}

int work(const Arguments& arguments, const Talk& talk) {
  if (arguments.has("list-devices")) return print_page(list_devices(arguments), talk);
  bool two = !arguments.operands().empty() && arguments.operands()[0] == "ab";
  Result<int> status = two ? bench_ab(arguments, talk) : bench(arguments, talk);
  return status ? *status : report(talk, status.error());
}

}  // namespace

int main(int argc, char** argv) { return run_tool(tool(), argc, argv, work); }
