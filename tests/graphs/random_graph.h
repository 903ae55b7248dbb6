// Random graphs of operators that passes rewrite and planners place: small, valid, with values read several times.
#pragma once

#include <cstdint>

#include "libcore/ir/graph.h"

namespace infini::tests {

struct RandomGraph {
  std::uint64_t seed = 0;
  int nodes = 12;
  DType dtype = DType::f32;
  bool symbolic = false;      // the first axis of the inputs is "n"
  bool products = true;       // convolutions, products and normalisations as well; else elementwise operators and moves only
  bool odd_outputs = true;    // inputs, constants and doubles among the outputs
  bool tame = false;          // nothing whose result depends much on rounding
};

Graph random_graph(const OpTable& ops, const RandomGraph& wish);

}  // namespace infini::tests
