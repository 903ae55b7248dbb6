#include "tools/cli/output_report.h"

#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "tools/cli/print_values.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

std::string verdict(const std::string& name, const Comparison& found) {
  if (found.equal) return text("ok       ", printable(name), ": relative L2 ", found.relative_l2, ", largest difference ", found.max_absolute);
  return text("DIFFERS  ", printable(name), ": ", found.reason, found.count > 0 ? text("; relative L2 ", found.relative_l2) : "");
}

std::string json_comparison(const std::string& name, const Comparison& found) {
  return text("{\"name\": ", json_text(name), ", \"equal\": ", found.equal, ", \"elements\": ", found.count, ", \"mismatches\": ", found.mismatches, ", \"max_absolute\": ",
              json_double(found.max_absolute), ", \"max_relative\": ", json_double(found.max_relative), ", \"relative_l2\": ", json_double(found.relative_l2), ", \"cosine\": ",
              json_double(found.cosine), ", \"reason\": ", json_text(found.reason), "}");
}

using Makers = std::map<std::string, NodeId>;  // of values, by name; none: an input or a constant

std::string first_difference(const Graph& graph, const Makers& makers, const std::vector<std::pair<std::string, Comparison>>& compared) {
  auto differs = std::find_if(compared.begin(), compared.end(), [](const auto& entry) { return !entry.second.equal; });
  if (differs == compared.end()) return {};
  NodeId node = makers.at(differs->first);
  if (!node) return text(differs->first, ", which no node makes");
  std::size_t agreeing = 0, computed = 0;
  for (ValueId input : graph.node(node).inputs) {
    if (!input || !graph.value(input).producer) continue;
    ++computed;
    agreeing += std::any_of(compared.begin(), differs, [&](const auto& entry) { return entry.first == graph.value(input).name; });
  }
  std::string what = text(differs->first, ", made by ", describe(graph, graph.node(node)));
  return computed == agreeing ? what + (computed > 0 ? ", whose inputs agree" : ", which reads nothing computed") : what + "; what it reads was not all compared";
}

}  // namespace

bool OutputReport::equal() const {
  return std::all_of(compared.begin(), compared.end(), [](const auto& entry) { return entry.second.equal; });
}

Result<OutputReport> compare_outputs(std::string name, const NamedValues& outputs, const NamedValues& expected, const Arguments& arguments, const Tolerance& standard) {
  OutputReport out{.name = std::move(name), .tolerance = {}, .compared = {}, .skipped = {}};
  IT_TRY(out.tolerance.relative, number_option(arguments, "rtol", standard.relative));
  IT_TRY(out.tolerance.absolute, number_option(arguments, "atol", standard.absolute));
  if (expected.empty()) return bad_input("nothing to compare with: no outputs are expected");
  for (const auto& [wanted, value] : expected) {
    const Value* output = value_named(outputs, wanted);
    if (!output && arguments.has("dump")) {
      out.absent.push_back(wanted);
      continue;
    }
    if (!output) return bad_input(text("an output '", wanted, "' is expected, the graph has none of that name"));
    out.compared.emplace_back(wanted, compare(*output, value, out.tolerance));
  }
  if (out.compared.empty()) return bad_input(text("nothing to compare: of the names that are expected, '", expected[0].first, "' first, the graph has none"));
  for (const auto& [made, value] : outputs) {
    if (!value_named(expected, made)) out.skipped.push_back(made);
  }
  return out;
}

Result<OutputReport> compare_with_file(const Graph& graph, const NamedValues& outputs, const Arguments& arguments) {
  IT_TRY(NamedValues expected, load_npz(arguments.get("expect")));
  IT_TRY(OutputReport out, compare_outputs(arguments.get("expect"), outputs, expected, arguments, Tolerance()));
  Makers makers;
  for (const ValueInfo& value : graph.values()) makers[value.name] = value.producer;
  std::stable_sort(out.compared.begin(), out.compared.end(), [&makers](const auto& a, const auto& b) { return makers.at(a.first) < makers.at(b.first); });
  if (arguments.has("dump")) out.first = first_difference(graph, makers, out.compared);
  return out;
}

std::string to_text(const OutputReport& report) {
  std::string page;
  for (const auto& [name, found] : report.compared) page += verdict(name, found) + "\n";
  for (const std::string& name : report.skipped) page += text("skipped  ", printable(name), ": nothing is expected of it\n");
  for (const std::string& name : report.absent) page += text("skipped  ", printable(name), ": expected, and the graph gives no value of that name\n");
  if (!report.first.empty()) page += text("first difference: ", printable(report.first), "\n");
  return page;
}

std::string to_json(std::span<const OutputReport> reports, std::string_view device) {
  bool equal = std::all_of(reports.begin(), reports.end(), [](const OutputReport& report) { return report.equal(); });
  std::vector<std::string> tests;
  for (const OutputReport& report : reports) {
    std::vector<std::string> outputs, skipped;
    for (const auto& [name, found] : report.compared) outputs.push_back(json_comparison(name, found));
    for (const std::string& name : report.skipped) skipped.push_back(json_text(name));
    tests.push_back(text("{\"name\": ", json_text(report.name), ", \"equal\": ", report.equal(), ", \"rtol\": ", report.tolerance.relative, ", \"atol\": ", report.tolerance.absolute,
                         ",\n   \"skipped\": [", join(skipped, ", "), "],\n   \"outputs\": [\n    ", join(outputs, ",\n    "), "]}"));
  }
  return text("{\"schema\": \"it-outputs/1\", \"equal\": ", equal, ", \"device\": ", json_text(device), ",\n \"tests\": [\n  ", join(tests, ",\n  "), "]}\n");
}

}  // namespace infini::cli
