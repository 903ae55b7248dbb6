// A part of a graph, from some values to others.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini::onnx_files {

// What leads to `to` (names or globs of values or nodes; none: the graph's outputs), read from `from` (none: from the inputs) on.
// A value in `from` becomes an input, of a node its inputs do. Inputs that nothing reads any more go.
// usage: a name that matches nothing, a value that cannot be an input; bad_input if the rest does not fit together.
Result<Graph> cut_graph(const Graph& graph, const std::vector<std::string>& from, const std::vector<std::string>& to);

}  // namespace infini::onnx_files
