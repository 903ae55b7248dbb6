// Which candidate runs each node: the cheapest assignment over all nodes, conversions between layouts included.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/exec/layout.h"
#include "libcore/exec/region.h"
#include "libcore/plugin/plugin.h"

namespace infini {

// A candidate as the backend offered it, copied; layouts canonical, one per region input and output.
struct Candidate {
  int device = 0;
  std::int32_t id = 0;
  std::string kernel;
  std::vector<Layout> input_layouts, output_layouts;
  std::size_t workspace = 0, packed = 0;
  std::vector<it_in_place> in_place;
  it_numerics numerics = IT_EXACT;
  double cost_ns = 0;
};

// All candidates of a region on a device whose numerics class is at most `cap`; the Error carries the backend's reason if there is none.
Result<std::vector<Candidate>> candidates_on(const Device& device, int device_number, const Region& region, it_numerics cap);

// One node to be run, and what may run it.
struct Choice {
  NodeId node;
  Region region;
  std::vector<Candidate> candidates;
  std::size_t chosen = 0;
};

// Sets `chosen` of every choice. live_in values lie row-major in host memory; `bytes` gives a value's size.
void choose_candidates(std::span<Choice> choices, std::span<const std::shared_ptr<Device>> devices, const std::function<std::size_t(ValueId)>& bytes);

}  // namespace infini
