// What is different between two graphs.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/align.h"

namespace infini {

struct Difference {
  std::string kind;   // "input", "output", "symbol"; "added", "removed", "rewritten", "version"; "attribute", "wiring", "shape", "weight"
  std::string where;  // "Conv 'conv1'"; inside of bodies "If 'choose' then_branch: Conv 'conv1'"; empty for the graph itself
  std::string what;   // "strides: [1, 1] became [2, 2]"
};

struct GraphDiff {
  std::vector<Difference> differences;
  std::size_t nodes_a = 0, nodes_b = 0;   // of the graphs themselves, without bodies
  std::size_t alike = 0;                  // nodes of A whose partner in B is the same in all
  std::size_t shapes_that_follow = 0;     // further values whose type changed because what they are computed from did
  std::vector<std::string> unknown;       // weights that no content is known of on one side or both: not compared
  bool same() const { return differences.empty(); }
};

// Same: the nodes can be paired so that operators, attributes, inputs, types and contents of constants agree, and so do names and types of inputs and
// outputs and the bounds of symbols. The order of nodes, inner names, origins, metadata do not count. bad_input: a constant cannot be read.
Result<GraphDiff> diff(const Graph& a, const Graph& b);

}  // namespace infini
