// The graph's own law: single assignment, order, types that inference confirms, existing references, unique names.
#pragma once

#include "libcore/ir/graph.h"

namespace infini {

// internal error naming node and rule on the first violation, bodies included. The pass driver calls it; a reader of streams turns it
// into bad_input.
Status verify(const Graph& graph);

// All of it but inference and the insides of bodies; what GraphBuilder::build checks.
Status verify_structure(const Graph& graph);

}  // namespace infini
