// What a device is asked before it is trusted.
#pragma once

#include "libcore/exec/planner.h"
#include "tools/cli/environment.h"

namespace infini::cli {

// One question per family of kernels, with small whole numbers whose answers were worked out by hand.
std::vector<KnownAnswer> ask_known_answers(const std::string& name, const Devices& devices);

}  // namespace infini::cli
