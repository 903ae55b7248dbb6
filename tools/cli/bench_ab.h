// it-bench ab A B: which of two graphs takes longer.
#pragma once

#include "libcore/base/result.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// Measures both in turns, prints the verdict; 1 if B is slower by more than --fail-if-slower for all the interval.
Result<int> bench_ab(const Arguments& arguments, const Talk& talk);

}  // namespace infini::cli
