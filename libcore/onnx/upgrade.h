// Nodes of older opsets brought to the newest one, by their operators' own rules.
#pragma once

#include "libcore/ir/graph.h"

namespace infini::onnx_files {

// Adds `spec`, a node of `op` as `opset` has it, in its newest form, with the nodes that this takes around it. Returns a value for each of
// the outputs that `spec` names, invalid where not wanted. Errors: as GraphBuilder::add_node and the operator's upgrade.
Result<std::vector<ValueId>> add_upgraded(GraphBuilder& builder, const OpTable& ops, const OpDef& op, int opset, GraphBuilder::NodeSpec spec);

}  // namespace infini::onnx_files
