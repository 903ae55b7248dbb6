// A plan: a stretch of a graph's nodes, for exact shapes, as kernels over places in memory.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/exec/layout.h"
#include "libcore/exec/region.h"
#include "libcore/ir/graph.h"
#include "libcore/plugin/plugin.h"

namespace infini {

// The number of the host among devices: where tensors lie that come from outside.
inline constexpr int host = -1;

// A value's bytes on one device in one layout.
struct Place {
  enum class Kind : std::uint8_t {
    arena,    // dies inside the plan: at `offset` of the device's arena
    live_in,  // there before the plan runs: input number `slot` of the plan
    persist,  // outlives the plan: a buffer of its own
  };
  ValueId value;
  int device = 0;          // or `host`, for what is live in
  Layout layout;
  Type type;               // exact
  std::size_t bytes = 0;   // of storage, blocks padded
  Kind kind = Kind::arena;
  int alias = -1;          // shares the memory of this earlier place, which is no alias itself
  std::size_t offset = 0;
  int slot = -1;
};

struct Step {
  enum class Kind : std::uint8_t { kernel, reorder, transfer };
  Kind kind = Kind::kernel;
  NodeId node;                       // the node it computes, or the reader it serves
  int device = 0;
  std::string kernel_name;
  double cost_ns = 0;
  it_numerics numerics = IT_EXACT;
  std::shared_ptr<Kernel> kernel;
  std::vector<int> inputs, outputs;  // places
  std::size_t workspace = 0;         // bytes
  std::size_t workspace_offset = 0;  // in the arena
};

// Values whose elements the plan was made for: shape arithmetic, and what decides its first node's shapes.
using KnownValues = std::map<ValueId, Tensor>;

struct Plan {
  std::size_t begin = 0, end = 0;    // node positions
  std::vector<Place> places;
  std::vector<Step> steps;
  std::vector<ValueId> live_in;      // by slot
  std::vector<std::pair<ValueId, int>> live_out;  // value and its place
  KnownValues known;
  std::vector<std::size_t> arena_bytes;           // per device
};

// The place whose memory `place` lies in.
int root_of(const Plan& plan, int place);

// Gives every arena place and workspace its offset so that those alive together do not overlap.
void lay_out_arena(Plan& plan, std::size_t device_count);

}  // namespace infini
