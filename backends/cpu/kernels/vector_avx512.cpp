// Elementwise micro-kernels for AVX-512.
#include "backends/cpu/kernels/vector.h"

#if defined(__x86_64__)
#include "backends/cpu/kernels/simd_avx512.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/vector.inl"

const it_vector_kernels it_vector_avx512 = {run_vector};

#endif
