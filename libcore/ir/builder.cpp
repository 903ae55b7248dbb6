#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/ir/builder_state.h"
#include "libcore/ir/graph.h"
#include "libcore/ir/infer_node.h"
#include "libcore/ir/verify.h"

namespace infini {
namespace {

constexpr std::int64_t dims_limit = 64;  // elements of a constant that shape arithmetic follows
constexpr std::int32_t kept = -1;        // in State::names

std::optional<expr::DimTensor> dims_of(const Constant& constant) {
  const Tensor* tensor = constant.at_hand();
  if (!tensor || tensor->count() > dims_limit || (!is_integer(tensor->dtype()) && tensor->dtype() != DType::boolean)) return std::nullopt;
  expr::DimTensor dims{to_shape(tensor->extents()), {}};
  for (std::int64_t value : tensor->to_ints()) {
    bool beyond = tensor->dtype() == DType::u64 && value < 0;
    dims.elements.push_back(beyond ? std::nullopt : std::optional<Dim>(value));
  }
  return dims;
}

void fill_defaults(const OpDef& op, Attributes& attributes) {
  for (const AttributeDef& def : op.attributes) {
    if (attributes.has(def.name)) continue;
    switch (def.standard) {
      case AttributeDef::Standard::none:
      case AttributeDef::Standard::required: break;
      case AttributeDef::Standard::integer: attributes.set(std::string(def.name), def.integer); break;
      case AttributeDef::Standard::real: attributes.set(std::string(def.name), def.real); break;
      case AttributeDef::Standard::text: attributes.set(std::string(def.name), std::string(def.text)); break;
    }
  }
}

std::string described(const Node& node, const std::vector<std::string>& output_names) {
  if (!node.name.empty()) return text(node.type, " '", node.name, "'");
  auto named = std::ranges::find_if(output_names, [](const std::string& name) { return !name.empty(); });
  return named == output_names.end() ? node.type : text(node.type, " (of '", *named, "')");
}

// Names and flags, one of each per output, up to the last one that is wanted. Returns how many outputs were asked for.
std::size_t settle_outputs(GraphBuilder::NodeSpec& spec) {
  std::size_t count = std::max(spec.output_names.size(), spec.wanted.size());
  if (count == 0) count = 1;
  spec.output_names.resize(count);
  spec.wanted.resize(count, true);
  while (!spec.wanted.empty() && !spec.wanted.back()) spec.wanted.pop_back();
  spec.output_names.resize(spec.wanted.size());
  return count;
}

// The node without its outputs: trailing inputs left out are cut off, attributes complete.
Node node_of(GraphBuilder::NodeSpec& spec) {
  Node node;
  node.op = spec.op;
  node.domain = spec.op ? std::string(spec.op->domain) : std::move(spec.domain);
  node.type = spec.op ? std::string(spec.op->name) : std::move(spec.type);
  node.version = spec.op ? 0 : spec.version;
  node.overload = spec.op ? "" : std::move(spec.overload);
  node.name = std::move(spec.name);
  node.inputs = std::move(spec.inputs);
  while (!node.inputs.empty() && !node.inputs.back()) node.inputs.pop_back();
  node.attributes = std::move(spec.attributes);
  if (node.op) fill_defaults(*node.op, node.attributes);
  node.origin = std::move(spec.origin);
  return node;
}

}  // namespace

GraphBuilder::GraphBuilder() : state_(std::make_unique<State>()) {}
GraphBuilder::GraphBuilder(std::shared_ptr<const std::vector<SourceNode>> sources) : GraphBuilder() { graph_.sources_ = std::move(sources); }
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

GraphBuilder GraphBuilder::nested() const {
  GraphBuilder out(graph_.sources_);
  out.state_->next_fresh = state_->next_fresh;
  return out;
}

void GraphBuilder::set_symbol(Symbol symbol) {
  auto found = std::ranges::find(graph_.symbols_, symbol.name, &Symbol::name);
  if (found != graph_.symbols_.end()) {
    *found = std::move(symbol);
  } else {
    graph_.symbols_.push_back(std::move(symbol));
  }
}

void GraphBuilder::erase_symbol(std::string_view name) {
  std::erase_if(graph_.symbols_, [name](const Symbol& symbol) { return symbol.name == name; });
}

std::string GraphBuilder::fresh_name(std::string_view stem) {
  std::string name(stem.empty() ? "value" : stem);
  if (!state_->names.contains(name)) return name;
  std::uint32_t& suffix = state_->suffixes[name];
  while (state_->names.contains(text(name, "_", suffix + 1))) ++suffix;
  return text(name, "_", suffix + 1);
}

void GraphBuilder::keep_name(std::string name) { state_->names.try_emplace(std::move(name), kept); }

void GraphBuilder::keep_symbols(const Type& type) {
  for (std::uint64_t number : fresh_numbers(type)) state_->keep(number);
}

std::span<const std::string> GraphBuilder::notes() const { return state_->notes; }

ValueId GraphBuilder::add_value(std::string name, ValueInfo value) {
  auto found = state_->names.find(name);
  bool free = !name.empty() && (found == state_->names.end() || found->second == kept);
  value.name = free ? std::move(name) : fresh_name(name);
  for (std::uint64_t number : fresh_numbers(value.type)) {
    state_->keep(number);
    state_->used.insert(number);
  }
  ValueId id = value_id(graph_.values_.size());
  state_->names[value.name] = id.value;
  graph_.values_.push_back(std::move(value));
  return id;
}

ValueId GraphBuilder::add_input(std::string name, Type type) {
  ValueInfo value;
  value.type = std::move(type);
  return graph_.inputs_.emplace_back(add_value(std::move(name), std::move(value)));
}

ValueId GraphBuilder::add_capture(std::string name, Type type, std::optional<expr::DimTensor> dims) {
  ValueInfo value;
  value.type = std::move(type);
  value.dims = std::move(dims);
  return graph_.captures_.emplace_back(add_value(std::move(name), std::move(value)));
}

ValueId GraphBuilder::add_constant(std::string name, ConstantRef constant) {
  ValueInfo value;
  value.type = constant->type();
  value.dims = dims_of(*constant);
  value.constant = std::move(constant);
  return add_value(std::move(name), std::move(value));
}

void GraphBuilder::add_output(ValueId value) { graph_.outputs_.push_back(value); }

GraphBuilder::NodeSpec::NodeSpec(const Node& node)
    : op(node.op),
      domain(node.domain),
      type(node.type),
      version(node.version),
      overload(node.overload),
      name(node.name),
      attributes(node.attributes),
      origin(node.origin) {}

Result<std::vector<ValueId>> GraphBuilder::add_node(NodeSpec spec) {
  std::size_t asked = settle_outputs(spec);
  Node node = node_of(spec);
  std::string place = described(node, spec.output_names);
  for (ValueId input : node.inputs) {
    if (input && input.at() >= graph_.values_.size()) return within(place, internal_error(text("reads value ", input.value, ", which does not exist")));
  }
  for (const Type& type : spec.declared) keep_symbols(type);
  IT_TRY_VOID(within(place, settle_bodies(node)));

  InferredOutputs outputs;
  if (node.op) {
    FreshNumbers fresh(*state_->next_fresh);
    IT_TRY(outputs, within(place, infer_node(*node.op, node.attributes, input_facts(graph_, node), spec.wanted.size(), spec.declared, fresh)));
  } else {
    outputs.types = std::move(spec.declared);
  }
  outputs.types.resize(spec.wanted.size());
  outputs.dims.resize(spec.wanted.size());
  for (const std::string& conflict : outputs.conflicts) state_->notes.push_back(text(place, ": ", conflict));
  for (std::size_t i = 0; i < spec.wanted.size(); ++i) {
    node.outputs.emplace_back();
    if (!spec.wanted[i]) continue;
    std::string& name = spec.output_names[i];
    if (name.empty()) name = fresh_name(node.name.empty() ? node.type : node.name);
    ValueInfo value;
    value.type = std::move(outputs.types[i]);
    value.dims = std::move(outputs.dims[i]);
    value.producer = node_id(graph_.nodes_.size());
    value.output = static_cast<std::uint32_t>(i);
    node.outputs.back() = add_value(std::move(name), std::move(value));
  }
  std::vector<ValueId> results = node.outputs;
  results.resize(asked);
  graph_.nodes_.push_back(std::move(node));
  return results;
}

void GraphBuilder::rename(ValueId value, std::string name) {
  std::string& current = graph_.values_[value.at()].name;
  if (current == name || name.empty()) return;
  auto holder = state_->names.find(name);
  std::int32_t other = holder == state_->names.end() ? kept : holder->second;
  state_->names.erase(current);
  state_->names[name] = value.value;
  current = name;
  if (other == kept) return;
  std::string moved = fresh_name(name);
  state_->names[moved] = other;
  graph_.values_[static_cast<std::size_t>(other)].name = std::move(moved);
}

Result<Graph> GraphBuilder::build() && {
  IT_TRY_VOID(verify_structure(graph_));
  return std::move(graph_);
}

}  // namespace infini
