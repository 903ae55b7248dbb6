// Elementwise micro-kernels for any processor.
#include "backends/cpu/kernels/vector.h"

#include "backends/cpu/kernels/simd_portable.inl"

#include "backends/cpu/kernels/math.inl"
#include "backends/cpu/kernels/vector.inl"

const it_vector_kernels it_vector_portable = {run_vector};
