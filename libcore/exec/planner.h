// From a graph and exact types to a plan.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/exec/choose.h"
#include "libcore/exec/plan.h"

namespace infini {

// Devices in order of preference: a node goes to the first that takes it.
using Devices = std::vector<std::shared_ptr<Device>>;

// True if the host can read and write the memory of that device, or it is the host.
inline bool on_host(const Devices& devices, int device) { return device == host || devices[static_cast<std::size_t>(device)]->host_memory(); }

// Why no device takes a node that the library does not understand.
inline constexpr std::string_view undefined_operator = "operator has no definition here";

// A node that no device takes, or one that had to go to a later device than the first.
struct Refusal {
  NodeId node;
  std::string device;
  std::string signature;  // "MatMul f64[2,3], f64[3,4]"
  std::string reason;
};

// What runs a node. A view takes no step of the plan.
struct Placement {
  NodeId node;
  int device = 0;
  std::string kernel;
  bool view = false;
};

struct PlanRequest {
  const Graph& graph;
  const Devices& devices;
  it_numerics cap = IT_ROUNDING;
  std::size_t begin = 0;                                    // first node to plan
  std::function<const Type*(ValueId)> live;                 // exact type of a value that is there already; null: not there
  std::function<const Tensor*(ValueId)> known;              // elements of a constant or a value known from before; null: not known
  std::span<const bool> wanted;                             // by value: must outlive the plan (outputs, observed values, read later)
  std::span<const std::size_t> last_use;                    // by value: position of the last node that reads it
  bool survey = false;                                      // only to see what runs where: nodes that no device takes count as the host's
};

struct Planned {
  Plan plan;
  std::vector<Refusal> refusals;                            // taken by a later device than the first
  std::vector<Refusal> unsupported;                         // taken by none; the plan is empty then, unless it is a survey
  std::vector<NodeId> declined_bodies;                      // `fused` nodes that no device takes whole; inline them and plan again
  std::vector<Placement> placements;                        // by node
  std::vector<std::optional<Type>> types;                   // by value: exact ones, of what the planned nodes give
};

// Plans nodes from request.begin up to the first whose exact output types cannot be told, or whose values do not cross to devices;
// plan.end says where it stopped (equal to begin: that node is the host's). bad_input: shapes contradict each other; a survey stops before such a node
// unless it is the first, and gives a plan that cannot be run.
Result<Planned> make_plan(const PlanRequest& request);

// True if every size is a number.
inline bool is_exact(const Type& type) { return type.has_shape() && constant_extents(*type.shape).has_value(); }

// `type` is exact. run_failed if no memory could hold such a tensor, an empty one with its axes of 0 left out. What passes can be counted in 64 bits, in bytes and in
// bits, and multiplied by small factors; whether there is that much memory, allocation tells.
Status check_size(const Type& type);

// The exact types of a node's outputs, if they follow from what is known. `facts` are of exact types.
Result<std::optional<std::vector<Type>>> exact_types(const Node& node, std::span<const InputFact> facts);

}  // namespace infini
