#include "tools/cli/run_report.h"

#include "libcore/base/hash.h"
#include "libcore/base/text.h"
#include "tools/cli/print_values.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

std::string json_output(const std::string& name, const Value& value) {
  const Tensor* tensor = value.tensor();
  bool elements = tensor && tensor->dtype() != DType::str, numbers = tensor && has_statistics(*tensor);
  Statistics found = numbers ? statistics(*tensor) : Statistics();
  numbers = numbers && found.not_numbers < tensor->count();
  auto number = [numbers](double of) { return numbers ? json_double(of) : "null"; };
  return text("\n  {\"name\": ", json_text(name), ", \"type\": ", json_text(to_string(value.type())), ", \"shape\": ", tensor ? text("[", join(tensor->extents(), ", "), "]") : "null",
              ", \"min\": ", number(found.min), ", \"max\": ", number(found.max), ", \"mean\": ", number(found.mean), ", \"nan\": ", found.not_numbers,
              ", \"digest\": ", elements ? json_text(to_hex(content_hash(tensor->bytes()))) : "null", "}");
}

std::string json_comparison(const OutputReport& report) {
  std::vector<std::string> values, absent;
  for (const auto& [name, found] : report.compared) {
    values.push_back(text("\n  {\"name\": ", json_text(name), ", \"equal\": ", found.equal, ", \"mismatches\": ", found.mismatches, ", \"max_absolute\": ",
                          json_double(found.max_absolute), ", \"relative_l2\": ", json_double(found.relative_l2), ", \"reason\": ", json_text(found.reason), "}"));
  }
  for (const std::string& name : report.absent) absent.push_back(json_text(name));
  return text("{\"equal\": ", report.equal(), ", \"first_difference\": ", report.first.empty() ? "null" : json_text(report.first), ", \"absent\": [", join(absent, ", "),
              "], \"values\": [", join(values, ","), "]}");
}

}  // namespace

void RunReport::add(const Graph& graph, const Planned& planned, const Copies& between) {
  copies += between.count;
  for (const Refusal& refusal : planned.refusals) {
    fallbacks.push_back(text("\n  {\"node\": ", json_text(graph.node(refusal.node).name), ", \"op\": ", json_text(graph.node(refusal.node).type), ", \"refused_by\": ",
                             json_text(refusal.device), ", \"signature\": ", json_text(refusal.signature), ", \"reason\": ", json_text(refusal.reason), "}"));
  }
}

std::string to_json(const RunReport& report, const NamedValues& outputs, const std::optional<OutputReport>& found) {
  std::vector<std::string> written;
  for (const auto& [name, value] : outputs) written.push_back(json_output(name, value));
  return text("{\"schema\": \"it-run/1\", \"device\": ", json_text(report.device), ",\n \"phases_ms\": {\"read\": ", report.read_ms, ", \"optimise\": ", report.optimise_ms,
              ", \"load\": ", report.load_ms, ", \"run\": ", report.run_ms, "}, \"arena_bytes\": ", report.arena_bytes, ",\n \"outputs\": [", join(written, ","),
              "],\n \"comparison\": ", found ? json_comparison(*found) : "null", ",\n \"copies\": ", report.copies, ", \"fallbacks\": [", join(report.fallbacks, ","), "]}\n");
}

}  // namespace infini::cli
