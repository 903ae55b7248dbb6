#include "libcore/onnx/order.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "libcore/base/text.h"

namespace infini::onnx_files {
namespace {

std::vector<const onnx::GraphProto*> nested_graphs(const onnx::NodeProto& node) {
  std::vector<const onnx::GraphProto*> graphs;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) graphs.push_back(&attribute.g());
    for (const auto& graph : attribute.graphs()) graphs.push_back(&graph);
  }
  return graphs;
}

class Sorter {
 public:
  Sorter(const OrderRequest& request, Problems& problems) : request_(request), problems_(problems) {}

  std::optional<std::vector<int>> sort() {
    find_producers();
    count_dependencies();
    if (failed_) return std::nullopt;
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < size(); ++i) {
      if (waits_for_[at(i)] == 0) ready.push(i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
      int next = ready.top();
      ready.pop();
      order.push_back(next);
      for (int reader : readers_[at(next)]) {
        if (--waits_for_[at(reader)] == 0) ready.push(reader);
      }
    }
    if (static_cast<int>(order.size()) == size()) return order;
    report_cycle();
    return std::nullopt;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int size() const { return request_.nodes.size(); }

  std::string label(int i) const {
    Path path = request_.path;
    path.push_back(static_cast<std::uint32_t>(i));
    return node_label(request_.nodes[i], path);
  }

  void problem(int i, std::string message) {
    const onnx::NodeProto& node = request_.nodes[i];
    problems_.add(operator_name(node.domain(), node.op_type()), label(i), bad_input(std::move(message)));
    failed_ = true;
  }

  void find_producers() {
    for (int i = 0; i < size(); ++i) {
      for (const std::string& name : request_.nodes[i].output()) {
        if (name.empty()) continue;
        auto [known, is_new] = producer_.try_emplace(name, i);
        if (!is_new) problem(i, text("produces '", name, "', which node '", label(known->second), "' produces already"));
        if (request_.given.count(name)) problem(i, text("produces '", name, "', which is an input or initializer of the graph"));
      }
    }
  }

  void count_dependencies() {
    waits_for_.assign(at(size()), 0);
    readers_.resize(at(size()));
    sources_.resize(at(size()));
    for (int i = 0; i < size(); ++i) {
      for (const std::string& name : request_.nodes[i].input()) {
        if (name.empty() || depends_on(i, name) || request_.given.count(name) || request_.from_around(name)) continue;
        problem(i, text("reads '", name, "', which nothing produces"));
      }
      for (const onnx::GraphProto* graph : nested_graphs(request_.nodes[i])) {
        for (std::string_view name : free_names(*graph)) depends_on(i, name);
      }
    }
  }

  bool depends_on(int reader, std::string_view name) {
    auto producer = producer_.find(name);
    if (producer == producer_.end()) return false;
    readers_[at(producer->second)].push_back(reader);
    sources_[at(reader)].push_back(producer->second);
    ++waits_for_[at(reader)];
    return true;
  }

  // Nodes still waiting each wait for one that waits too: walking back must come round.
  void report_cycle() {
    int start = 0;
    while (waits_for_[at(start)] == 0) ++start;
    std::vector<int> walk;
    std::vector<int> seen(at(size()), -1);
    for (int i = start; seen[at(i)] < 0;) {
      seen[at(i)] = static_cast<int>(walk.size());
      walk.push_back(i);
      for (int source : sources_[at(i)]) {
        if (waits_for_[at(source)] > 0) {
          i = source;
          break;
        }
      }
      start = i;
    }
    std::vector<std::string> names = {label(start)};
    for (std::size_t k = walk.size(); k-- > static_cast<std::size_t>(seen[at(start)]);) names.push_back(label(walk[k]));
    problem(start, text("is part of a cycle: ", join(names, " -> ")));
  }

  const OrderRequest& request_;
  Problems& problems_;
  bool failed_ = false;
  std::unordered_map<std::string_view, int> producer_;
  std::vector<int> waits_for_;               // values that are not produced yet
  std::vector<std::vector<int>> readers_, sources_;
};

}  // namespace

Names free_names(const onnx::GraphProto& graph) {
  Names own, read;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& initializer : graph.initializer()) own.insert(initializer.name());
  for (const auto& sparse : graph.sparse_initializer()) own.insert(sparse.values().name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  for (const auto& node : graph.node()) {
    read.insert(node.input().begin(), node.input().end());
    for (const onnx::GraphProto* nested : nested_graphs(node)) read.merge(free_names(*nested));
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  for (std::string_view name : own) read.erase(name);
  read.erase("");
  return read;
}

std::optional<std::vector<int>> ordered(const OrderRequest& request, Problems& problems) { return Sorter(request, problems).sort(); }

}  // namespace infini::onnx_files
