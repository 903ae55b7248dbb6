// Importer: nodes, their attributes and nested graphs.
#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/onnx/attributes.h"
#include "libcore/onnx/importer.h"
#include "libcore/onnx/upgrade.h"

namespace infini::onnx_files {
namespace {

using Proto = onnx::AttributeProto;

bool holds_graph(const Proto& attribute) { return kind_of(attribute) == Proto::GRAPH || kind_of(attribute) == Proto::GRAPHS; }

// What a Constant node holds, in its first form that is given.
Result<ConstantRef> constant_value(const Proto& attribute, const Payloads& payloads) {
  const std::string& name = attribute.name();
  if (name == "value") return constant_of(attribute.t(), payloads);
  if (name == "sparse_value") return constant_of(attribute.sparse_tensor(), payloads);
  if (name == "value_float") return make_constant(Tensor::of<float>(DType::f32, {}, {attribute.f()}));
  if (name == "value_int") return make_constant(Tensor::scalar_i64(attribute.i()));
  if (name == "value_string") return make_constant(Tensor::of_strings({}, {attribute.s()}));
  if (name == "value_floats") {
    return make_constant(Tensor::of<float>(DType::f32, {attribute.floats_size()}, {attribute.floats().begin(), attribute.floats().end()}));
  }
  if (name == "value_ints") return make_constant(Tensor::vector_i64({attribute.ints().begin(), attribute.ints().end()}));
  if (name == "value_strings") {
    return make_constant(Tensor::of_strings({attribute.strings_size()}, {attribute.strings().begin(), attribute.strings().end()}));
  }
  return bad_input(text("attribute '", name, "' is not one of Constant"));
}

// What an input of a nested graph is where the file does not say: a Loop's and a Scan's follow the node's own.
Type implied_input(std::string_view op, std::size_t position, const std::vector<Type>& node_inputs) {
  if (op == "Loop" && position == 0) return Type::tensor(DType::i64, Shape{});
  if (op == "Loop" && position == 1) return Type::tensor(DType::boolean, Shape{});
  if ((op == "Loop" || op == "Scan") && position < node_inputs.size()) {
    Type type = node_inputs[position];
    if (type.is_tensor()) type.shape.reset();
    return type;
  }
  return Type{};
}

// The builder puts the node in front of what it says; a group of problems names its nodes itself.
Error without_place(Error error) {
  std::size_t end = error.where.find(": ");
  error.where = end == std::string::npos ? "" : error.where.substr(end + 2);
  return error;
}

}  // namespace

void Importer::fail_outputs(const NodeInput& in) {
  for (const std::string& name : in.proto.output()) {
    if (!name.empty()) in.scope.values[name] = {.failed = true};
  }
}

void Importer::fail(const NodeInput& in, Error error) {
  problems_.add(in.op_name, in.label, std::move(error));
  fail_outputs(in);
}

void Importer::node(const onnx::NodeProto& proto, std::uint32_t index, Scope& scope) {
  NodeInput in{proto, scope, scope.path, operator_name(proto.domain(), proto.op_type()), {}, std::string(plain_domain(proto.domain())), {}};
  in.path.push_back(index);
  in.label = node_label(proto, in.path);
  in.origin = {static_cast<std::uint32_t>(sources_->size())};
  sources_->push_back({in.path, in.op_name, proto.name()});

  if (proto.op_type().empty()) return fail(in, bad_input("the node names no operator"));
  std::optional<BoundAttributes> bound = bound_attributes(in);
  if (!bound) return fail_outputs(in);
  if (const Function* function = functions_.find(proto.domain(), proto.op_type(), overload_of(proto))) return call_function(in, *function, *bound);
  if (in.domain.empty() && proto.op_type() == "Constant") return constant_node(in, *bound);
  std::optional<std::vector<ValueId>> inputs = inputs_of(in);
  if (!inputs) return fail_outputs(in);
  std::optional<Attributes> attributes = attributes_of(in, *bound, *inputs);
  if (!attributes) return fail_outputs(in);
  if (const OpDef* op = ops_.find(in.domain, proto.op_type())) return understood_node(in, *op, std::move(*inputs), std::move(*attributes));
  carried_node(in, std::move(*inputs), std::move(*attributes));
}

// Nothing if an input failed before; that has been told.
std::optional<std::vector<ValueId>> Importer::inputs_of(const NodeInput& in) {
  std::vector<ValueId> inputs;
  for (const std::string& name : in.proto.input()) {
    BoundValue binding = name.empty() ? BoundValue{} : lookup(in.scope, name);
    if (binding.failed) return std::nullopt;
    inputs.push_back(binding.id);
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  return inputs;
}

// The node's attributes, references to those of the function around it followed; a reference to nothing is left out.
std::optional<BoundAttributes> Importer::bound_attributes(const NodeInput& in) {
  BoundAttributes bound;
  for (const Proto& attribute : in.proto.attribute()) {
    std::string name = attribute.name();
    auto same = [&](const auto& other) { return other.first == name; };
    std::optional<Error> error;
    if (name.empty()) error = bad_input("an attribute has no name");
    if (std::any_of(bound.begin(), bound.end(), same)) error = bad_input(text("attribute '", name, "' is given twice"));
    if (!attribute.ref_attr_name().empty() && !in.scope.call) {
      error = bad_input(text("attribute '", name, "' refers to '", attribute.ref_attr_name(), "' of a function, but stands outside of any"));
    }
    if (error) {
      fail(in, std::move(*error));
      return std::nullopt;
    }
    if (name.starts_with("__")) continue;  // internal to the tool that wrote the file
    if (attribute.ref_attr_name().empty()) {
      bound.emplace_back(std::move(name), BoundAttribute{&attribute, &in.scope});
    } else if (auto given = in.scope.call->attributes.find(attribute.ref_attr_name()); given != in.scope.call->attributes.end()) {
      bound.emplace_back(std::move(name), given->second);
    }
  }
  return bound;
}

std::optional<Attributes> Importer::attributes_of(const NodeInput& in, const BoundAttributes& bound, const std::vector<ValueId>& inputs) {
  Attributes attributes;
  std::uint32_t number = 0;
  for (const auto& [name, attribute] : bound) {
    Result<AttributeValue> value = holds_graph(*attribute.proto) ? graphs_of(in, attribute, number, inputs)
                                                                 : plain_value(*attribute.proto, payloads_, dimensions_);
    ++number;
    if (!value) {
      fail(in, std::move(value.error()));
      return std::nullopt;
    }
    attributes.set(name, std::move(*value));
  }
  return attributes;
}

Result<AttributeValue> Importer::graphs_of(const NodeInput& in, const BoundAttribute& attribute, std::uint32_t number,
                                           const std::vector<ValueId>& inputs) {
  std::vector<const onnx::GraphProto*> graphs;
  if (&attribute.scope->frame != &in.scope.frame) return unsupported("a graph handed to a function is used inside a graph of the function");
  bool single = kind_of(*attribute.proto) == Proto::GRAPH;
  if (single) graphs.push_back(&attribute.proto->g());
  for (const auto& graph : attribute.proto->graphs()) graphs.push_back(&graph);
  std::vector<Type> node_inputs;
  for (ValueId id : inputs) node_inputs.push_back(id ? in.scope.frame.builder.value(id).type : Type{});

  std::vector<Body> bodies;
  Path path = in.path;
  path.push_back(number);
  for (const onnx::GraphProto* graph : graphs) {
    IT_TRY(std::vector<Type> types, input_types(*graph, dimensions_));
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].kind == TypeKind::unknown) types[i] = implied_input(in.proto.op_type(), i, node_inputs);
    }
    std::optional<Body> made = body(*graph, *attribute.scope, path, types);
    if (!made) return bad_input(text("its graph '", graph->name(), "' has problems"));
    bodies.push_back(std::move(*made));
  }
  if (single) return AttributeValue(std::move(bodies[0]));
  return AttributeValue(std::move(bodies));
}

