// Bodies put in place of the nodes that hold them.
#pragma once

#include <functional>

#include "libcore/ir/graph.h"

namespace infini {

// The graph in which each node that `which` names (it has one body, attribute "body", whose inputs and outputs match the node's) is replaced by the
// body's nodes. Output names stay; names inside get a suffix where they clash; origins are those of the body's nodes.
Result<Graph> inline_bodies(const Graph& graph, const std::function<bool(const Node&)>& which);

// True for a `fused` node: a body that one kernel should run.
bool is_fused(const Node& node);

}  // namespace infini
