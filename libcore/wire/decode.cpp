#include "libcore/wire/decode.h"

#include <memory>
#include <unordered_set>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "libcore/wire/messages.h"

namespace infini::wire {
namespace {

// A graph under construction: its builder, and its values by their numbers on the wire.
struct Scope {
  GraphBuilder builder;
  std::vector<ValueId> values;
  std::unordered_set<std::string> names;

  Status claim(const std::string& name) {
    if (name.empty()) return bad_input(text("value ", values.size(), " has no name"));
    if (!names.insert(name).second) return bad_input(text("two values are called '", name, "'"));
    return {};
  }
  Result<ValueId> value(std::uint64_t number) const {
    if (number < values.size()) return values[number];
    return bad_input(text("value ", number, " is used, but only ", values.size(), " come before"));
  }
};

class Decoder {
 public:
  Decoder(const std::vector<ConstantRef>& constants, const OpTable& ops) : constants_(constants), ops_(ops) {}

  // outer: the graph around and what it captures from there, or null.
  Result<Graph> graph(const v1::Graph& message, Scope scope, const std::vector<const ValueInfo*>& captured);

 private:
  Status head(const v1::Graph& message, Scope& scope, const std::vector<const ValueInfo*>& captured);
  Status node(const v1::Node& message, Scope& scope);
  Result<GraphBuilder::NodeSpec> spec(const v1::Node& message, Scope& scope);
  Status outputs(const v1::Node& message, Scope& scope, GraphBuilder::NodeSpec& spec);
  Result<AttributeValue> attribute(const v1::Attribute& message, const Scope& scope);
  Result<Body> body(const v1::Body& message, const Scope& scope);
  Result<Tensor> tensor(std::uint32_t index);

