// A graph as messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/ir/graph.h"
#include "libcore/onnx/messages.h"

namespace infini::onnx_files {

// The message of `graph`; its own constants are left out and added to `weights` under their names, those of nested graphs are inside.
// Inside nested graphs a value is renamed where its name would hide one of a graph around.
struct Weight {
  std::string name;
  ConstantRef constant;
};
Result<onnx::GraphProto> graph_message(const Graph& graph, std::vector<Weight>& weights);

// Name, element type and dimensions of a constant, and its strings if it holds such; no other data.
onnx::TensorProto tensor_header(std::string_view name, DType dtype, const Extents& extents);

}  // namespace infini::onnx_files
