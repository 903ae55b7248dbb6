#include "libcore/exec/planner.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/ir/body_types.h"
#include "libcore/ir/inline.h"

namespace infini {
namespace {

// Outlives nothing: a symbol from it means that only running will tell the size.
struct OpenDims final : FreshDims {
  Dim next() override { return Dim::symbol("#run"); }
};

bool crosses(const Type& type) { return type.is_tensor() && type.dtype != DType::str && is_exact(type); }

Result<Tensor> tensor_of(const expr::DimTensor& dims, DType dtype) {
  IT_TRY(TensorWriter writer, TensorWriter::make(dtype, *constant_extents(dims.shape)));
  for (std::size_t i = 0; i < dims.elements.size(); ++i) writer.set_int(static_cast<std::int64_t>(i), *dims.elements[i]->constant());
  return std::move(writer).finish();
}

bool fully_known(const std::optional<expr::DimTensor>& dims) {
  if (!dims || !constant_extents(dims->shape)) return false;
  return std::all_of(dims->elements.begin(), dims->elements.end(), [](const auto& d) { return d && d->is_constant(); });
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request) : r_(request), types_(request.graph.values().size()) {}

  Result<Planned> plan() {
    Plan& plan = out_.plan;
    plan.begin = plan.end = r_.begin;
    while (plan.end < r_.graph.nodes().size()) {
      Result<bool> planned = take(node_id(plan.end));
      if (r_.survey && !planned && plan.end > plan.begin) break;
      if (!planned) return std::move(planned.error());
      if (!*planned) break;
      ++plan.end;
    }
    for (std::size_t later = plan.end; !r_.survey && later < r_.graph.nodes().size(); ++later) refuse_undefined(node_id(later));
    if ((!r_.survey && !out_.unsupported.empty()) || !out_.declined_bodies.empty()) return std::move(out_);
    choose_candidates(choices_, r_.devices, [&](ValueId id) { return size_of(id); });
    IT_TRY_VOID(lower());
    if (!r_.survey) lay_out_arena(plan, r_.devices.size());
    out_.types = std::move(types_);
    return std::move(out_);
  }

 private:
  const Type* type_of(ValueId id) const {
    if (types_[id.at()]) return &*types_[id.at()];
    return r_.live(id);
  }
  const Tensor* known(ValueId id) const {
    if (auto found = out_.plan.known.find(id); found != out_.plan.known.end()) return &found->second;
    return r_.known(id);
  }
  std::size_t size_of(ValueId id) const {
    const Type* type = type_of(id);
    return byte_size(type->dtype, *element_count(*constant_extents(*type->shape)));
  }

