// The matrix tile for any processor.
#include "backends/cpu/kernels/tile.h"

#include "backends/cpu/kernels/simd_portable.inl"

namespace {
constexpr int PANEL = 2, MAX_ROWS_1 = 8, MAX_ROWS_2 = 4, MAX_ROWS_3 = 1, MAX_ROWS_4 = 1;
}  // namespace

#include "backends/cpu/kernels/tile.inl"

const it_tile_kernels it_tile_portable = {W, PANEL, {0, MAX_ROWS_1, MAX_ROWS_2, MAX_ROWS_3, MAX_ROWS_4}, run_tile, run_gemv};
