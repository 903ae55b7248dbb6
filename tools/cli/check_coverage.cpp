#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "libcore/exec/planner.h"
#include "tools/cli/checks.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

// Where nodes of one operator on operands of one kind run, and why not.
struct Row {
  std::size_t count = 0;
  std::string device, kernel, reason;
};

std::string operand_kinds(const Graph& graph, const Node& node) {
  std::vector<std::string_view> kinds;
  for (ValueId input : node.inputs) {
    std::string_view dtype = input ? name(graph.value(input).type.dtype) : "-";
    if (kinds.empty() || kinds.back() != dtype) kinds.push_back(dtype);
  }
  return join(kinds, ",");
}

using Rows = std::map<std::pair<std::string, std::string>, Row>;

void add(Rows& rows, const Graph& graph, NodeId id, std::string device, std::string kernel, std::string reason) {
  const Node& node = graph.node(id);
  Row& row = rows[{text(node.type, " ", operand_kinds(graph, node)), text(device, "/", reason)}];
  ++row.count;
  row.device = std::move(device);
  row.kernel = std::move(kernel);
  row.reason = std::move(reason);
}

Result<Planned> plan_all(const Graph& graph, const Devices& devices, std::span<const Value> inputs) {
  std::vector<std::optional<Type>> live(graph.values().size());
  std::vector<std::optional<Tensor>> known(graph.values().size());
  for (std::size_t i = 0; i < inputs.size(); ++i) live[graph.inputs()[i].at()] = inputs[i].type();
  for (std::size_t v = 0; v < live.size(); ++v) {
    if (!graph.values()[v].constant) continue;
    live[v] = graph.values()[v].constant->type();
    IT_TRY(known[v], load(*graph.values()[v].constant));
  }
  std::unique_ptr<bool[]> wanted = std::make_unique<bool[]>(live.size());
  std::vector<std::size_t> last_use(live.size(), SIZE_MAX);
  PlanRequest request{.graph = graph,
                      .devices = devices,
                      .cap = IT_ROUNDING,
                      .begin = 0,
                      .live = [&](ValueId id) { return live[id.at()] ? &*live[id.at()] : nullptr; },
                      .known = [&](ValueId id) { return known[id.at()] ? &*known[id.at()] : nullptr; },
                      .wanted = std::span(wanted.get(), live.size()),
                      .last_use = last_use};
  return make_plan(request);
}

// Each node once.
Rows rows_of(const Graph& graph, const Planned& planned, const Devices& devices) {
  Rows rows;
  std::vector<bool> told(graph.nodes().size());
  for (const Refusal& refusal : planned.unsupported) {
    if (!told[refusal.node.at()]) add(rows, graph, refusal.node, "-", "", refusal.reason);
    told[refusal.node.at()] = true;
  }
  for (const Step& step : planned.plan.steps) {
    if (step.kind != Step::Kind::kernel || told[step.node.at()]) continue;
    add(rows, graph, step.node, devices[static_cast<std::size_t>(step.device)]->name(), step.kernel_name, "");
    told[step.node.at()] = true;
  }
  for (std::size_t n = 0; n < told.size(); ++n) {
    if (told[n]) continue;
    bool open = n >= planned.plan.end, refused = !planned.unsupported.empty();
    if (open) add(rows, graph, node_id(n), "host or later", "", "sizes are known only when it runs");
    else if (refused) add(rows, graph, node_id(n), devices[0]->name(), "", "looked at without those that do not run");
    else add(rows, graph, node_id(n), "host", "", "computed while planning, or a view that needs no work");
  }
  return rows;
}

}  // namespace

Result<int> check_coverage(const Module& module, const Arguments& arguments, const Talk& talk) {
  const Graph& graph = module.graph;
  IT_TRY(Devices devices, open_devices(arguments));
  IT_TRY(BoundInputs inputs, bind_inputs(module, arguments));
  IT_TRY(Planned planned, plan_all(graph, devices, inputs.values));
  Rows rows = rows_of(graph, planned, devices);
  std::vector<std::pair<std::string, Row>> sorted;
  for (auto& [key, row] : rows) sorted.emplace_back(key.first, row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::string page;
  bool missing = false;
  for (const auto& [op, row] : sorted) {
    missing = missing || row.device == "-";
    page += text(row.count, " x ", op, " on ", row.device, row.kernel.empty() ? "" : text(" by ", row.kernel), row.reason.empty() ? "" : text(": ", row.reason), "\n");
  }
  page += text(missing ? "no" : "yes", ": ", graph.nodes().size(), " nodes on ", arguments.get("device", "cpu"), "\n");
  int written = print_page(page, talk);
  return written ? written : missing ? status_no : 0;
}

}  // namespace infini::cli
