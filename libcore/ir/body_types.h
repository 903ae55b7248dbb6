// Types inside a nested graph, inferred again for given arguments.
#pragma once

#include <span>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini {

class FreshNumbers;

// The type of every value of `graph` when its inputs have these types (arguments that are missing or unknown keep the declared ones). What
// inference leaves open has the graph's own types.
Result<std::vector<Type>> infer_body(const Graph& graph, std::span<const Type> arguments);

// The types of its outputs alone; sizes that only running tells come from `fresh`.
Result<std::vector<Type>> infer_body_outputs(const Graph& graph, std::span<const Type> arguments, FreshNumbers& fresh);

// For OpContext: looks into bodies by infer_body.
const BodyTypes& graph_body_types();

}  // namespace infini
