#include "libcore/exec/choose.h"

#include <algorithm>
#include <map>

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr int max_rounds = 8;

Extents extents_of(const it_region& region, std::int32_t value) {
  const it_tensor& type = region.values[value].type;
  return Extents(type.extents, type.extents + type.rank);
}

std::vector<Layout> layouts(const it_layout* given, const it_region& region, const std::int32_t* values, std::int32_t count) {
  std::vector<Layout> out(static_cast<std::size_t>(count));
  if (!given) return out;
  for (std::int32_t i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = canonical(given[i], extents_of(region, values[i]));
  return out;
}

// What breaks the contract in a candidate; empty: nothing.
std::string fault_of(const it_candidate& offered, const it_region& region) {
  if (offered.struct_size < sizeof(it_candidate)) return text("has struct_size ", offered.struct_size, ", expected ", sizeof(it_candidate));
  if (offered.in_place_count < 0 || (offered.in_place_count > 0 && !offered.in_place)) return text("has ", offered.in_place_count, " in_place pairs at no address");
  for (const it_in_place& pair : std::span(offered.in_place, static_cast<std::size_t>(offered.in_place_count))) {
    bool known = pair.input >= 0 && pair.input < region.input_count && pair.output >= 0 && pair.output < region.output_count;
    if (!known) return text("has an in_place pair of input ", pair.input, " and output ", pair.output, ", of ", region.input_count, " and ", region.output_count);
  }
  return {};
}

struct Listener {
  const it_region& region;
  int device;
  it_numerics cap;
  std::vector<Candidate> heard = {};
  std::string fault = {};

  static void hear(void* sink, const it_candidate* offered) {
    auto& self = *static_cast<Listener*>(sink);
    if (self.fault.empty()) self.fault = fault_of(*offered, self.region);
    if (!self.fault.empty() || offered->numerics > self.cap) return;
    Candidate c;
    c.device = self.device;
    c.id = offered->id;
    c.kernel = offered->kernel ? offered->kernel : "";
    c.input_layouts = layouts(offered->input_layouts, self.region, self.region.inputs, self.region.input_count);
    c.output_layouts = layouts(offered->output_layouts, self.region, self.region.outputs, self.region.output_count);
    c.workspace = offered->workspace;
    c.packed = offered->packed;
    c.in_place.assign(offered->in_place, offered->in_place + offered->in_place_count);
    c.numerics = offered->numerics;
    c.cost_ns = offered->cost_ns;
    self.heard.push_back(std::move(c));
  }
};

// Where a value comes from and who reads it, as positions in `choices` and in their regions.
struct Edge {
  std::size_t choice, operand;
};

class Chooser {
 public:
  Chooser(std::span<Choice> choices, std::span<const std::shared_ptr<Device>> devices, const std::function<std::size_t(ValueId)>& bytes)
      : choices_(choices), devices_(devices), bytes_(bytes) {
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      const Region& region = choices_[c].region;
      for (std::size_t i = 0; i < region.outputs().size(); ++i) producer_[region.outputs()[i]] = {c, i};
      for (std::size_t i = 0; i < region.inputs().size(); ++i) readers_[region.inputs()[i]].push_back({c, i});
    }
  }

  // Improves one node at a time until nothing gets cheaper; returns the total.
  double settle() {
    for (int round = 0; round < max_rounds; ++round) {
      bool changed = false;
      for (std::size_t c = 0; c < choices_.size(); ++c) changed |= improve(c);
      if (!changed) break;
    }
    double total = 0;
    for (std::size_t c = 0; c < choices_.size(); ++c) total += choices_[c].candidates[choices_[c].chosen].cost_ns + input_cost(c, choices_[c].chosen);
    return total;
  }

 private:
  double convert(ValueId value, const Layout& from, int from_device, const Layout& to, int to_device) const {
    double cost = 0;
    const it_device_info& info = devices_[static_cast<std::size_t>(to_device)]->info();
    if (from != to) cost += reorder_cost_ns(bytes_(value), info.bytes_per_ns);
    bool shared = devices_[static_cast<std::size_t>(from_device)]->host_memory() && devices_[static_cast<std::size_t>(to_device)]->host_memory();
    if (from_device != to_device && !shared) cost += reorder_cost_ns(bytes_(value), 10);
    return cost;
  }

  // Conversions of the inputs of choice c, if it took `candidate`.
  double input_cost(std::size_t c, std::size_t candidate) const {
    double cost = 0;
    const Candidate& own = choices_[c].candidates[candidate];
    std::span<const ValueId> inputs = choices_[c].region.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      auto from = producer_.find(inputs[i]);
      if (from == producer_.end()) {
        cost += convert(inputs[i], {}, own.device, own.input_layouts[i], own.device);
        continue;
      }
      const Choice& source = choices_[from->second.choice];
      const Candidate& made = source.candidates[source.chosen];
      cost += convert(inputs[i], made.output_layouts[from->second.operand], made.device, own.input_layouts[i], own.device);
    }
    return cost;
  }

  double output_cost(std::size_t c, std::size_t candidate) const {
    double cost = 0;
    const Candidate& own = choices_[c].candidates[candidate];
    std::span<const ValueId> outputs = choices_[c].region.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      auto readers = readers_.find(outputs[i]);
      if (readers == readers_.end()) {
        cost += convert(outputs[i], own.output_layouts[i], own.device, {}, own.device);
        continue;
      }
      for (const Edge& edge : readers->second) {
        const Choice& reader = choices_[edge.choice];
        const Candidate& other = reader.candidates[reader.chosen];
        cost += convert(outputs[i], own.output_layouts[i], own.device, other.input_layouts[edge.operand], other.device);
      }
    }
    return cost;
  }

  bool improve(std::size_t c) {
    Choice& choice = choices_[c];
    std::size_t best = choice.chosen;
    double best_cost = choice.candidates[best].cost_ns + input_cost(c, best) + output_cost(c, best);
    for (std::size_t k = 0; k < choice.candidates.size(); ++k) {
      if (k == choice.chosen) continue;
      double cost = choice.candidates[k].cost_ns + input_cost(c, k) + output_cost(c, k);
      if (cost < best_cost) {
        best_cost = cost;
        best = k;
      }
    }
    bool changed = best != choice.chosen;
    choice.chosen = best;
    return changed;
  }

  std::span<Choice> choices_;
  std::span<const std::shared_ptr<Device>> devices_;
  const std::function<std::size_t(ValueId)>& bytes_;
  std::map<ValueId, Edge> producer_;
  std::map<ValueId, std::vector<Edge>> readers_;
};

