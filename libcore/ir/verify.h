// The graph's own law: single assignment, order, types that inference confirms, existing references, unique names.
#pragma once

#include "libcore/ir/graph.h"

namespace infini {

// internal error naming node and rule on the first violation. GraphBuilder::build and the pass driver call it; a reader of streams turns it
// into bad_input.
Status verify(const Graph& graph);

}  // namespace infini
