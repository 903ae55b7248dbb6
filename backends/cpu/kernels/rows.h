/* Micro-kernels over rows of f32: softmax, normalisation, reductions. What the instruction-set files of the rows family offer. */
#ifndef IT_CPU_ROWS_H
#define IT_CPU_ROWS_H

#include <stdint.h>

typedef enum it_reduction { IT_R_SUM, IT_R_SUM_ABS, IT_R_SUM_SQUARE, IT_R_MAX, IT_R_MIN, IT_R_PROD } it_reduction;

typedef struct it_rows_kernels {
  /* y = softmax(x) or its logarithm over n numbers; y may be x. */
  void (*softmax)(const float* x, float* y, int64_t n, int32_t logarithm);
  /* The same over the rows of n x columns numbers with rows `stride` apart, each column by itself. */
  void (*softmax_columns)(const float* x, float* y, int64_t n, int64_t columns, int64_t stride, int32_t logarithm);
  /* Mean and mean squared distance from it (from 0 if about_zero; the mean is 0 then). */
  void (*moments)(const float* x, int64_t n, int32_t about_zero, float* mean, float* variance);
  /* y = (x - mean) * factor * scale[i] + shift[i] + offset; scale and shift may be null. y may be x. */
  void (*normalize)(const float* x, float* y, int64_t n, float mean, float factor, const float* scale, const float* shift, float offset);
  /* One number out of n; NaN wins a maximum and a minimum. */
  float (*reduce)(int32_t reduction, const float* x, int64_t n);
  /* y[j] out of n rows `stride` apart, for j < columns. */
  void (*reduce_columns)(int32_t reduction, const float* x, int64_t n, int64_t stride, float* y, int64_t columns);
} it_rows_kernels;

extern const it_rows_kernels it_rows_portable, it_rows_avx2, it_rows_avx512;

#endif
