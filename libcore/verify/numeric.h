// Holding rewrites to their word by running the graph: --verify-each=numeric.
#pragma once

#include <vector>

#include "libcore/base/result.h"
#include "libcore/exec/executor.h"
#include "libcore/ir/graph.h"

namespace infini {

// Results of a graph on given inputs, as the mark for the next graph made from it.
class NumericCheck {
 public:
  // Runs the graph on the devices. Errors: as running.
  static Result<NumericCheck> make(const Graph& graph, Devices devices, std::vector<Value> inputs);
  // internal: `graph` gives an output that differs from that of the graph before by more than `relative_l2`; 0 asks for the same bits.
  // What it gives is the mark for the next.
  Status check(const Graph& graph, double relative_l2);

 private:
  Devices devices_;
  std::vector<Value> inputs_, outputs_;
};

}  // namespace infini
