#include "libcore/exec/report.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr std::size_t named_nodes = 3;

struct Group {
  const Refusal* example;
  std::size_t count = 0;
  std::vector<std::string> nodes;
};

std::string label(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.name.empty() ? text("node ", id.value) : text("'", node.name, "'");
}

}  // namespace

std::string grouped_report(const Graph& graph, std::span<const Refusal> refusals, bool brief) {
  auto what = [&](const Refusal& refusal) -> const std::string& { return brief ? graph.node(refusal.node).type : refusal.signature; };
  std::vector<Group> groups;
  for (const Refusal& refusal : refusals) {
    auto same = [&](const Group& g) {
      return what(*g.example) == what(refusal) && g.example->reason == refusal.reason && g.example->device == refusal.device;
    };
    auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{&refusal, 0, {}});
    ++group->count;
    if (group->nodes.size() < named_nodes) group->nodes.push_back(label(graph, refusal.node));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.count > b.count; });
  std::string out;
  for (const Group& group : groups) {
    std::string device = group.example->device.empty() ? "" : text(" on ", group.example->device);
    out += text("\n  ", group.count, " x ", what(*group.example), device, ": ", group.example->reason, " (", join(group.nodes, ", "),
                group.count > group.nodes.size() ? ", ...)" : ")");
  }
  return out;
}

}  // namespace infini