  // Deals with one node: known without running, or a choice to make. False: the plan must stop before it.
  Result<bool> take(NodeId id) {
    const Node& node = r_.graph.node(id);
    if (!node.op) {
      if (!true_if_types_declared(node)) return false;
      refuse_undefined(id);
      return true;
    }
    std::vector<InputFact> facts;
    for (ValueId input : node.inputs) {
      if (!input) {
        facts.emplace_back();
        continue;
      }
      const Type* type = type_of(input);
      if (!type || !crosses(*type)) return false;
      facts.push_back({type, known(input), nullptr});
    }
    if (waits_for_values(id, facts)) return false;
    IT_TRY(auto types, within(describe(r_.graph, node), exact_types(node, facts)));
    if (!types || (node.op->run_body && !is_fused(node))) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i]) continue;
      if (!crosses((*types)[i])) return false;
      IT_TRY_VOID(within(describe(r_.graph, node), check_size((*types)[i])));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i]) types_[node.outputs[i].at()] = (*types)[i];
    }
    IT_TRY(bool done, propagate(node, facts, *types));
    if (!done) IT_TRY_VOID(offer(id));
    return true;
  }

  // True if a value that decides the node's shapes or program will be there once what is planned so far has run.
  bool waits_for_values(NodeId id, std::span<const InputFact> facts) const {
    std::span<const int> decisive = r_.graph.node(id).op->value_inputs;
    return id.at() > r_.begin && std::any_of(decisive.begin(), decisive.end(), [&](int i) {
      auto at = static_cast<std::size_t>(i);
      return at < facts.size() && facts[at].type && !facts[at].constant;
    });
  }

  // Keeps going after an unknown operator, so that the report is complete, as long as the graph declares what it gives.
  bool true_if_types_declared(const Node& node) {
    for (ValueId output : node.outputs) {
      if (!output) continue;
      if (!crosses(r_.graph.value(output).type)) return false;
      types_[output.at()] = r_.graph.value(output).type;
    }
    return true;
  }

  Result<bool> propagate(const Node& node, std::span<const InputFact> facts, std::span<const Type> types) {
    OpenDims open;
    OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &open, &graph_body_types());
    auto dims = propagate_dims(context, types);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] && !fully_known(dims[i])) return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i]) continue;
      IT_TRY(Tensor tensor, tensor_of(*dims[i], types[i].dtype));
      out_.plan.known.emplace(node.outputs[i], std::move(tensor));
    }
    return true;
  }

  Status offer(NodeId id) {
    const Node& node = r_.graph.node(id);
    IT_TRY(Region region, Region::of_node(r_.graph, node, [&](ValueId v) { return ExactValue{*type_of(v), known(v)}; }));
    std::vector<Refusal> refusals;
    for (std::size_t d = 0; d < r_.devices.size(); ++d) {
      auto candidates = candidates_on(*r_.devices[d], static_cast<int>(d), region, r_.cap);
      if (candidates) {
        out_.refusals.insert(out_.refusals.end(), refusals.begin(), refusals.end());
        choices_.push_back({id, std::move(region), std::move(*candidates), 0});
        return {};
      }
      if (candidates.error().kind != ErrorKind::unsupported) return std::move(candidates.error());
      refuse(id, r_.devices[d]->name(), candidates.error().message, refusals);
      if (is_fused(node)) {
        out_.declined_bodies.push_back(id);
        return {};
      }
    }
    out_.unsupported.insert(out_.unsupported.end(), refusals.begin(), refusals.end());
    return {};
  }

  void refuse_undefined(NodeId id) {
    if (!r_.graph.node(id).op) refuse(id, "", std::string(undefined_operator), out_.unsupported);
  }

  void refuse(NodeId id, std::string device, std::string reason, std::vector<Refusal>& list) {
    const Node& node = r_.graph.node(id);
    std::vector<std::string> operands;
    for (ValueId input : node.inputs) {
      const Type* type = input ? type_of(input) : nullptr;
      operands.push_back(type ? to_string(*type) : "-");
    }
    list.push_back({id, std::move(device), text(node.domain.empty() ? "" : node.domain + "::", node.type, " ", join(operands, ", ")), std::move(reason)});
  }

  // ---- from choices to steps ------------------------------------------------------------------------------------------------------------

  Status lower() {
    for (const Choice& choice : choices_) {
      IT_TRY_VOID(bring_home(choice.node.at()));
      IT_TRY_VOID(lower_choice(choice));
    }
    IT_TRY_VOID(bring_home(SIZE_MAX));
    for (std::size_t v = 0; v < types_.size(); ++v) {
      ValueId id = value_id(v);
      if (!types_[v] || out_.plan.known.contains(id) || !outlives(id)) continue;
      IT_TRY(int place, place_for(id, 0, {}, r_.graph.value(id).producer, true));
      out_.plan.places[static_cast<std::size_t>(root_of(out_.plan, place))].kind = persist_unless_live(place);
      out_.plan.live_out.emplace_back(id, place);
    }
    return {};
  }

  // In a survey: the host reads what the nodes before `end` read that no device takes.
  Status bring_home(std::size_t end) {
    for (; brought_ < out_.unsupported.size() && out_.unsupported[brought_].node.at() < end; ++brought_) {
      NodeId node = out_.unsupported[brought_].node;
      for (ValueId input : r_.graph.node(node).inputs) {
        const Type* type = input && !known(input) ? type_of(input) : nullptr;
        if (type && crosses(*type)) IT_TRY_VOID(place_for(input, host, {}, node));
      }
    }
    return {};
  }

  bool outlives(ValueId id) const { return r_.wanted[id.at()] || (r_.last_use[id.at()] != SIZE_MAX && r_.last_use[id.at()] >= out_.plan.end); }

  Place::Kind persist_unless_live(int place) const {
    const Place& root = out_.plan.places[static_cast<std::size_t>(root_of(out_.plan, place))];
    return root.kind == Place::Kind::live_in ? Place::Kind::live_in : Place::Kind::persist;
  }

  int add_place(Place place) {
    auto number = static_cast<int>(out_.plan.places.size());
    places_of_[place.value].push_back(number);
    readers_.emplace_back();
    readers_[static_cast<std::size_t>(place.alias < 0 ? number : place.alias)].add(r_.last_use[place.value.at()], outlives(place.value));
    out_.plan.places.push_back(std::move(place));
    return number;
  }

  Place make_place(ValueId id, int device, const Layout& layout) const {
    const Type& type = *type_of(id);
    std::size_t bytes = byte_size(type.dtype, storage_count(layout, *constant_extents(*type.shape)));
    return {.value = id, .device = device, .layout = layout, .type = type, .bytes = bytes};
  }

  bool same_memory(int a, int b) const { return a == b || (on_host(r_.devices, a) && on_host(r_.devices, b)); }

  // A place of the value in that layout where that device can read it; adds what it takes to have one. anywhere: any device will do.
  Result<int> place_for(ValueId id, int device, const Layout& layout, NodeId reader, bool anywhere = false) {
    auto& places = places_of_[id];
    if (places.empty()) {
      Place place = make_place(id, host, {});
      place.kind = Place::Kind::live_in;
      place.slot = static_cast<int>(out_.plan.live_in.size());
      out_.plan.live_in.push_back(id);
      add_place(std::move(place));
    }
    for (int p : places_of_[id]) {
      const Place& place = out_.plan.places[static_cast<std::size_t>(p)];
      if (place.layout == layout && (anywhere || same_memory(place.device, device))) return p;
    }
    int source = places_of_[id].front();
    const Place from = out_.plan.places[static_cast<std::size_t>(source)];
    bool moves = !anywhere && !same_memory(from.device, device), changes = !(from.layout == layout);
    if (changes && (!moves || reorderer(from.device))) {  // where it is, before it moves; else where it arrives
      source = add_step(Step::Kind::reorder, source, make_place(id, reorderer(moves || anywhere ? from.device : device).value_or(device), layout), reader);
      changes = false;
    }
    if (moves) source = add_step(Step::Kind::transfer, source, make_place(id, device, changes ? from.layout : layout), reader);
    if (changes) source = add_step(Step::Kind::reorder, source, make_place(id, reorderer(device).value_or(device), layout), reader);
    return source;
  }

  // The first device that shares memory with `device` and can reorder.
  std::optional<int> reorderer(int device) const {
    for (std::size_t d = 0; d < r_.devices.size(); ++d) {
      if (same_memory(static_cast<int>(d), device) && r_.devices[d]->table().reorder) return static_cast<int>(d);
    }
    return std::nullopt;
  }

  int add_step(Step::Kind kind, int from, Place to, NodeId reader) {
    Step step;
    step.kind = kind;
    step.node = reader;
    step.device = to.device;
    step.kernel_name = kind == Step::Kind::reorder ? "reorder" : "transfer";
    step.inputs = {from};
    step.outputs = {add_place(std::move(to))};
    out_.plan.steps.push_back(std::move(step));
    return out_.plan.steps.back().outputs[0];
  }

  Status lower_choice(const Choice& choice) {
    const Candidate& candidate = choice.candidates[choice.chosen];
    Step step;
    step.node = choice.node;
    step.device = candidate.device;
    step.kernel_name = candidate.kernel;
    step.cost_ns = candidate.cost_ns;
    step.numerics = candidate.numerics;
    step.workspace = candidate.workspace;
    for (std::size_t i = 0; i < choice.region.inputs().size(); ++i) {
      IT_TRY(int place, place_for(choice.region.inputs()[i], candidate.device, candidate.input_layouts[i], choice.node));
      step.inputs.push_back(place);
    }
    bool only_view = !choice.region.outputs().empty();
    for (std::size_t i = 0; i < choice.region.outputs().size(); ++i) {
      Place place = make_place(choice.region.outputs()[i], candidate.device, candidate.output_layouts[i]);
      bool view = false;
      place.alias = shared_input(choice, step, i, place, view);
      only_view = only_view && view;
      step.outputs.push_back(add_place(std::move(place)));
    }
    out_.placements.push_back({choice.node, candidate.device, candidate.kernel, only_view});
    if (only_view) return {};
    const Device& device = *r_.devices[static_cast<std::size_t>(candidate.device)];
    Message message;
    it_kernel* handle = nullptr;
    IT_TRY_VOID(device.check(device.table().prepare(device.handle(), choice.region.view(), candidate.id, nullptr, 0, &handle, message.out()), message));
    step.kernel = std::make_shared<Kernel>(r_.devices[static_cast<std::size_t>(candidate.device)], handle);
    out_.plan.steps.push_back(std::move(step));
    return {};
  }

  // The place, itself no alias, whose memory output i may take over, or -1.
  int shared_input(const Choice& choice, const Step& step, std::size_t i, const Place& output, bool& view) const {
    const Candidate& candidate = choice.candidates[choice.chosen];
    for (const it_in_place& pair : candidate.in_place) {
      if (static_cast<std::size_t>(pair.output) != i || static_cast<std::size_t>(pair.input) >= step.inputs.size()) continue;
      int input = step.inputs[static_cast<std::size_t>(pair.input)];
      if (pair.view) {
        view = true;
        return root_of(out_.plan, input);
      }
      const Place& place = out_.plan.places[static_cast<std::size_t>(input)];
      bool read_once = std::count(step.inputs.begin(), step.inputs.end(), input) == 1;
      if (place.bytes == output.bytes && read_once && dies_here(input, choice.node)) return root_of(out_.plan, input);
    }
    return -1;
  }

  // The last readers of all values that lie in one memory.
  struct LastReaders {
    bool stay = false;         // a value outlives the plan
    std::size_t position = 0;  // of the last node that reads any of them
    std::size_t values = 0;    // that it reads

    void add(std::size_t last_use, bool outlives) {
      stay = stay || outlives;
      if (last_use == SIZE_MAX || last_use < position) return;
      values = last_use == position ? values + 1 : 1;
      position = last_use;
    }
  };

  // True if nothing reads the memory behind `place`, an input of `node`, after that node, nor that node itself by another value.
  bool dies_here(int place, NodeId node) const {
    auto root = static_cast<std::size_t>(root_of(out_.plan, place));
    const LastReaders& readers = readers_[root];
    if (out_.plan.places[root].kind == Place::Kind::live_in || readers.stay) return false;
    return readers.position < node.at() || (readers.position == node.at() && readers.values == 1);
  }

  const PlanRequest& r_;
  Planned out_;
  std::vector<std::optional<Type>> types_;
  std::vector<Choice> choices_;
  std::size_t brought_ = 0;  // refusals that bring_home has seen to
  std::map<ValueId, std::vector<int>> places_of_;
  std::vector<LastReaders> readers_;  // by place; of the first place of each memory
};

}  // namespace

Status check_size(const Type& type) {
  constexpr std::int64_t most_bits = std::int64_t{8} << 47;  // what a process can address
  std::int64_t room = most_bits / std::max(1, info(type.dtype).bits);
  Extents extents = *constant_extents(*type.shape);
  for (std::int64_t extent : extents) {
    if (extent < 0 || extent > room) return run_failed(text("a tensor ", to_string(type), " has more elements than memory can hold"));
    if (extent > 0) room /= extent;
  }
  return {};
}

Result<std::optional<std::vector<Type>>> exact_types(const Node& node, std::span<const InputFact> facts) {
  OpenDims open;
  OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &open, &graph_body_types());
  IT_TRY(std::vector<Type> types, infer_types(context));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (node.outputs[i] && types[i].is_tensor() && !is_exact(types[i])) return std::optional<std::vector<Type>>();
  }
  return std::optional<std::vector<Type>>(std::move(types));
}

Result<Planned> make_plan(const PlanRequest& request) { return Planner(request).plan(); }

}  // namespace infini
