#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "libcore/wire/wire.h"
#include "tools/cli/checks.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

struct Finding {
  std::string_view code, severity;
  std::string message;
};

void lint(const Graph& graph, std::vector<Finding>& findings) {
  Uses uses = uses_of(graph);
  for (ValueId input : graph.inputs()) {
    if (uses.count(input) == 0) findings.push_back({"IT-G001", "warning", text("input '", graph.value(input).name, "' is not read")});
  }
  std::map<std::string, std::size_t> carried;
  for (const Node& node : graph.nodes()) {
    if (!node.op) ++carried[node.domain.empty() ? node.type : text(node.domain, ".", node.type)];
    bool read = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return v && uses.count(v) > 0; });
    if (!read) findings.push_back({"IT-G002", "warning", text(node.type, " '", node.name, "': nobody reads its results (it-opt --passes=dce drops it)")});
    for (ValueId output : node.outputs) {
      if (output && graph.value(output).type.is_tensor() && !graph.value(output).type.shape) {
        findings.push_back({"IT-G003", "note", text("'", graph.value(output).name, "': the rank is not known before it runs")});
      }
    }
    for (const Body* body : bodies(node)) lint(*body->graph, findings);
  }
  for (const auto& [op, count] : carried) findings.push_back({"IT-G004", "warning", text(op, ": ", count, " nodes are carried, not understood; no device runs them")});
  for (const ValueInfo& value : graph.values()) {
    bool absent = value.constant && std::holds_alternative<AbsentPayload>(value.constant->payload);
    if (absent) findings.push_back({"IT-G005", "note", text("constant '", value.name, "' has no content (--no-weights)")});
  }
}

std::string summary(const Graph& graph) {
  std::map<std::string, std::size_t> counts;
  std::size_t constants = 0, bytes = 0;
  for (const Node& node : graph.nodes()) ++counts[node.domain.empty() ? node.type : text(node.domain, ".", node.type)];
  for (const ValueInfo& value : graph.values()) {
    if (!value.constant) continue;
    ++constants;
    bytes += value.constant->size();
  }
  std::string out = text("graph ", infini::quoted(graph.name()), ": ", graph.nodes().size(), " nodes, ", constants, " constants of ", human_bytes(bytes), "\n");
  for (ValueId input : graph.inputs()) out += text("input   ", printable(graph.value(input).name), ": ", to_string(graph.value(input).type), "\n");
  for (ValueId output : graph.outputs()) out += text("output  ", printable(graph.value(output).name), ": ", to_string(graph.value(output).type), "\n");
  for (const Symbol& symbol : graph.symbols()) out += text("symbol  ", printable(symbol.name), " in ", symbol.bounds.lowest, "..", symbol.bounds.highest, "\n");
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [op, count] : sorted) out += text("nodes   ", count, " x ", printable(op), "\n");
  return out;
}

}  // namespace

Result<int> check_graph(const Module& module, const Arguments& arguments, const Talk& talk) {
  IT_TRY_VOID(check_contents(module.graph));
  std::vector<Finding> findings;
  lint(module.graph, findings);
  std::string page = summary(module.graph);
  if (arguments.has("digest")) {
    page += text("structure  ", to_hex(structure_digest(module.graph)), "\n");
    IT_TRY(Hash128 content, content_digest(module.graph));
    page += text("content    ", to_hex(content), "\n");
  }
  if (arguments.has("history")) {
    for (const LedgerEntry& entry : module.ledger) {
      page += text("ledger  ", entry.tool, " ", entry.version, " ", entry.options, entry.after ? text(" -> ", to_hex(*entry.after)) : "", "\n");
    }
  }
  for (const TestVector& test : module.tests) page += text("test    ", printable(test.name), ": ", test.inputs.size(), " inputs, ", test.outputs.size(), " outputs\n");
  bool wrong = false;
  for (const Finding& finding : findings) {
    page += text(finding.code, " ", finding.severity, ": ", printable(finding.message), "\n");
    wrong = wrong || finding.severity == "warning";
  }
  int written = print_page(page, talk);
  return written ? written : wrong ? status_no : 0;
}

}  // namespace infini::cli
