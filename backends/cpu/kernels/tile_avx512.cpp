// The matrix tile for AVX-512.
#include "backends/cpu/kernels/tile.h"

#if defined(__x86_64__)
#include "backends/cpu/kernels/simd_avx512.inl"

namespace {
constexpr int PANEL = 4, MAX_ROWS_1 = 8, MAX_ROWS_2 = 8, MAX_ROWS_3 = 8, MAX_ROWS_4 = 6;
}  // namespace

#include "backends/cpu/kernels/tile.inl"

const it_tile_kernels it_tile_avx512 = {W, PANEL, {0, MAX_ROWS_1, MAX_ROWS_2, MAX_ROWS_3, MAX_ROWS_4}, run_tile, run_gemv};

#endif
