// GraphBuilder: nested graphs of a node, and clearing out what nothing reads.
#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/ir/builder_state.h"
#include "libcore/ir/infer_node.h"

namespace infini {
namespace {

using Numbers = std::set<std::uint64_t>;

void collect(const Type& type, Numbers& out) {
  for (std::uint64_t number : fresh_numbers(type)) out.insert(number);
}

void collect(const expr::DimTensor& dims, Numbers& out) {
  for (const std::optional<Dim>& element : dims.elements) {
    if (element) collect(Type::tensor(DType::i64, Shape{*element}), out);
  }
}

// Fresh dimensions of a graph and of the graphs in it.
void collect(const Graph& graph, Numbers& out) {
  for (const ValueInfo& value : graph.values()) collect(value.type, out);
  for (const Node& node : graph.nodes()) {
    for (const Body* body : bodies(node)) collect(*body->graph, out);
  }
}

// Those that a body has made itself: not its inputs' or captures', which may be the outer graph's.
Numbers own_numbers(const Graph& body) {
  Numbers own, outer;
  collect(body, own);
  if (own.empty()) return own;
  for (ValueId input : body.inputs()) collect(body.value(input).type, outer);
  for (ValueId capture : body.captures()) {
    collect(body.value(capture).type, outer);
    if (body.value(capture).dims) collect(*body.value(capture).dims, outer);
  }
  for (std::uint64_t number : outer) own.erase(number);
  return own;
}

using Replacements = std::vector<std::pair<std::string, Dim>>;

Dim replaced(Dim dim, const Replacements& symbols) {
  for (const auto& [symbol, replacement] : symbols) dim = dim.substitute(symbol, replacement);
  return dim;
}

Type replaced(Type type, const Replacements& symbols) {
  if (type.element) type.element = std::make_shared<const Type>(replaced(*type.element, symbols));
  if (type.shape) {
    for (Dim& dim : *type.shape) dim = replaced(dim, symbols);
  }
  return type;
}

}  // namespace

Graph GraphBuilder::renamed(const Graph& graph, const Replacements& symbols) {
  Graph out = graph;
  for (ValueInfo& value : out.values_) {
    value.type = replaced(std::move(value.type), symbols);
    if (!value.dims) continue;
    for (std::optional<Dim>& element : value.dims->elements) {
      if (element) element = replaced(*element, symbols);
    }
  }
  for (Node& node : out.nodes_) {
    Status done = for_each_body(node.attributes, [&](Body& body) -> Status {
      body.graph = std::make_shared<const Graph>(renamed(*body.graph, symbols));
      return {};
    });
    IT_CHECK(done.has_value());
  }
  return out;
}

Status GraphBuilder::settle_bodies(Node& node) {
  return for_each_body(node.attributes, [this](Body& body) -> Status {
    if (!body.graph) return internal_error("has no graph");
    if (body.captures.size() != body.graph->captures().size()) {
      return internal_error(text("captures ", body.graph->captures().size(), " values, but is given ", body.captures.size()));
    }
    Replacements apart;
    Numbers own = own_numbers(*body.graph);
    if (!own.empty()) state_->keep(*own.rbegin());
    for (std::uint64_t number : own) {
      std::uint64_t now = number;
      if (state_->used.contains(number)) {
        now = *state_->next_fresh;
        apart.emplace_back(text("#", number), Dim::symbol(text("#", now)));
      }
      state_->keep(now);
      state_->used.insert(now);
    }
    if (!apart.empty()) body.graph = std::make_shared<const Graph>(renamed(*body.graph, apart));
    return {};
  });
}

void GraphBuilder::drop_unread() {
  Uses uses = uses_of(graph_);
  std::vector<ValueId> moved(graph_.values_.size());
  std::vector<ValueInfo> left;
  std::vector<bool> captured(graph_.values_.size());
  for (ValueId capture : graph_.captures_) captured[capture.at()] = true;
  for (std::size_t i = 0; i < graph_.values_.size(); ++i) {
    bool may_go = graph_.values_[i].constant || captured[i];
    if (may_go && uses.count(value_id(i)) == 0) continue;
    moved[i] = value_id(left.size());
    left.push_back(std::move(graph_.values_[i]));
  }
  graph_.values_ = std::move(left);
  auto move = [&moved](std::vector<ValueId>& list) {
    for (ValueId& value : list) value = value ? moved[value.at()] : value;
  };
  for (Node& node : graph_.nodes_) {
    move(node.inputs);
    move(node.outputs);
    Status done = for_each_body(node.attributes, [&](Body& body) -> Status {
      move(body.captures);
      return {};
    });
    IT_CHECK(done.has_value());
  }
  move(graph_.inputs_);
  move(graph_.outputs_);
  move(graph_.captures_);
  std::erase_if(graph_.captures_, [](ValueId value) { return !value; });
}

}  // namespace infini
