// The opset in which a graph is written.
#pragma once

#include <map>
#include <string>

#include "libcore/ir/graph.h"

namespace infini::onnx_files {

// The opset of every domain in use; of ai.onnx `wanted`, or for 0 the lowest in which each operator has its newest form.
// unsupported: nodes that cannot be said in it, in one grouped report.
Result<std::map<std::string, int>> choose_opsets(const Graph& graph, int wanted);

}  // namespace infini::onnx_files
