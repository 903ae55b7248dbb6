// Rows of f32 for any processor.
#include "backends/cpu/kernels/rows.h"

#include "backends/cpu/kernels/simd_portable.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/rows.inl"

const it_rows_kernels it_rows_portable = {run_softmax, run_softmax_columns, run_moments, run_normalize, run_reduce, run_reduce_columns};
