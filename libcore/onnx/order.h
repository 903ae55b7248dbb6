// The law of a graph in a file: every value produced once, nothing read that nobody gives, no cycles; and an order in which to build it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "libcore/onnx/messages.h"
#include "libcore/onnx/problems.h"

namespace infini::onnx_files {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Names = std::unordered_set<std::string_view>;

// What a graph reads from around it, nested graphs included.
Names free_names(const onnx::GraphProto& graph);

struct OrderRequest {
  const Nodes& nodes;
  const Names& given;                                 // inputs and initializers
  std::function<bool(std::string_view)> from_around;  // values of the graphs around
  const Path& path;                                   // of the graph
};
// Node numbers such that each value is produced before it is read; nodes that are in order already stay so. Nothing if there are problems.
std::optional<std::vector<int>> ordered(const OrderRequest& request, Problems& problems);

}  // namespace infini::onnx_files
