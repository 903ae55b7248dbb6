// Conversions between the plain types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/pool.h"
#include "libcore/tensor/dtype.h"

namespace infini::cpu {

// Converts n adjacent elements; places may be unaligned.
using CastFunction = void (*)(const std::byte* from, std::byte* to, std::int64_t n);

// Rounds each element once; integers wrap around. Null where a type is not plain: f32, f64, f16, bf16, integers, bool.
CastFunction cast_function(DType from, DType to);

// `function`, which is for these types, on all threads of the pool.
void cast_all(Pool& pool, CastFunction function, DType from_type, const std::byte* from, DType to_type, std::byte* to, std::int64_t n);

}  // namespace infini::cpu
