#include "tools/cli/bench_ab.h"

#include <chrono>
#include <random>

#include "libcore/base/text.h"
#include "libcore/exec/ab.h"
#include "tools/cli/bench_report.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

struct Side {
  std::string name;  // the operand
  std::string level; // " (-O2)" where it was optimised here
  Input input;
  BoundInputs bound;
  std::unique_ptr<Executor> executor;
};

constexpr std::array<std::string_view, 2> letters = {"A", "B"};
constexpr double wide = 0.02;  // an interval that reaches further leaves open what people ask about

Status refuse_foreign_options(const Arguments& arguments) {
  for (std::string_view key : {"warmup", "iterations", "percentile", "profile", "save-inputs"}) {
    if (arguments.has(key)) return usage_error(text("--", key, " is not for it-bench ab"));
  }
  if (arguments.operands().size() != 3) return usage_error("it-bench ab takes two graphs: it-bench ab A B");
  if (arguments.operands()[1] == "-" && arguments.operands()[2] == "-") return usage_error("A and B cannot both be standard input");
  return {};
}

Result<Side> read_side(const std::string& operand, const OpTable& ops, const Arguments& arguments, const Talk& talk) {
  Side side;
  side.name = operand;
  IT_TRY(side.input, read_module(operand, ops, talk, true));
  if (side.input.imported || arguments.has("O")) side.level = text(" (-O", arguments.get("O", "2"), ")");
  IT_TRY_VOID(optimise_operand(side.input, ops, arguments, talk));
  return side;
}

// Inputs, plan, packed weights and buffers, all new. What there is to say is said the first time.
Status prepare(Side& side, const Devices& devices, const Arguments& arguments, const Talk& talk, bool first_time) {
  const Module& module = side.input.module;
  IT_TRY(side.bound, within(side.name, bind_inputs(module, arguments)));
  if (first_time) {
    for (const std::string& line : side.bound.made_up) talk.notice(text(side.name, ": ", line));
    IT_TRY(side.executor, make_executor(module.graph, devices, {}, talk));
  } else {
    ExecOptions options;
    options.devices = devices;
    IT_TRY(side.executor, Executor::make(std::make_shared<const Graph>(module.graph), std::move(options)));
  }
  return {};
}

Status run(Side& side) {
  IT_TRY([[maybe_unused]] std::vector<Value> outputs, within(side.name, side.executor->run(side.bound.values)));
  return {};
}

Result<AbResult> measure(std::array<Side, 2>& sides, const Devices& devices, double seconds, const Arguments& arguments, const Talk& talk) {
  bool first_time = true;
  AbSubject subject;
  subject.prepare = [&](std::size_t first) -> Status {
    for (Side& side : sides) side.executor.reset();
    for (std::size_t i : {first, 1 - first}) {
      IT_TRY_VOID(prepare(sides[i], devices, arguments, talk, first_time));
      IT_TRY_VOID(run(sides[i]));
    }
    first_time = false;
    return {};
  };
  subject.run = [&](std::size_t side) { return run(sides[side]); };
  auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  return measure_ab(subject, {.seconds = seconds, .seed = std::random_device()(), .now = now});
}

std::string percent(double share) { return fixed(100 * share, 1); }

std::string verdict(const AbResult& result) {
  const Interval& change = result.change;
  switch (result.verdict) {
    case AbVerdict::faster: return text("B is ", percent(-change.centre), " % faster (95 % interval ", percent(-change.high), " to ", percent(-change.low), " %)");
    case AbVerdict::slower: return text("B is ", percent(change.centre), " % slower (95 % interval ", percent(change.low), " to ", percent(change.high), " %)");
    case AbVerdict::no_difference: break;
  }
  double unseen = std::max(-change.low, change.high);
  return text("no difference found (B's time less A's: ", percent(change.centre), " %, 95 % interval ", percent(change.low), " to ", percent(change.high), " %)",
              unseen > wide ? text("\none of ", percent(unseen), " % would not be seen: a quieter machine, or a longer --duration, tells more") : "");
}

std::string to_text(const std::array<Side, 2>& sides, const AbResult& result) {
  std::string out;
  for (std::size_t i : {0u, 1u}) {
    const std::vector<double>& times = result.times_ms[i];
    out += text(letters[i], "       median ", fixed(median(times), 3), " ms, min ", fixed(percentile(times, 0), 3), " ms, ", times.size(), " runs of ", printable(sides[i].name), sides[i].level, "\n");
  }
  return out + text("rounds  ", result.rounds.size(), ", each with both made anew; drift ", percent(result.drift), " %\n", verdict(result), "\n");
}

std::string to_json(const std::array<Side, 2>& sides, const AbResult& result, const std::string& device) {
  constexpr std::array<std::string_view, 3> verdicts = {"no_difference", "faster", "slower"};
  std::vector<double> rounds;
  for (double change : result.rounds) rounds.push_back(100 * change);
  std::string out = text("{\"schema\": \"it-bench-ab/1\", \"device\": ", json_text(device), ", \"verdict\": \"", verdicts[static_cast<std::size_t>(result.verdict)],
                         "\", \"change_percent\": ", 100 * result.change.centre, ", \"interval_percent\": [", 100 * result.change.low, ", ", 100 * result.change.high,
                         "], \"confidence\": ", ab_confidence, ", \"drift_percent\": ", 100 * result.drift, ",\n \"rounds_percent\": [", join(rounds, ", "), "]");
  for (std::size_t i : {0u, 1u}) {
    const std::vector<double>& times = result.times_ms[i];
    out += text(",\n \"", lower(letters[i]), "\": {\"file\": ", json_text(sides[i].name), ", \"median_ms\": ", median(times), ", \"min_ms\": ", percentile(times, 0),
                ", \"mean_ms\": ", mean(times), ", \"runs\": ", times.size(), "}");
  }
  return out + "}\n";
}

}  // namespace

Result<int> bench_ab(const Arguments& arguments, const Talk& talk) {
  IT_TRY_VOID(refuse_foreign_options(arguments));
  IT_TRY(double seconds, number_option(arguments, "duration", AbOptions().seconds));
  IT_TRY(double limit, number_option(arguments, "fail-if-slower", 0));
  OpTable ops;
  IT_TRY(Devices devices, open_devices(arguments));
  std::array<Side, 2> sides;
  for (std::size_t i : {0u, 1u}) {
    IT_TRY(sides[i], read_side(arguments.operands()[i + 1], ops, arguments, talk));
  }
  IT_TRY(AbResult result, measure(sides, devices, seconds, arguments, talk));
  if (arguments.has("json")) IT_TRY_VOID(write_page(arguments.get("json"), to_json(sides, result, devices[0]->name())));
  int written = arguments.get("json") == "-" ? 0 : print_page(to_text(sides, result), talk);
  if (written) return written;
  return arguments.has("fail-if-slower") && result.change.low > limit / 100 ? status_no : 0;
}

}  // namespace infini::cli
