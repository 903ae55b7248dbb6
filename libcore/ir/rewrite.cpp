#include "libcore/ir/rewrite.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini {
namespace {

// Symbols of the graph and of all graphs in it are kept from being made anew.
void keep_symbols(const Graph& graph, GraphBuilder& builder) {
  for (const ValueInfo& value : graph.values()) builder.keep_symbols(value.type);
  for (const Node& node : graph.nodes()) {
    for (const Body* body : bodies(node)) keep_symbols(*body->graph, builder);
  }
}

Result<Graph> copy_all(Rewriter rewriter) {
  for (std::size_t i = 0; i < rewriter.old().nodes().size(); ++i) IT_TRY_VOID(rewriter.copy(node_id(i)));
  return std::move(rewriter).finish();
}

Type bound(Type type, const Bindings& bindings) {
  if (type.element) type.element = std::make_shared<const Type>(bound(*type.element, bindings));
  if (type.shape) {
    for (Dim& dim : *type.shape) dim = dim.substitute(bindings);
  }
  return type;
}

// The captures of `now`, a graph made from `old`, taken from the list for `old` by name.
Result<std::vector<ValueId>> remaining_captures(const Graph& old, const Graph& now, const std::vector<ValueId>& captures) {
  std::vector<ValueId> out;
  for (ValueId capture : now.captures()) {
    const std::string& name = now.value(capture).name;
    std::size_t i = 0;
    while (i < captures.size() && old.value(old.captures()[i]).name != name) ++i;
    if (i == captures.size()) return internal_error(text("body '", now.name(), "' captures '", name, "', which it did not before"));
    out.push_back(captures[i]);
  }
  return out;
}

}  // namespace

Rewriter::Rewriter(const Graph& old) : Rewriter(old, nullptr, {}) {}

Rewriter::Rewriter(const Graph& old, std::function<Type(const Type&)> types) : Rewriter(old, std::move(types), {}) {}

Rewriter::Rewriter(const Graph& old, std::function<Type(const Type&)> types, const Outside& captures)
    : old_(old), builder_(old.shared_sources()), mapped_(old.values().size()), types_(std::move(types)) {
  builder_.set_name(old.name());
  for (const auto& [key, value] : old.metadata()) builder_.add_metadata(key, value);
  for (const Symbol& symbol : old.symbols()) builder_.set_symbol(symbol);
  for (const ValueInfo& value : old.values()) builder_.keep_name(value.name);
  keep_symbols(old, builder_);
  for (ValueId input : old.inputs()) {
    const ValueInfo& value = old.value(input);
    mapped_[input.at()] = builder_.add_input(value.name, types_ ? types_(value.type) : value.type);
  }
  for (std::size_t i = 0; i < old.captures().size(); ++i) {
    const ValueInfo& inside = old.value(old.captures()[i]);
    const ValueInfo& value = captures.empty() ? inside : *captures[i];
    // With other types, elements are known only by what stands outside now.
    std::optional<expr::DimTensor> dims = types_ && captures.empty() ? std::nullopt : value.dims;
    mapped_[old.captures()[i].at()] = builder_.add_capture(inside.name, types_ ? types_(value.type) : value.type, std::move(dims));
  }
}

ValueId Rewriter::map(ValueId old) {
  if (!old) return old;
  ValueId& now = mapped_[old.at()];
  const ValueInfo& value = old_.value(old);
  if (!now && value.constant) now = builder_.add_constant(value.name, value.constant);
  return now;
}

void Rewriter::replace(ValueId old, ValueId replacement) { mapped_[old.at()] = replacement; }

bool Rewriter::is_output(ValueId now) const {
  return std::ranges::any_of(old_.outputs(), [&](ValueId output) { return mapped_[output.at()] == now; });
}

bool Rewriter::can_replace(ValueId old, ValueId replacement) const {
  if (std::ranges::find(old_.outputs(), old) == old_.outputs().end()) return true;
  const Type &was = old_.value(old).type, &now = builder_.value(replacement).type;
  if (was.kind != now.kind || (was.has_shape() && !now.has_shape())) return false;
  return builder_.value(replacement).producer && (!is_output(replacement) || mapped_[old.at()] == replacement);
}

Status Rewriter::copy_body(Body& body) {
  Outside outside;
  bool differs = types_ != nullptr;
  for (std::size_t i = 0; i < body.captures.size(); ++i) {
    ValueId now = map(body.captures[i]);
    if (!now) return internal_error(text("captures '", old_.value(body.captures[i]).name, "', which nothing in the new graph stands for"));
    body.captures[i] = now;
    const ValueInfo& inside = body.graph->value(body.graph->captures()[i]);
    outside.push_back(&builder_.value(now));
    differs = differs || !(inside.type == outside.back()->type) || inside.dims != outside.back()->dims;
  }
  if (!differs) return {};
  // What is outside has its new type already, and `types_` leaves such a type as it is.
  IT_TRY(Graph graph, copy_all(Rewriter(*body.graph, types_, outside)));
  IT_TRY(body.captures, remaining_captures(*body.graph, graph, body.captures));
  body.graph = std::make_shared<const Graph>(std::move(graph));
  return {};
}

