// The grouped report of what no device takes.
#pragma once

#include <span>
#include <string>

#include "libcore/exec/planner.h"

namespace infini {

// One line per operator, types and reason: "2 x TopK f32[1,8] on cpu: no kernel ('topk_1', 'topk_2')". `brief`: whatever the types.
std::string grouped_report(const Graph& graph, std::span<const Refusal> refusals, bool brief = false);

}  // namespace infini
