/* Elementwise micro-kernels on blocks of f32: what the instruction-set files of the vector family offer. Plain C types only. */
#ifndef IT_CPU_VECTOR_H
#define IT_CPU_VECTOR_H

#include <stdint.h>

/* p: the parameters in it_vector.p. NaN goes through, except where a comparison says otherwise in ONNX too. */
typedef enum it_vop {
  IT_V_COPY, IT_V_RELU, IT_V_CLIP /* p0 lowest, p1 highest */, IT_V_LEAKY /* p0 slope */, IT_V_ABS, IT_V_NEG, IT_V_SIGN, IT_V_SQRT, IT_V_RECIPROCAL,
  IT_V_FLOOR, IT_V_CEIL, IT_V_ROUND, IT_V_SQUARE, IT_V_CUBE, IT_V_EXP, IT_V_LOG, IT_V_ERF, IT_V_TANH, IT_V_SIGMOID, IT_V_GELU, IT_V_GELU_TANH,
  IT_V_SWISH /* x * sigmoid(p0 x) */, IT_V_HARD_SIGMOID /* p0 x + p1 */, IT_V_HARD_SWISH, IT_V_SOFTPLUS, IT_V_SOFTSIGN, IT_V_ELU /* p0 (e^x - 1) */,
  IT_V_SELU /* p0 alpha, p1 gamma */, IT_V_CELU /* p0 */, IT_V_MISH, IT_V_THRESHOLD /* x > p0 ? x : 0 */, IT_V_AFFINE /* p0 x + p1 */,
  IT_V_SHRINK /* p0 bias, p1 lambd */,
  IT_V_ADD, IT_V_SUB, IT_V_MUL, IT_V_DIV, IT_V_MAX, IT_V_MIN, IT_V_PRELU,
  IT_V_COUNT
} it_vop;

/* y[r * y_row + i] = op(x0[r * x_row[0] + i * x_col[0]], x1[..]) for r < rows, i < n. x_col is 0 or 1. y may be an operand. */
typedef struct it_vector {
  int32_t op;
  int64_t rows, n;
  float* y;
  int64_t y_row;
  const float* x[2];
  int64_t x_row[2];
  int32_t x_col[2];
  float p[2];
} it_vector;

typedef struct it_vector_kernels {
  void (*run)(const it_vector* args);
} it_vector_kernels;

extern const it_vector_kernels it_vector_portable, it_vector_avx2, it_vector_avx512;

#endif