// What a node's result is called in the graph being built: the model's own names stay, others avoid them.
std::string Importer::result_name(const Scope& scope, const std::string& name) const {
  if (name.empty() || scope.prefix.empty()) return name;
  auto known = scope.result_names.find(name);
  return known != scope.result_names.end() ? known->second : scope.frame.builder.fresh_name(scope.prefix + name);
}

GraphBuilder::NodeSpec Importer::spec_of(const NodeInput& in, std::vector<ValueId> inputs, Attributes attributes) const {
  GraphBuilder::NodeSpec spec;
  spec.name = in.proto.name().empty() ? "" : in.scope.prefix + in.proto.name();
  spec.inputs = std::move(inputs);
  spec.attributes = std::move(attributes);
  spec.origin = in.origin;
  for (const std::string& name : in.proto.output()) {
    spec.output_names.push_back(result_name(in.scope, name));
    spec.wanted.push_back(!name.empty());
    auto declared = in.scope.declared.find(name);
    spec.declared.push_back(declared == in.scope.declared.end() ? Type{} : declared->second);
  }
  return spec;
}

void Importer::bind_outputs(const NodeInput& in, std::span<const ValueId> values) {
  for (int i = 0; i < in.proto.output_size(); ++i) {
    const std::string& name = in.proto.output(i);
    auto position = static_cast<std::size_t>(i);
    if (!name.empty()) in.scope.values[name] = {position < values.size() ? values[position] : ValueId{}};
  }
}