bool rearranged(const Candidate& candidate) {
  return std::any_of(candidate.output_layouts.begin(), candidate.output_layouts.end(), [](const Layout& layout) { return !layout.row_major(); });
}

// A start for settle(): each node's cheapest candidate by itself, of the kind asked for where there is one.
void start_with(std::span<Choice> choices, bool prefer_rearranged) {
  for (Choice& choice : choices) {
    auto better = [&](const Candidate& a, const Candidate& b) {
      bool x = rearranged(a) == prefer_rearranged, y = rearranged(b) == prefer_rearranged;
      return x != y ? x : a.cost_ns < b.cost_ns;
    };
    auto best = std::min_element(choice.candidates.begin(), choice.candidates.end(), better);
    choice.chosen = static_cast<std::size_t>(best - choice.candidates.begin());
  }
}

std::vector<std::size_t> snapshot(std::span<const Choice> choices) {
  std::vector<std::size_t> out;
  for (const Choice& choice : choices) out.push_back(choice.chosen);
  return out;
}

}  // namespace

Result<std::vector<Candidate>> candidates_on(const Device& device, int device_number, const Region& region, it_numerics cap) {
  Listener listener{*region.view(), device_number, cap};
  Message reason;
  it_status status = device.table().candidates(device.handle(), region.view(), {&listener, Listener::hear}, reason.out());
  if (status != IT_OK && status != IT_UNSUPPORTED) return backend_error(status, device.name(), reason);
  if (!listener.fault.empty()) return run_failed(text("backend ", device.name(), " offers a candidate that ", listener.fault));
  if (listener.heard.empty()) return unsupported(reason.text().empty() ? "no kernel" : reason.text());
  if (!(device.table().prepare && device.table().launch && device.table().discard)) {
    return run_failed(text("backend ", device.name(), " offers a kernel, but leaves prepare, launch or discard NULL"));
  }
  return std::move(listener.heard);
}

void choose_candidates(std::span<Choice> choices, std::span<const std::shared_ptr<Device>> devices, const std::function<std::size_t(ValueId)>& bytes) {
  Chooser chooser(choices, devices, bytes);
  start_with(choices, false);
  double plain = chooser.settle();
  std::vector<std::size_t> plain_choice = snapshot(choices);
  start_with(choices, true);
  if (chooser.settle() < plain) return;
  for (std::size_t c = 0; c < choices.size(); ++c) choices[c].chosen = plain_choice[c];
}

}  // namespace infini
