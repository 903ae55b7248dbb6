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

struct Summary {
  std::vector<std::pair<std::string, std::size_t>> operators;  // most frequent first
  std::size_t constants = 0, bytes = 0;
  std::optional<std::pair<Hash128, Hash128>> digests;  // structure, content
  std::vector<Finding> findings;
};

Result<Summary> summary(const Graph& graph, bool with_digests) {
  IT_TRY_VOID(check_contents(graph));
  Summary out;
  std::map<std::string, std::size_t> counts;
  for (const Node& node : graph.nodes()) ++counts[node.domain.empty() ? node.type : text(node.domain, ".", node.type)];
  out.operators.assign(counts.begin(), counts.end());
  std::stable_sort(out.operators.begin(), out.operators.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const ValueInfo& value : graph.values()) {
    if (!value.constant) continue;
    ++out.constants;
    out.bytes += value.constant->size();
  }
  if (with_digests) {
    IT_TRY(Hash128 content, content_digest(graph));
    out.digests.emplace(structure_digest(graph), content);
  }
  lint(graph, out.findings);
  return out;
}

std::string to_text(const Module& module, const Summary& found, bool history) {
  const Graph& graph = module.graph;
  std::string out = text("graph ", infini::quoted(graph.name()), ": ", graph.nodes().size(), " nodes, ", found.constants, " constants of ", human_bytes(found.bytes), "\n");
  for (ValueId input : graph.inputs()) out += text("input   ", printable(graph.value(input).name), ": ", to_string(graph.value(input).type), "\n");
  for (ValueId output : graph.outputs()) out += text("output  ", printable(graph.value(output).name), ": ", to_string(graph.value(output).type), "\n");
  for (const Symbol& symbol : graph.symbols()) out += text("symbol  ", printable(symbol.name), " in ", symbol.bounds.lowest, "..", symbol.bounds.highest, "\n");
  for (const auto& [op, count] : found.operators) out += text("nodes   ", count, " x ", printable(op), "\n");
  if (found.digests) out += text("structure  ", to_hex(found.digests->first), "\ncontent    ", to_hex(found.digests->second), "\n");
  if (history) {
    for (const LedgerEntry& entry : module.ledger) {
      out += text("ledger  ", entry.tool, " ", entry.version, " ", entry.options, entry.after ? text(" -> ", to_hex(*entry.after)) : "", "\n");
    }
  }
  for (const TestVector& test : module.tests) out += text("test    ", printable(test.name), ": ", test.inputs.size(), " inputs, ", test.outputs.size(), " outputs\n");
  for (const Finding& finding : found.findings) out += text(finding.code, " ", finding.severity, ": ", printable(finding.message), "\n");
  return out;
}

template <class List, class Item>
std::string json_list(const List& list, const Item& item) {
  std::vector<std::string> texts;
  for (const auto& element : list) texts.push_back("\n  " + item(element));
  return text("[", join(texts, ","), "]");
}

std::string to_json(const Module& module, const Summary& found, bool history) {
  const Graph& graph = module.graph;
  auto value = [&graph](ValueId id) { return text("{\"name\": ", json_text(graph.value(id).name), ", \"type\": ", json_text(to_string(graph.value(id).type)), "}"); };
  auto symbol = [](const Symbol& s) {
    bool open = s.bounds.highest == SymbolBounds{}.highest;
    return text("{\"name\": ", json_text(s.name), ", \"lowest\": ", s.bounds.lowest, ", \"highest\": ", open ? "null" : text(s.bounds.highest), "}");
  };
  auto operation = [](const auto& entry) { return text("{\"op\": ", json_text(entry.first), ", \"count\": ", entry.second, "}"); };
  auto stage = [](const LedgerEntry& entry) {
    return text("{\"tool\": ", json_text(entry.tool), ", \"version\": ", json_text(entry.version), ", \"options\": ", json_text(entry.options), ", \"structure\": ",
                entry.after ? json_text(to_hex(*entry.after)) : "null", "}");
  };
  auto test = [](const TestVector& t) { return text("{\"name\": ", json_text(t.name), ", \"inputs\": ", t.inputs.size(), ", \"outputs\": ", t.outputs.size(), "}"); };
  auto finding = [](const Finding& f) {
    return text("{\"code\": ", json_text(f.code), ", \"severity\": ", json_text(f.severity), ", \"message\": ", json_text(f.message), "}");
  };
  std::string digests = "null";
  if (found.digests) digests = text("{\"structure\": ", json_text(to_hex(found.digests->first)), ", \"content\": ", json_text(to_hex(found.digests->second)), "}");
  return text("{\"schema\": \"it-check-graph/1\", \"name\": ", json_text(graph.name()), ", \"nodes\": ", graph.nodes().size(), ", \"constants\": ", found.constants,
              ", \"constant_bytes\": ", found.bytes, ", \"digests\": ", digests, ",\n \"inputs\": ", json_list(graph.inputs(), value), ",\n \"outputs\": ",
              json_list(graph.outputs(), value), ",\n \"symbols\": ", json_list(graph.symbols(), symbol), ",\n \"operators\": ", json_list(found.operators, operation),
              ",\n \"history\": ", history ? json_list(module.ledger, stage) : "null", ",\n \"tests\": ", json_list(module.tests, test), ",\n \"findings\": ",
              json_list(found.findings, finding), "}\n");
}

}  // namespace

Result<int> check_graph(const Module& module, const Arguments& arguments, const Talk& talk) {
  IT_TRY(Summary found, summary(module.graph, arguments.has("digest")));
  bool history = arguments.has("history");
  int written = print_page(arguments.has("json") ? to_json(module, found, history) : to_text(module, found, history), talk);
  bool wrong = std::any_of(found.findings.begin(), found.findings.end(), [](const Finding& finding) { return finding.severity == "warning"; });
  return written ? written : wrong ? status_no : 0;
}

}  // namespace infini::cli
