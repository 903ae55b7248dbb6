// Types inside a nested graph, inferred again for given arguments.
#pragma once

#include <span>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini {

// The type of every value of `graph` when its inputs have these types (arguments that are missing or unknown keep the declared ones).
Result<std::vector<Type>> infer_body(const Graph& graph, std::span<const Type> arguments);

// For OpContext: looks into bodies by infer_body.
const BodyTypes& graph_body_types();

}  // namespace infini
