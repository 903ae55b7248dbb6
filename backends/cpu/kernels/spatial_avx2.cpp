// Windows over channels-last pixels for AVX2.
#include "backends/cpu/kernels/spatial.h"

#if defined(__x86_64__)
#include "backends/cpu/kernels/simd_avx2.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/spatial.inl"

const it_spatial_kernels it_spatial_avx2 = {run_depthwise, run_pool};

#endif