Result<GraphBuilder::NodeSpec> Rewriter::spec(NodeId id) {
  const Node& node = old_.node(id);
  std::string place = describe(old_, node);
  GraphBuilder::NodeSpec spec(node);
  for (ValueId input : node.inputs) {
    spec.inputs.push_back(map(input));
    if (input && !spec.inputs.back()) {
      return within(place, internal_error(text("reads '", old_.value(input).name, "', which nothing in the new graph stands for")));
    }
  }
  IT_TRY_VOID(within(place, for_each_body(spec.attributes, [this](Body& body) { return copy_body(body); })));
  for (ValueId output : node.outputs) {
    spec.output_names.push_back(output ? old_.value(output).name : "");
    spec.wanted.push_back(output.valid());
    spec.declared.push_back(output ? old_.value(output).type : Type{});
    if (types_) spec.declared.back() = types_(spec.declared.back());
  }
  if (node.outputs.empty()) spec.wanted = {false};
  return spec;
}

Status Rewriter::copy(NodeId node) {
  IT_TRY(GraphBuilder::NodeSpec as_it_was, spec(node));
  IT_TRY(std::vector<ValueId> made, builder_.add_node(std::move(as_it_was)));
  std::span<const ValueId> outputs = old_.node(node).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && !mapped_[outputs[i].at()]) mapped_[outputs[i].at()] = made[i];
  }
  return {};
}

Result<std::vector<ValueId>> Rewriter::emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from) {
  for (NodeId id : from) {
    const Node& node = old_.node(id);
    spec.origin = merged(spec.origin, node.origin);
    if (spec.name.empty()) spec.name = node.name;
  }
  return builder_.add_node(std::move(spec));
}

Status Rewriter::emit(GraphBuilder::NodeSpec spec, std::span<const NodeId> from, std::span<const ValueId> outputs) {
  spec.output_names.clear();
  spec.wanted.clear();
  bool hints = spec.declared.empty();
  for (ValueId output : outputs) {
    spec.output_names.push_back(output ? old_.value(output).name : "");
    spec.wanted.push_back(output.valid());
    if (!hints) continue;
    spec.declared.push_back(output ? old_.value(output).type : Type{});
    if (types_) spec.declared.back() = types_(spec.declared.back());
  }
  if (outputs.empty()) spec.wanted = {false};
  IT_TRY(std::vector<ValueId> made, emit(std::move(spec), from));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i]) replace(outputs[i], made[i]);
  }
  return {};
}

ValueId Rewriter::constant(Tensor tensor, std::string_view stem) {
  return builder_.add_constant(builder_.fresh_name(stem), make_constant(std::move(tensor)));
}

Result<Graph> Rewriter::finish() && {
  std::vector<ValueId> outputs;
  for (ValueId output : old_.outputs()) {
    const std::string& name = old_.value(output).name;
    ValueId now = map(output);
    if (!now) return internal_error(text("nothing in the new graph stands for output '", name, "'"));
    bool taken = std::ranges::find(outputs, now) != outputs.end();
    if (builder_.value(now).name != name && (taken || !builder_.value(now).producer)) {
      GraphBuilder::NodeSpec identity;
      identity.op = OpTable().find("", "Identity");
      if (!identity.op) return internal_error(text("no operator Identity to give '", builder_.value(now).name, "' the name '", name, "' as well"));
      identity.inputs = {now};
      identity.output_names = {name};
      IT_TRY(std::vector<ValueId> copy, builder_.add_node(std::move(identity)));
      now = copy[0];
    }
    builder_.rename(now, name);
    outputs.push_back(now);
    builder_.add_output(now);
  }
  builder_.drop_unread();
  return std::move(builder_).build();
}

Result<Graph> rewrite(const Graph& graph, const std::function<Result<bool>(Rewriter&, NodeId)>& visit) {
  Rewriter rewriter(graph);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    IT_TRY(bool done, visit(rewriter, node_id(i)));
    if (!done) IT_TRY_VOID(rewriter.copy(node_id(i)));
  }
  return std::move(rewriter).finish();
}

Result<Graph> map_bodies(const Graph& graph, const std::function<bool(const Node&)>& which, const std::function<Result<Graph>(const Graph&)>& fn) {
  auto concerned = [&which](const Node& node) { return !bodies(node).empty() && which(node); };
  if (std::ranges::none_of(graph.nodes(), concerned)) return graph;
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    const Node& node = rewriter.old().node(id);
    if (!concerned(node)) return false;
    IT_TRY(GraphBuilder::NodeSpec spec, rewriter.spec(id));
    IT_TRY_VOID(within(describe(rewriter.old(), node), for_each_body(spec.attributes, [&](Body& body) -> Status {
      IT_TRY(Graph inner, map_bodies(*body.graph, which, fn));
      IT_TRY(Graph now, fn(inner));
      IT_TRY(body.captures, remaining_captures(*body.graph, now, body.captures));
      body.graph = std::make_shared<const Graph>(std::move(now));
      return {};
    })));
    IT_TRY_VOID(rewriter.emit(std::move(spec), {}, node.outputs));
    return true;
  });
}

Result<Graph> bind_symbols(const Graph& graph, const Bindings& bindings) {
  for (const Symbol& symbol : graph.symbols()) {
    auto binding = std::ranges::find(bindings, symbol.name, &Binding::symbol);
    if (binding == bindings.end()) continue;
    if (binding->value < symbol.bounds.lowest || binding->value > symbol.bounds.highest) {
      return bad_input(text("symbol '", symbol.name, "' is ", binding->value, ", it must lie in ", to_string(symbol.bounds)));
    }
  }
  Rewriter rewriter(graph, [&bindings](const Type& type) { return bound(type, bindings); });
  for (const Binding& binding : bindings) rewriter.builder().erase_symbol(binding.symbol);
  return copy_all(std::move(rewriter));
}

}  // namespace infini
