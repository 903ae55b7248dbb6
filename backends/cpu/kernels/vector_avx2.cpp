// Elementwise micro-kernels for AVX2.
#include "backends/cpu/kernels/vector.h"

#if defined(__x86_64__)
#include "backends/cpu/kernels/simd_avx2.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/vector.inl"

const it_vector_kernels it_vector_avx2 = {run_vector};

#endif
