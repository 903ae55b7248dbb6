#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ir/element_text.h"
#include "libcore/ir/emit.h"

namespace infini {
namespace {

constexpr std::int64_t most_elements = 16;

// A number or true and false as they are; anything else quoted.
std::string json_element(const Tensor& tensor, std::int64_t index) {
  std::string element = element_text(tensor, index);
  if (tensor.dtype() == DType::str) return json_text(tensor.strings()[static_cast<std::size_t>(index)]);
  bool plain = tensor.dtype() == DType::boolean || (is_integer(tensor.dtype()) || (is_floating(tensor.dtype()) && std::isfinite(tensor.as_double(index))));
  return plain && !element.starts_with("0x") ? element : json_text(element);
}

std::string json_real(float value) { return std::isfinite(value) ? real_text(value) : json_text(real_text(value)); }

template <class List, class Item>
std::string json_list(const List& list, const Item& item) {
  std::vector<std::string> texts;
  for (const auto& element : list) texts.push_back(item(element));
  return text("[", join(texts, ","), "]");
}

std::string json_number(std::int64_t value) { return text(value); }

std::string json_elements(const Tensor& tensor) {
  if (tensor.count() > most_elements) return "null";
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < tensor.count(); ++i) texts.push_back(json_element(tensor, i));
  return text("[", join(texts, ","), "]");
}

std::string json_tensor(const Tensor& tensor) { return text(R"({"type":)", json_text(to_string(tensor.type())), R"(,"elements":)", json_elements(tensor), "}"); }

std::string json_dim(const Dim& dim) { return dim.is_constant() ? text(*dim.constant()) : json_text(dim.to_string()); }

std::string json_graph(const Graph& graph, const Graph* outer, const Body* body);

std::string json_name(const Graph& graph, ValueId id) { return id ? json_text(graph.value(id).name) : "null"; }

std::string json_attribute(const Graph& graph, const AttributeValue& value) {
  switch (kind(value)) {
    case AttributeKind::integer: return text(R"({"kind":"integer","value":)", std::get<std::int64_t>(value), "}");
    case AttributeKind::real: return text(R"({"kind":"real","value":)", json_real(std::get<float>(value)), "}");
    case AttributeKind::text: return text(R"({"kind":"text","value":)", json_text(std::get<std::string>(value)), "}");
    case AttributeKind::integers: return text(R"({"kind":"integers","value":)", json_list(std::get<std::vector<std::int64_t>>(value), json_number), "}");
    case AttributeKind::reals: return text(R"({"kind":"reals","value":)", json_list(std::get<std::vector<float>>(value), json_real), "}");
    case AttributeKind::texts: return text(R"({"kind":"texts","value":)", json_list(std::get<std::vector<std::string>>(value), json_text), "}");
    case AttributeKind::tensor: return text(R"({"kind":"tensor","value":)", json_tensor(std::get<Tensor>(value)), "}");
    case AttributeKind::type: return text(R"({"kind":"type","value":)", json_text(to_string(std::get<Type>(value))), "}");
    case AttributeKind::tensors: return text(R"({"kind":"tensors","value":)", json_list(std::get<std::vector<Tensor>>(value), json_tensor), "}");
    case AttributeKind::body: {
      const Body& body = std::get<Body>(value);
      return text(R"({"kind":"body","value":)", json_graph(*body.graph, &graph, &body), "}");
    }
    case AttributeKind::bodies: {
      auto one = [&graph](const Body& body) { return json_graph(*body.graph, &graph, &body); };
      return text(R"({"kind":"bodies","value":)", json_list(std::get<std::vector<Body>>(value), one), "}");
    }
  }
  return "null";
}

std::string_view payload_name(const Constant& constant) {
  constexpr std::array<std::string_view, 6> names = {"inline", "owned", "mapped", "file", "stream", "absent"};
  return names[constant.payload.index()];
}

std::string json_constant(const Constant& constant) {
  const Tensor* tensor = constant.at_hand();
  const auto* file = std::get_if<FilePayload>(&constant.payload);
  return text(R"({"payload":")", payload_name(constant), R"(","bytes":)", constant.size(), R"(,"file":)", file ? json_text(file->range.path) : "null",
              R"(,"offset":)", file ? text(file->range.offset) : "null", R"(,"elements":)", tensor ? json_elements(*tensor) : "null", "}");
}

std::string json_value(const ValueInfo& value) {
  const Type& type = value.type;
  return text(R"({"name":)", json_text(value.name), R"(,"type":)", json_text(to_string(type)), R"(,"dtype":)",
              type.is_tensor() ? json_text(name(type.dtype)) : "null", R"(,"shape":)", type.has_shape() ? json_list(*type.shape, json_dim) : "null",
              R"(,"producer":)", value.producer ? text(value.producer.value) : "null", R"(,"output":)", value.producer ? text(value.output) : "null",
              R"(,"constant":)", value.constant ? json_constant(*value.constant) : "null", "}");
}

std::string json_node(const Graph& graph, const Node& node) {
  auto names = [&graph](const std::vector<ValueId>& list) { return json_list(list, [&graph](ValueId id) { return json_name(graph, id); }); };
  std::vector<std::string> attributes;
  for (const Attribute& attribute : node.attributes) attributes.push_back(json_text(attribute.name) + ":" + json_attribute(graph, attribute.value));
  return text(R"({"op":)", json_text(node.type), R"(,"domain":)", json_text(node.domain), R"(,"version":)", node.version, R"(,"name":)", json_text(node.name),
              R"(,"inputs":)", names(node.inputs), R"(,"outputs":)", names(node.outputs), R"(,"attributes":{)", join(attributes, ","), R"(},"origin":)",
              json_list(node.origin, [](std::uint32_t source) { return text(source); }), "}");
}

std::string json_symbol(const Symbol& symbol) {
  bool open = symbol.bounds.highest == SymbolBounds{}.highest;
  return text(R"({"name":)", json_text(symbol.name), R"(,"lowest":)", symbol.bounds.lowest, R"(,"highest":)", open ? "null" : text(symbol.bounds.highest), "}");
}

std::string json_source(const SourceNode& source) {
  return text(R"({"path":)", json_list(source.path, [](std::uint32_t step) { return text(step); }), R"(,"op":)", json_text(source.op), R"(,"name":)",
              json_text(source.name), "}");
}

std::string json_graph(const Graph& graph, const Graph* outer, const Body* body) {
  auto names = [&graph](std::span<const ValueId> list) { return json_list(list, [&graph](ValueId id) { return json_name(graph, id); }); };
  auto pair = [](const auto& entry) { return text(R"({"key":)", json_text(entry.first), R"(,"value":)", json_text(entry.second), "}"); };
  std::string out = text("{", outer ? "" : R"("schema":"it-graph/1",)", R"("name":)", json_text(graph.name()), R"(,"symbols":)",
                         json_list(graph.symbols(), json_symbol), R"(,"metadata":)", json_list(graph.metadata(), pair), R"(,"inputs":)", names(graph.inputs()),
                         R"(,"captures":)", names(graph.captures()));
  if (outer) out += R"(,"from":)" + json_list(body->captures, [outer](ValueId id) { return json_name(*outer, id); });
  out += text(R"(,"outputs":)", names(graph.outputs()), R"(,"values":)", json_list(graph.values(), json_value), R"(,"nodes":)",
              json_list(graph.nodes(), [&graph](const Node& node) { return json_node(graph, node); }));
  if (!outer) out += R"(,"sources":)" + json_list(graph.sources(), json_source);
  return out + "}";
}

}  // namespace

std::string emit_json(const Graph& graph) { return json_graph(graph, nullptr, nullptr) + "\n"; }

}  // namespace infini
