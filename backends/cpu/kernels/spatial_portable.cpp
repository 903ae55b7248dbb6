// Windows over channels-last pixels for any processor.
#include "backends/cpu/kernels/spatial.h"

#include "backends/cpu/kernels/simd_portable.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/spatial.inl"

const it_spatial_kernels it_spatial_portable = {run_depthwise, run_pool};
