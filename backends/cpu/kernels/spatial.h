/* Windows over channels-last pixels: what the instruction-set files of the spatial family offer. Plain C types only. */
#ifndef IT_CPU_SPATIAL_H
#define IT_CPU_SPATIAL_H

#include <stdint.h>

/* y[p][c] = clamp(bias[c] + sum over t < taps of x[t * pixels + p][c] * w[t * channels + c] (+ residual), lo, hi), c < channels. */
typedef struct it_depthwise {
  const float* const* x;
  int64_t taps, channels;
  const float* w;
  const float* bias;        /* or null */
  float* const* y;
  int32_t pixels;           /* up to 4 */
  int32_t has_residual;
  int64_t residual;         /* bytes from a place in y to its residual */
  float lo, hi;
} it_depthwise;

/* y[c] = scale * sum, or the maximum (NaN wins), over t < taps of x[t][c]. */
typedef struct it_pool {
  const float* const* x;
  int64_t taps, channels;
  float* y;
  int32_t maximum;
  float scale;
} it_pool;

typedef struct it_spatial_kernels {
  void (*depthwise)(const it_depthwise* args);
  void (*pool)(const it_pool* args);
} it_spatial_kernels;

extern const it_spatial_kernels it_spatial_portable, it_spatial_avx2, it_spatial_avx512;

#endif
