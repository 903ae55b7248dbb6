/* The matrix micro-kernel: what the instruction-set files of the gemm family offer. Plain C types only. */
#ifndef IT_CPU_TILE_H
#define IT_CPU_TILE_H

#include <stdint.h>

/* c[r][0..n) (+)= sum over t < taps, i < k of a[t * rows + r][a_offset + i] * b[(t * k + i) * ldb + 0..n)
 * Then, if finish: + bias[j], + residual at the same place, held to [lo, hi] (NaN stays NaN). */
typedef struct it_tile {
  const float* const* a;    /* taps * rows pointers */
  int64_t taps, k, a_offset;
  const float* b;           /* readable for whole vectors in every row */
  int64_t ldb;
  float* const* c;          /* one pointer a row */
  int64_t c_offset;
  int32_t rows, n;          /* n: up to vectors * width columns */
  int32_t accumulate;       /* c holds a partial sum to add to */
  int32_t finish;
  const float* bias;        /* n numbers, or null */
  int64_t residual;         /* bytes from a place in c to its residual; used if has_residual */
  int32_t has_residual;
  float lo, hi;
  const char* prefetch;     /* memory that is needed next: 64 bytes for every 4 of k; or null */
} it_tile;

/* y[0..n) of a vector-matrix product over whole panels: y[p * panel + j] = bias + sum a[i] * b[p][i][j]. */
typedef struct it_gemv {
  const float* a;
  int64_t k;
  const float* b;           /* panels of vectors * width columns, one after another */
  int64_t panels;           /* up to 4 */
  float* y;
} it_gemv;

typedef struct it_tile_kernels {
  int32_t width;            /* floats in a vector */
  int32_t vectors;          /* in a full panel */
  int32_t max_rows[5];      /* by vectors in the panel */
  void (*tile)(const it_tile* args);
  void (*gemv)(const it_gemv* args);
} it_tile_kernels;

extern const it_tile_kernels it_tile_portable, it_tile_avx2, it_tile_avx512;

#endif
