// Rows of f32 for AVX2.
#include "backends/cpu/kernels/rows.h"

#if defined(__x86_64__)
#include "backends/cpu/kernels/simd_avx2.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/rows.inl"

const it_rows_kernels it_rows_avx2 = {run_softmax, run_softmax_columns, run_moments, run_normalize, run_reduce, run_reduce_columns};

#endif
