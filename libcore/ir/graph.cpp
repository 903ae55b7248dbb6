#include "libcore/ir/graph.h"

#include <algorithm>
#include <iterator>

#include "libcore/base/text.h"

namespace infini {

Origin merged(const Origin& a, const Origin& b) {
  Origin out;
  std::ranges::set_union(a, b, std::back_inserter(out));
  return out;
}

std::string to_string(const SymbolBounds& bounds) {
  return bounds.highest == SymbolBounds{}.highest ? text(bounds.lowest, "..") : text(bounds.lowest, "..", bounds.highest);
}

Uses uses_of(const Graph& graph) {
  Uses uses;
  uses.readers.resize(graph.values().size());
  uses.is_output.resize(graph.values().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    auto read = [&](ValueId value) {
      if (!value) return;
      std::vector<NodeId>& readers = uses.readers[value.at()];
      if (readers.empty() || readers.back() != node_id(i)) readers.push_back(node_id(i));
    };
    std::ranges::for_each(node.inputs, read);
    for (const Body* body : bodies(node)) std::ranges::for_each(body->captures, read);
  }
  for (ValueId output : graph.outputs()) uses.is_output[output.at()] = true;
  return uses;
}

std::vector<const Body*> bodies(const Node& node) {
  std::vector<const Body*> out;
  for (const Attribute& attribute : node.attributes) {
    if (const auto* body = std::get_if<Body>(&attribute.value)) out.push_back(body);
    if (const auto* list = std::get_if<std::vector<Body>>(&attribute.value)) {
      for (const Body& body : *list) out.push_back(&body);
    }
  }
  return out;
}

Status for_each_body(Attributes& attributes, const std::function<Status(Body&)>& change) {
  std::vector<std::string> names;
  for (const Attribute& attribute : attributes) {
    if (kind(attribute.value) == AttributeKind::body || kind(attribute.value) == AttributeKind::bodies) names.push_back(attribute.name);
  }
  for (const std::string& name : names) {
    AttributeValue value = *attributes.take(name);
    if (auto* body = std::get_if<Body>(&value)) IT_TRY_VOID(within(name, change(*body)));
    if (auto* list = std::get_if<std::vector<Body>>(&value)) {
      for (Body& body : *list) IT_TRY_VOID(within(name, change(body)));
    }
    attributes.set(name, std::move(value));
  }
  return {};
}

std::string describe(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return text(node.type, " '", node.name, "'");
  auto named = std::ranges::find_if(node.outputs, [](ValueId output) { return output.valid(); });
  return named == node.outputs.end() ? node.type : text(node.type, " (of '", graph.value(*named).name, "')");
}

std::vector<InputFact> input_facts(const Graph& graph, const Node& node) {
  std::vector<InputFact> facts;
  facts.reserve(node.inputs.size());
  for (ValueId input : node.inputs) {
    InputFact& fact = facts.emplace_back();
    if (!input) continue;
    const ValueInfo& value = graph.value(input);
    fact.type = &value.type;
    if (value.constant) fact.constant = value.constant->at_hand();
    if (value.dims) fact.dims = &*value.dims;
  }
  return facts;
}

}  // namespace infini
