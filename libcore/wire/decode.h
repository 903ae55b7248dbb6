// The graph frame to a graph.
#pragma once

#include <vector>

#include "schemas/graph.pb.h"

#include "libcore/ir/graph.h"

namespace infini::wire {

// bad_input: an index out of range, a name twice, types that contradict what inference gives, and whatever else breaks the graph's law; names the
// node. unsupported: an operator that `ops` does not have. `constants` are those of the frame.
Result<Graph> decode_graph(const v1::GraphFrame& frame, const std::vector<ConstantRef>& constants, const OpTable& ops);

}  // namespace infini::wire
