// The native CPU backend behind the plugin table.
#pragma once

#include <cstdint>

#include "libcore/plugin/it_backend.h"

namespace infini::cpu {

// The table, or null if max_abi is below 1. Options of open: threads=N (default: the processors this process may use),
// isa=portable|avx2|avx512 (default: the best), reproducible=0|1, fault=NAME (faults.def; for tests).
const it_backend* backend(std::uint32_t max_abi);

}  // namespace infini::cpu
