// What a list of devices runs of a graph, and where, without running it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/exec/cost.h"
#include "libcore/exec/planner.h"

namespace infini {

// Tensors that move between devices, or between a device and the host.
struct Copies {
  std::size_t count = 0;
  double bytes = 0;
  Copies& operator+=(const Copies& other) {
    count += other.count;
    bytes += other.bytes;
    return *this;
  }
};
// Those of one run of the plan, values that the host needs later or that are results included.
Copies copies_of(const Plan& plan, const Devices& devices);

// Where a node runs. planning: shape arithmetic, known before anything runs. later: known only when it runs, as its sizes are.
enum class Where : std::uint8_t { device, planning, at_host, later, nowhere };

// How the sizes of a node's operands and results are known: numbers; expressions of the inputs' symbols; or some of them only when it runs.
enum class SizeClass : std::uint8_t { fixed, symbolic, dynamic };

// A device that does not take the node ("": nobody could), and why.
struct Reason {
  std::string device, text;
  friend auto operator<=>(const Reason&, const Reason&) = default;
};

struct NodeCoverage {
  std::string op, name;                 // "Conv", "org.example::Mystery", "fused MatMul+Add"; the node's name, perhaps empty
  std::string types;                    // element types of the operands: "f32,i64"
  SizeClass sizes = SizeClass::fixed;
  Where where = Where::later;
  std::string device, kernel;           // where it runs on a device
  std::vector<Reason> reasons;          // of the devices asked before, or of all
  Cost cost;                            // none where nothing is done: while planning, or a view
};

struct Coverage {
  std::vector<NodeCoverage> nodes;      // in the order of the graph; those of its bodies behind the node that holds them
  Copies copies;                        // nodes that run nowhere count as the host's
};

// `types` of the graph's inputs are exact as far as they are known; `given` their values, where a run would have the same.
struct CoverageRequest {
  const Devices& devices;
  std::span<const Type> types;
  std::span<const std::optional<Value>> given;
  it_numerics cap = IT_ROUNDING;
};

// "Conv", "org.example::Mystery", "fused MatMul+Add".
std::string operator_label(const Node& node);

// Asks the devices for each node as a run does. Sizes that only running tells count as 1 in what is asked behind them; where that contradicts itself, or
// where values decide, the node is `later`. bad_input: shapes contradict each other, a constant cannot be read; run_failed: a device failed.
Result<Coverage> cover(const Graph& graph, const CoverageRequest& request);

}  // namespace infini
