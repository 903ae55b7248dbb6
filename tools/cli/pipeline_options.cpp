#include "tools/cli/pipeline_options.h"

#include <array>

#include "libcore/base/file.h"
#include "libcore/base/text.h"

namespace infini::cli {
namespace {

constexpr std::uint64_t max_pipeline_bytes = 1 << 20;

constexpr std::array options = {
    Option{"-O", Takes::value, "0|1|2|3", "level: 1 is exact, 2 and 3 add other roundings (2)", "Passes"},
    Option{"--passes", Takes::value, "PASS,...", "these passes: 'fold{max=1MiB},fix(canon,cse,dce){max=8}'", "Passes"},
    Option{"--pipeline", Takes::value, "FILE.yaml", "the passes of a file", "Passes"},
    Option{"--stop-after-pass", Takes::value, "PASS", "stop after this pass has run once", "Passes"},
    Option{"--stop-after", Takes::value, "N", "stop after N rewrites", "Passes"},
    Option{"--assume-finite", Takes::flag, {}, "no activation is infinite or NaN", "Passes"},
};

}  // namespace

std::span<const Option> pipeline_options() { return options; }

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

Status check_pass_name(const Arguments& arguments, std::string_view key) {
  std::string pass = arguments.get(key);
  if (!pass.empty() && !find_pass(pass)) return usage_error(text("--", key, ": there is no pass '", pass, "'; see it-opt --list-passes"));
  return {};
}

Result<PipelineOptions> driver_options(const Arguments& arguments) {
  PipelineOptions out;
  std::int64_t limit = 0;
  IT_TRY_VOID(check_pass_name(arguments, "stop-after-pass"));
  out.stop_after_pass = arguments.get("stop-after-pass");
  if (arguments.has("stop-after")) {
    if (!parse_int(arguments.get("stop-after"), limit) || limit < 0)
      return usage_error(text("--stop-after=", arguments.get("stop-after"), ": expected a number"));
    out.stop_after = static_cast<std::size_t>(limit);
  }
  out.assume_finite = arguments.has("assume-finite");
  return out;
}

std::string ledger_options(const Pipeline& pipeline, const Arguments& arguments) {
  std::string out = text("--passes=", to_string(pipeline));
  for (std::string_view key : {"stop-after-pass", "stop-after"}) {
    if (arguments.has(key)) out += text(" --", key, "=", arguments.get(key));
  }
  if (arguments.has("assume-finite")) out += " --assume-finite";
  return out;
}

}  // namespace infini::cli
