#include "libcore/wire/encode.h"

#include <type_traits>
#include <unordered_map>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/messages.h"

namespace infini::wire {
namespace {

class Encoder {
 public:
  void graph(const Graph& graph, v1::Graph& message);
  EncodedGraph finish() && { return std::move(out_); }
  EncodedGraph& out() { return out_; }

 private:
  using Numbers = std::vector<std::uint32_t>;  // of values, on the wire

  std::uint32_t constant(const ConstantRef& constant, bool early);
  void node(const Graph& graph, const Node& node, Numbers& numbers, v1::Node& message);
  void attribute(const AttributeValue& value, const Numbers& numbers, v1::Attribute& message);
  void body(const Body& body, const Numbers& numbers, v1::Body& message);

  EncodedGraph out_;
  std::unordered_map<const Constant*, std::uint32_t> known_;
};

std::uint32_t Encoder::constant(const ConstantRef& constant, bool early) {
  auto [at, added] = known_.try_emplace(constant.get(), static_cast<std::uint32_t>(out_.constants.size()));
  if (added) {
    out_.constants.push_back(constant);
    out_.early.push_back(early);
  }
  return at->second;
}

void Encoder::body(const Body& body, const Numbers& numbers, v1::Body& message) {
  graph(*body.graph, *message.mutable_graph());
  for (ValueId value : body.captures) message.add_captures(numbers[value.at()]);
}

void Encoder::attribute(const AttributeValue& value, const Numbers& numbers, v1::Attribute& message) {
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::int64_t>) message.set_integer(held);
        if constexpr (std::is_same_v<T, float>) message.set_real(held);
        if constexpr (std::is_same_v<T, std::string>) message.set_text(held);
        if constexpr (std::is_same_v<T, Tensor>) message.set_tensor(constant(make_constant(held), true));
        if constexpr (std::is_same_v<T, Type>) *message.mutable_type() = encode_type(held);
        if constexpr (std::is_same_v<T, Body>) body(held, numbers, *message.mutable_body());
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) message.mutable_integers()->mutable_items()->Add(held.begin(), held.end());
        if constexpr (std::is_same_v<T, std::vector<float>>) message.mutable_reals()->mutable_items()->Add(held.begin(), held.end());
        if constexpr (std::is_same_v<T, std::vector<std::string>>) message.mutable_texts()->mutable_items()->Add(held.begin(), held.end());
        if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          message.mutable_tensors();
          for (const Tensor& item : held) message.mutable_tensors()->add_items(constant(make_constant(item), true));
        }
        if constexpr (std::is_same_v<T, std::vector<Body>>) {
          message.mutable_bodies();
          for (const Body& item : held) body(item, numbers, *message.mutable_bodies()->add_items());
        }
      },
      value);
}

void Encoder::node(const Graph& graph, const Node& node, Numbers& numbers, v1::Node& message) {
  message.set_domain(node.domain);
  message.set_op(node.type);
  message.set_carried(node.op == nullptr);
  message.set_version(node.version);
  message.set_overload(node.overload);
  message.set_name(node.name);
  for (ValueId input : node.inputs) message.add_inputs(input ? static_cast<std::int32_t>(numbers[input.at()]) : -1);
  for (const Attribute& item : node.attributes) {
    v1::Attribute& out = *message.add_attributes();
    out.set_name(item.name);
    attribute(item.value, numbers, out);
  }
  for (ValueId output : node.outputs) {
    v1::Value& out = *message.add_outputs();
    if (!output) continue;
    out.set_name(graph.value(output).name);
    *out.mutable_type() = encode_type(graph.value(output).type);
  }
  message.mutable_origin()->Add(node.origin.begin(), node.origin.end());
}

void Encoder::graph(const Graph& graph, v1::Graph& message) {
  message.set_name(graph.name());
  Numbers numbers(graph.values().size());
  std::uint32_t next = 0;
  auto named = [&](ValueId id, v1::Value& value) {
    numbers[id.at()] = next++;
    value.set_name(graph.value(id).name);
    *value.mutable_type() = encode_type(graph.value(id).type);
  };
  for (ValueId id : graph.inputs()) named(id, *message.add_inputs());
  for (ValueId id : graph.captures()) named(id, *message.add_captures());
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    const ValueInfo& value = graph.values()[i];
    if (!value.constant) continue;
    numbers[i] = next++;
    v1::ConstantValue& out = *message.add_constants();
    out.set_name(value.name);
    out.set_constant(constant(value.constant, false));
  }
  for (const Node& item : graph.nodes()) {
    node(graph, item, numbers, *message.add_nodes());
    for (ValueId output : item.outputs) {
      if (output) numbers[output.at()] = next++;
    }
  }
  for (ValueId output : graph.outputs()) message.add_outputs(numbers[output.at()]);
  for (const Symbol& symbol : graph.symbols()) {
    v1::Symbol& out = *message.add_symbols();
    out.set_name(symbol.name);
    out.set_lowest(symbol.bounds.lowest);
    out.set_highest(symbol.bounds.highest);
  }
  for (const auto& [key, value] : graph.metadata()) {
    v1::Metadata& out = *message.add_metadata();
    out.set_key(key);
    out.set_value(value);
  }
}

}  // namespace

EncodedGraph encode_graph(const Graph& graph) {
  Encoder encoder;
  v1::GraphFrame& frame = encoder.out().frame;
  encoder.graph(graph, *frame.mutable_graph());
  for (const SourceNode& source : graph.sources()) {
    v1::SourceNode& out = *frame.add_sources();
    out.mutable_path()->Add(source.path.begin(), source.path.end());
    out.set_op(source.op);
    out.set_name(source.name);
  }
  return std::move(encoder).finish();
}

}  // namespace infini::wire