  const std::vector<ConstantRef>& constants_;
  const OpTable& ops_;
  int depth_ = 0;
};

Result<Tensor> Decoder::tensor(std::uint32_t index) {
  if (index >= constants_.size()) return bad_input(text("constant ", index, " of ", constants_.size()));
  return load(*constants_[index]);
}

Result<Body> Decoder::body(const v1::Body& message, const Scope& scope) {
  if (depth_ >= nesting_limit) return bad_input(text("graphs are nested more than ", nesting_limit, " deep"));
  Body body;
  std::vector<const ValueInfo*> captured;
  for (std::uint32_t number : message.captures()) {
    IT_TRY(ValueId value, scope.value(number));
    body.captures.push_back(value);
    captured.push_back(&scope.builder.value(value));
  }
  ++depth_;
  Result<Graph> inner = graph(message.graph(), Scope{scope.builder.nested(), {}, {}}, captured);
  --depth_;
  if (!inner) return within(text("nested graph '", message.graph().name(), "'"), std::move(inner.error()));
  body.graph = std::make_shared<const Graph>(std::move(*inner));
  return body;
}

Result<AttributeValue> Decoder::attribute(const v1::Attribute& message, const Scope& scope) {
  using std::vector;
  switch (message.value_case()) {
    case v1::Attribute::kInteger: return AttributeValue(std::int64_t{message.integer()});
    case v1::Attribute::kReal: return AttributeValue(message.real());
    case v1::Attribute::kText: return AttributeValue(message.text());
    case v1::Attribute::kIntegers: return AttributeValue(vector<std::int64_t>(message.integers().items().begin(), message.integers().items().end()));
    case v1::Attribute::kReals: return AttributeValue(vector<float>(message.reals().items().begin(), message.reals().items().end()));
    case v1::Attribute::kTexts: return AttributeValue(vector<std::string>(message.texts().items().begin(), message.texts().items().end()));
    case v1::Attribute::kTensor: {
      IT_TRY(Tensor value, tensor(message.tensor()));
      return AttributeValue(std::move(value));
    }
    case v1::Attribute::kType: {
      IT_TRY(Type value, decode_type(message.type()));
      return AttributeValue(std::move(value));
    }
    case v1::Attribute::kBody: {
      IT_TRY(Body value, body(message.body(), scope));
      return AttributeValue(std::move(value));
    }
    case v1::Attribute::kTensors: {
      vector<Tensor> list;
      for (std::uint32_t index : message.tensors().items()) {
        IT_TRY(Tensor value, tensor(index));
        list.push_back(std::move(value));
      }
      return AttributeValue(std::move(list));
    }
    case v1::Attribute::kBodies: {
      vector<Body> list;
      for (const v1::Body& item : message.bodies().items()) {
        IT_TRY(Body value, body(item, scope));
        list.push_back(std::move(value));
      }
      return AttributeValue(std::move(list));
    }
    case v1::Attribute::VALUE_NOT_SET: break;
  }
  return bad_input("has no value");
}

Status Decoder::outputs(const v1::Node& message, Scope& scope, GraphBuilder::NodeSpec& spec) {
  if (message.outputs().empty()) return bad_input("has no output");
  for (const v1::Value& output : message.outputs()) {
    bool wanted = !output.name().empty();
    if (wanted) IT_TRY_VOID(scope.claim(output.name()));
    IT_TRY(Type type, decode_type(output.type()));
    spec.output_names.push_back(output.name());
    spec.wanted.push_back(wanted);
    spec.declared.push_back(std::move(type));
  }
  return {};
}

Result<GraphBuilder::NodeSpec> Decoder::spec(const v1::Node& message, Scope& scope) {
  GraphBuilder::NodeSpec spec;
  spec.name = message.name();
  spec.overload = message.overload();
  if (message.carried()) {
    spec.domain = message.domain();
    spec.type = message.op();
    spec.version = message.version();
  } else {
    spec.op = ops_.find(message.domain(), message.op());
    if (!spec.op) return unsupported("the operator is not known to this version");
  }
  for (std::int32_t input : message.inputs()) {
    spec.inputs.emplace_back();
    if (input == -1) continue;
    IT_TRY(spec.inputs.back(), scope.value(static_cast<std::uint32_t>(input)));
  }
  for (const v1::Attribute& item : message.attributes()) {
    std::string place = text("attribute '", item.name(), "'");
    if (spec.attributes.has(item.name())) return within(place, bad_input("is there twice"));
    IT_TRY(AttributeValue value, within(place, attribute(item, scope)));
    spec.attributes.set(item.name(), std::move(value));
  }
  spec.origin.assign(message.origin().begin(), message.origin().end());
  IT_TRY_VOID(outputs(message, scope, spec));
  return spec;
}

Status Decoder::node(const v1::Node& message, Scope& scope) {
  IT_TRY(GraphBuilder::NodeSpec made, spec(message, scope));
  IT_TRY(std::vector<ValueId> results, scope.builder.add_node(std::move(made)));
  for (ValueId value : results) {
    if (value) scope.values.push_back(value);
  }
  return {};
}

// Everything but nodes and outputs.
Status Decoder::head(const v1::Graph& message, Scope& scope, const std::vector<const ValueInfo*>& captured) {
  scope.builder.set_name(message.name());
  for (const v1::Symbol& symbol : message.symbols()) scope.builder.set_symbol({symbol.name(), {symbol.lowest(), symbol.highest()}});
  for (const v1::Metadata& item : message.metadata()) scope.builder.add_metadata(item.key(), item.value());
  for (const v1::Value& input : message.inputs()) {
    IT_TRY_VOID(scope.claim(input.name()));
    IT_TRY(Type type, within(text("input '", input.name(), "'"), decode_type(input.type())));
    scope.values.push_back(scope.builder.add_input(input.name(), std::move(type)));
  }
  if (captured.size() != static_cast<std::size_t>(message.captures_size())) {
    return bad_input(text("captures ", message.captures_size(), " values, but is given ", captured.size()));
  }
  for (int i = 0; i < message.captures_size(); ++i) {
    const v1::Value& capture = message.captures(i);
    IT_TRY_VOID(scope.claim(capture.name()));
    const ValueInfo& outside = *captured[static_cast<std::size_t>(i)];
    scope.values.push_back(scope.builder.add_capture(capture.name(), outside.type, outside.dims));
  }
  for (const v1::ConstantValue& constant : message.constants()) {
    IT_TRY_VOID(scope.claim(constant.name()));
    if (constant.constant() >= constants_.size()) {
      return bad_input(text("'", constant.name(), "' is constant ", constant.constant(), " of ", constants_.size()));
    }
    scope.values.push_back(scope.builder.add_constant(constant.name(), constants_[constant.constant()]));
  }
  return {};
}

Result<Graph> Decoder::graph(const v1::Graph& message, Scope scope, const std::vector<const ValueInfo*>& captured) {
  IT_TRY_VOID(head(message, scope, captured));
  for (int i = 0; i < message.nodes_size(); ++i) {
    const v1::Node& item = message.nodes(i);
    IT_TRY_VOID(within(text("node ", i, " (", item.op(), " '", item.name(), "')"), node(item, scope)));
  }
  for (std::uint32_t number : message.outputs()) {
    IT_TRY(ValueId value, within("graph output", scope.value(number)));
    scope.builder.add_output(value);
  }
  if (!scope.builder.notes().empty()) return bad_input(scope.builder.notes().front());
  return std::move(scope.builder).build();
}

}  // namespace

Result<Graph> decode_graph(const v1::GraphFrame& frame, const std::vector<ConstantRef>& constants, const OpTable& ops) {
  auto sources = std::make_shared<std::vector<SourceNode>>();
  for (const v1::SourceNode& source : frame.sources()) {
    sources->push_back({{source.path().begin(), source.path().end()}, source.op(), source.name()});
  }
  Result<Graph> graph = Decoder(constants, ops).graph(frame.graph(), Scope{GraphBuilder(std::move(sources)), {}, {}}, {});
  if (!graph && graph.error().kind == ErrorKind::internal) graph.error().kind = ErrorKind::bad_input;
  return graph;
}

}  // namespace infini::wire