void Importer::constant_node(const NodeInput& in, const BoundAttributes& attributes) {
  if (in.proto.output_size() != 1 || in.proto.input_size() != 0 || attributes.size() != 1) {
    return fail(in, bad_input(text("has ", in.proto.input_size(), " inputs, ", in.proto.output_size(), " outputs and ", attributes.size(),
                                   " attributes; a Constant has no input, one output and one attribute")));
  }
  Proto held = *attributes[0].second.proto;
  held.set_name(attributes[0].first);
  Result<ConstantRef> constant = constant_value(held, payloads_);
  if (!constant) return fail(in, std::move(constant.error()));
  const std::string& name = in.proto.output(0);
  in.scope.values[name] = {in.scope.frame.builder.add_constant(result_name(in.scope, name), std::move(*constant))};
}

void Importer::understood_node(const NodeInput& in, const OpDef& op, std::vector<ValueId> inputs, Attributes attributes) {
  auto imported = in.scope.opsets->find(in.domain);
  int opset = imported == in.scope.opsets->end() ? op.versions.back() : imported->second;
  if (opset < op.versions.front()) {
    return fail(in, bad_input(text(op.name, " exists from opset ", op.versions.front(), " on, the model imports ", opset)));
  }
  if (in.domain.empty() && opset < 6) attributes.erase("consumed_inputs");  // a hint of the first formats
  Result<std::vector<ValueId>> made = add_upgraded(in.scope.frame.builder, ops_, op, opset, spec_of(in, std::move(inputs), std::move(attributes)));
  if (!made) return fail(in, without_place(std::move(made.error())));
  bind_outputs(in, *made);
}

void Importer::carried_node(const NodeInput& in, std::vector<ValueId> inputs, Attributes attributes) {
  GraphBuilder::NodeSpec spec = spec_of(in, std::move(inputs), std::move(attributes));
  auto imported = in.scope.opsets->find(in.domain);
  spec.domain = in.domain;
  spec.type = in.proto.op_type();
  spec.overload = overload_of(in.proto);
  spec.version = imported == in.scope.opsets->end() ? 0 : imported->second;
  Result<std::vector<ValueId>> made = in.scope.frame.builder.add_node(std::move(spec));
  if (!made) return fail(in, without_place(std::move(made.error())));
  carried_.add(in.op_name, in.label, in.domain.empty() ? "not defined here" : text("domain '", in.domain, "' is not known"));
  bind_outputs(in, *made);
}

}  // namespace infini::onnx_files
