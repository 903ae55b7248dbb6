#include "libcore/exec/executor.h"

#include <algorithm>
#include <chrono>

#include "libcore/base/text.h"
#include "libcore/exec/report.h"
#include "libcore/ir/inline.h"

namespace infini {
namespace {

bool fits(const Type& declared, const Type& given, const Bindings& bindings) {
  if (declared.is_tensor() && (!given.is_tensor() || given.dtype != declared.dtype)) return false;
  if (!declared.has_shape()) return true;
  if (given.rank() != declared.rank()) return false;
  for (std::size_t axis = 0; axis < given.rank(); ++axis) {
    std::optional<std::int64_t> number = (*declared.shape)[axis].evaluate(bindings);
    if (number && *number != *(*given.shape)[axis].constant()) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> last_uses(const Graph& graph) {
  std::vector<std::size_t> last(graph.values().size(), SIZE_MAX);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    for (ValueId input : node.inputs) {
      if (input) last[input.at()] = n;
    }
    for (const Body* body : bodies(node)) {
      for (ValueId captured : body->captures) last[captured.at()] = n;
    }
  }
  return last;
}

void bind_symbols(const Type& declared, const Type& given, Bindings& bindings) {
  if (!declared.has_shape() || !given.has_shape() || declared.rank() != given.rank()) return;
  for (std::size_t axis = 0; axis < given.rank(); ++axis) {
    std::optional<std::string> symbol = (*declared.shape)[axis].symbol_name();
    if (!symbol || std::ranges::find(bindings, *symbol, &Binding::symbol) != bindings.end()) continue;
    bindings.push_back({*symbol, *(*given.shape)[axis].constant()});
  }
}

struct Executor::Liveness {
  std::vector<std::size_t> last_use;
  std::unique_ptr<bool[]> wanted;
  std::vector<ValueId> results;  // outputs, then observed values
  std::map<std::size_t, std::vector<ValueId>> live_at;

  // Values there before `position` that are read from it on.
  const std::vector<ValueId>& at(const Graph& graph, std::size_t position) {
    auto [entry, fresh] = live_at.try_emplace(position);
    if (!fresh) return entry->second;
    for (std::size_t v = 0; v < graph.values().size(); ++v) {
      const ValueInfo& info = graph.values()[v];
      bool there = !info.constant && (!info.producer || info.producer.at() < position);
      if (there && last_use[v] != SIZE_MAX && last_use[v] >= position) entry->second.push_back(value_id(v));
    }
    return entry->second;
  }
};

Executor::Executor(std::shared_ptr<const Graph> graph, ExecOptions options) : graph_(std::move(graph)), options_(std::move(options)), memory_(options_.devices) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::make(std::shared_ptr<const Graph> graph, ExecOptions options) {
  std::unique_ptr<Executor> executor(new Executor(graph, std::move(options)));
  IT_TRY_VOID(executor->adopt(std::move(graph)));
  return executor;
}

Status Executor::adopt(std::shared_ptr<const Graph> graph) {
  graph_ = std::move(graph);
  live_ = std::make_unique<Liveness>();
  live_->last_use = last_uses(*graph_);
  live_->wanted = std::make_unique<bool[]>(graph_->values().size());
  live_->results.assign(graph_->outputs().begin(), graph_->outputs().end());
  for (const std::string& name : options_.observe) {
    auto found = std::find_if(graph_->values().begin(), graph_->values().end(), [&](const ValueInfo& v) { return v.name == name; });
    if (found == graph_->values().end()) return usage_error(text("the graph has no value '", name, "'"));
    live_->results.push_back(value_id(static_cast<std::size_t>(found - graph_->values().begin())));
  }
  for (ValueId id : live_->results) live_->wanted[id.at()] = true;
  plans_.clear();
  return load_constants();
}

Status Executor::load_constants() {
  constants_.assign(graph_->values().size(), std::nullopt);
  for (std::size_t v = 0; v < constants_.size(); ++v) {
    const ValueInfo& info = graph_->values()[v];
    if (!info.constant) continue;
    IT_TRY(constants_[v], within(text("constant '", info.name, "'"), load(*info.constant)));
  }
  return {};
}

Status Executor::bind(std::span<const Value> inputs) {
  std::vector<ValueId> formal(graph_->inputs().begin(), graph_->inputs().end());
  formal.insert(formal.end(), graph_->captures().begin(), graph_->captures().end());
  if (inputs.size() != formal.size()) return bad_input(text("the graph has ", formal.size(), " inputs, ", inputs.size(), " were given"));
  state_.assign(graph_->values().size(), std::nullopt);
  std::vector<Type> given;
  Bindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(inputs[i].type());
    bind_symbols(graph_->value(formal[i]).type, given.back(), bindings);
    state_[formal[i].at()] = inputs[i];
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = graph_->value(formal[i]);
    if (!fits(info.type, given[i], bindings)) {
      return bad_input(text("input '", info.name, "' is ", to_string(given[i]), ", the graph expects ", to_string(info.type)));
    }
  }
  for (const Symbol& symbol : graph_->symbols()) {
    for (const Binding& binding : bindings) {
      if (binding.symbol == symbol.name && (binding.value < symbol.bounds.lowest || binding.value > symbol.bounds.highest)) {
        return bad_input(text("dimension '", symbol.name, "' is ", binding.value, ", the graph allows ", symbol.bounds.lowest, " to ", symbol.bounds.highest));
      }
    }
  }
  return {};
}

Result<std::vector<Value>> Executor::run(std::span<const Value> inputs) {
  IT_TRY_VOID(bind(inputs));
  state_types_.assign(graph_->values().size(), std::nullopt);
  std::size_t position = 0;
  while (position < graph_->nodes().size()) {
    IT_TRY(const Plan* plan, plan_at(position));
    if (!plan) return run(inputs);
    if (plan->end > plan->begin) {
      IT_TRY_VOID(execute(*plan));
      position = plan->end;
    } else {
      IT_TRY_VOID(run_on_host(graph_->nodes()[position]));
      ++position;
    }
    forget_dead(position);
  }
  return results();
}

Result<std::vector<Value>> Executor::results() const {
  std::vector<Value> out;
  for (ValueId id : live_->results) {
    if (state_[id.at()]) {
      out.push_back(*state_[id.at()]);
    } else if (constants_[id.at()]) {
      out.emplace_back(*constants_[id.at()]);
    } else {
      return internal_error(text("output '", graph_->value(id).name, "' was never computed"));
    }
  }
  return out;
}

void Executor::forget_dead(std::size_t position) {
  for (std::size_t v = 0; v < state_.size(); ++v) {
    bool read_later = live_->last_use[v] != SIZE_MAX && live_->last_use[v] >= position;
    if (!read_later && !live_->wanted[v]) state_[v].reset();
  }
}

std::string Executor::plan_key(std::size_t position, std::span<const ValueId> forced) const {
  std::string key = text(position);
  for (ValueId id : live_->at(*graph_, position)) {
    if (!state_[id.at()]) continue;
    const Tensor* tensor = state_[id.at()]->tensor();
    key += tensor ? text(";", static_cast<int>(tensor->dtype()), ",", join(tensor->extents(), ",")) : text(";", to_string(state_[id.at()]->type()));
  }
  for (ValueId id : forced) {
    std::span<const std::byte> bytes = state_[id.at()]->tensor()->bytes();
    key.append("=").append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return key;
}

Result<const Plan*> Executor::plan_at(std::size_t position) {
  // Values that decide shapes and are here by now count as known: the node at hand could not be planned before.
  std::vector<ValueId> forced;
  const Node& node = graph_->nodes()[position];
  if (node.op) {
    for (int i : node.op->value_inputs) {
      auto at = static_cast<std::size_t>(i);
      if (at >= node.inputs.size() || !node.inputs[at] || !state_[node.inputs[at].at()]) continue;
      const Tensor* tensor = state_[node.inputs[at].at()]->tensor();
      if (tensor && tensor->dtype() != DType::str) forced.push_back(node.inputs[at]);
    }
  }
  std::string key = plan_key(position, forced);
  if (auto found = plans_.find(key); found != plans_.end()) return found->second.get();
  IT_TRY(std::unique_ptr<Plan> made, make_plan_at(position, forced));
  if (!made) return nullptr;
  return (plans_[key] = std::move(made)).get();
}

Result<std::unique_ptr<Plan>> Executor::make_plan_at(std::size_t position, std::span<const ValueId> forced) {
  KnownValues held;  // the plan's own: kernels read them at later launches, when other elements may lie where these lie now
  for (ValueId id : forced) {
    const Tensor& now = *state_[id.at()]->tensor();
    IT_TRY(Tensor copy, Tensor::owning(now.dtype(), now.extents(), {now.bytes().begin(), now.bytes().end()}));
    held.emplace(id, std::move(copy));
  }
  for (std::size_t v = 0; v < state_.size(); ++v) {
    if (state_[v]) state_types_[v] = state_[v]->type();
    if (constants_[v]) state_types_[v] = constants_[v]->type();
  }
  PlanRequest request{.graph = *graph_,
                      .devices = options_.devices,
                      .cap = options_.cap,
                      .begin = position,
                      .live = [this](ValueId id) { return state_types_[id.at()] ? &*state_types_[id.at()] : nullptr; },
                      .known = [&](ValueId id) -> const Tensor* {
                        if (constants_[id.at()]) return &*constants_[id.at()];
                        auto found = held.find(id);
                        return found == held.end() ? nullptr : &found->second;
                      },
                      .wanted = std::span(live_->wanted.get(), graph_->values().size()),
                      .last_use = live_->last_use};
  IT_TRY(Planned planned, make_plan(request));
  if (!planned.declined_bodies.empty()) {
    std::vector<const Node*> declined;
    for (NodeId id : planned.declined_bodies) declined.push_back(&graph_->node(id));
    auto which = [&](const Node& node) { return std::find(declined.begin(), declined.end(), &node) != declined.end(); };
    IT_TRY(Graph inlined, inline_bodies(*graph_, which));
    IT_TRY_VOID(adopt(std::make_shared<const Graph>(std::move(inlined))));
    return std::unique_ptr<Plan>();
  }
  if (!planned.unsupported.empty()) {
    std::set<NodeId> nodes;
    for (const Refusal& refusal : planned.unsupported) nodes.insert(refusal.node);
    return unsupported(text(nodes.size(), " of ", graph_->nodes().size(), " nodes are not supported:", grouped_report(*graph_, planned.unsupported)));
  }
  if (options_.on_refusals && !planned.refusals.empty()) options_.on_refusals(*graph_, planned);
  planned.plan.known.merge(std::move(held));
  return std::make_unique<Plan>(std::move(planned.plan));
}

Result<std::vector<std::byte*>> Executor::pointers(const Plan& plan, std::vector<std::shared_ptr<DeviceMemory>>& owners) {
  std::vector<std::byte*> arenas(plan.arena_bytes.size(), nullptr);
  for (std::size_t d = 0; d < arenas.size(); ++d) {
    if (plan.arena_bytes[d] == 0) continue;
    IT_TRY(arenas[d], memory_.arena(d, plan.arena_bytes[d]));
  }
  std::vector<std::byte*> at(plan.places.size(), nullptr);
  for (std::size_t p = 0; p < plan.places.size(); ++p) {
    const Place& place = plan.places[p];
    auto device = static_cast<std::size_t>(place.device);
    if (place.alias >= 0) {
      at[p] = at[static_cast<std::size_t>(place.alias)];
    } else if (place.kind == Place::Kind::arena) {
      at[p] = arenas[device] + place.offset;
    } else if (place.kind == Place::Kind::live_in) {
      // Kernels take inputs as const: nothing writes through this pointer (Planner::dies_here).
      at[p] = const_cast<std::byte*>(state_[plan.live_in[static_cast<std::size_t>(place.slot)].at()]->tensor()->bytes().data());
    } else {
      IT_TRY(owners[p], memory_.buffer(device, place.bytes));
      at[p] = static_cast<std::byte*>(owners[p]->data());
    }
  }
  return at;
}

Status Executor::execute(const Plan& plan) {
  std::vector<std::shared_ptr<DeviceMemory>> owners(plan.places.size());
  IT_TRY(std::vector<std::byte*> at, pointers(plan, owners));
  for (const Step& step : plan.steps) {
    if (!options_.on_step) {
      IT_TRY_VOID(execute_step(plan, step, at));
      continue;
    }
    auto begin = std::chrono::steady_clock::now();
    IT_TRY_VOID(execute_step(plan, step, at));
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    std::string_view kind = step.kind == Step::Kind::kernel ? "kernel" : step.kind == Step::Kind::reorder ? "reorder" : "transfer";
    const Node& node = step.node ? graph_->node(step.node) : graph_->nodes().back();
    options_.on_step({*graph_, node, kind, step.kernel_name, options_.devices[static_cast<std::size_t>(step.device)]->info().name, took.count()});
  }
  for (const auto& [value, place] : plan.live_out) IT_TRY_VOID(keep(plan, value, place, at, owners));
  for (const auto& [value, tensor] : plan.known) {
    bool later = live_->last_use[value.at()] != SIZE_MAX && live_->last_use[value.at()] >= plan.end;
    if (later || live_->wanted[value.at()]) state_[value.at()] = Value(tensor);
  }
  return {};
}

Status Executor::execute_step(const Plan& plan, const Step& step, std::span<std::byte* const> at) {
  auto device_number = static_cast<std::size_t>(step.device);
  const Device& device = *options_.devices[device_number];
  if (step.kind == Step::Kind::kernel) {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (int place : step.inputs) inputs.push_back(at[static_cast<std::size_t>(place)]);
    for (int place : step.outputs) outputs.push_back(at[static_cast<std::size_t>(place)]);
    std::byte* workspace = nullptr;
    if (step.workspace > 0) {
      IT_TRY(workspace, memory_.arena(device_number, plan.arena_bytes[device_number]));
      workspace += step.workspace_offset;
    }
    return within(describe(*graph_, graph_->node(step.node)), step.kernel->launch(inputs, outputs, workspace));
  }
  auto from = static_cast<std::size_t>(step.inputs[0]), to = static_cast<std::size_t>(step.outputs[0]);
  const Place &source = plan.places[from], &target = plan.places[to];
  if (step.kind == Step::Kind::transfer) return transfer(source, target, at[from], at[to]);
  if (!device.table().reorder) return internal_error(text(device.name(), " offered a layout but cannot reorder"));
  Message message;
  Extents extents = *constant_extents(*source.type.shape);
  std::vector<std::int32_t> from_order, to_order;
  it_layout from_layout = to_c(source.layout, extents, from_order), to_layout = to_c(target.layout, extents, to_order);
  it_tensor type{static_cast<it_dtype>(source.type.dtype), static_cast<std::int32_t>(extents.size()), extents.data()};
  return device.check(device.table().reorder(device.handle(), nullptr, &type, &from_layout, at[from], &to_layout, at[to], message.out()), message);
}

Status Executor::transfer(const Place& source, const Place& target, const std::byte* from, std::byte* to) const {
  const Devices& devices = options_.devices;
  Message message;
  std::vector<std::byte> landing;  // between two devices that the host cannot reach
  if (!on_host(devices, source.device)) {
    bool lands = on_host(devices, target.device);
    if (!lands) landing.resize(target.bytes);
    const Device& device = *devices[static_cast<std::size_t>(source.device)];
    std::byte* there = lands ? to : landing.data();
    IT_TRY_VOID(device.check(device.table().download(device.handle(), nullptr, there, from, 0, target.bytes, message.out()), message));
    if (lands) return {};
    from = there;
  }
  const Device& device = *devices[static_cast<std::size_t>(target.device)];
  return device.check(device.table().upload(device.handle(), nullptr, to, 0, from, target.bytes, message.out()), message);
}

Status Executor::keep(const Plan& plan, ValueId value, int place, std::span<std::byte* const> at, std::span<const std::shared_ptr<DeviceMemory>> owners) {
  const Place& own = plan.places[static_cast<std::size_t>(place)];
  auto root = static_cast<std::size_t>(root_of(plan, place));
  Extents extents = *constant_extents(*own.type.shape);
  if (plan.places[root].kind == Place::Kind::live_in) {
    const Tensor& source = *state_[plan.live_in[static_cast<std::size_t>(plan.places[root].slot)].at()]->tensor();
    state_[value.at()] = Value(Tensor::view(own.type.dtype, extents, source.bytes(), std::make_shared<const Tensor>(source)));
  } else if (on_host(options_.devices, own.device)) {
    state_[value.at()] = Value(Tensor::view(own.type.dtype, extents, {at[static_cast<std::size_t>(place)], own.bytes}, owners[root]));
  } else {
    const Device& device = *options_.devices[static_cast<std::size_t>(own.device)];
    IT_TRY(TensorWriter writer, TensorWriter::make(own.type.dtype, extents));
    Message message;
    IT_TRY_VOID(device.check(device.table().download(device.handle(), nullptr, writer.bytes(), at[static_cast<std::size_t>(place)], 0, own.bytes, message.out()), message));
    state_[value.at()] = Value(std::move(writer).finish());
  }
  return {};
}

std::size_t Executor::arena_bytes() const { return memory_.arena_bytes(); }

std::vector<const Plan*> Executor::plans() const {
  std::vector<const Plan*> out;
  for (const auto& [key, plan] : plans_) out.push_back(plan.get());
  return out;
}

}  // namespace infini
