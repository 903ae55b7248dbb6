// The vector vocabulary of the micro-kernels: AVX-512 (F, BW, DQ, VL). simd_avx2.inl and simd_portable.inl offer the same names.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns about its own _mm512_undefined_ps
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#include <stdint.h>

namespace {

constexpr int W = 16;  // floats in a vector
using V = __m512;
using I = __m512i;
using Mask = __mmask16;

inline Mask first(int n) { return static_cast<Mask>((1u << n) - 1u); }  // n in [0, W]
inline V load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, V v) { _mm512_storeu_ps(p, v); }
inline V load_n(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
inline void store_n(float* p, V v, int n) { _mm512_mask_storeu_ps(p, first(n), v); }
inline V set1(float x) { return _mm512_set1_ps(x); }
inline V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
// b where the comparison is false, so also where either is NaN.
inline V max2(V a, V b) { return _mm512_max_ps(a, b); }
inline V min2(V a, V b) { return _mm512_min_ps(a, b); }
inline V select(Mask m, V a, V b) { return _mm512_mask_blend_ps(m, b, a); }
inline Mask less(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline Mask less_equal(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
inline Mask is_nan(V a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
inline Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
inline V abs1(V a) { return _mm512_abs_ps(a); }
inline V copy_sign(V size, V sign) { return _mm512_or_ps(_mm512_abs_ps(size), _mm512_and_ps(sign, set1(-0.0f))); }
inline V sqrt1(V a) { return _mm512_sqrt_ps(a); }
inline V round_even(V a) { return _mm512_roundscale_ps(a, 8); }
inline V floor1(V a) { return _mm512_roundscale_ps(a, 9); }
inline V ceil1(V a) { return _mm512_roundscale_ps(a, 10); }
// x * 2^n for whole n; overflows to infinity and underflows gradually.
inline V scale2(V x, V n) { return _mm512_scalef_ps(x, n); }
// x = f * 2^e with f in [1, 2), for finite x > 0, subnormal ones included.
inline V exponent(V x) { return _mm512_getexp_ps(x); }
inline V fraction(V x) { return _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src); }
inline float sum(V a) { return _mm512_reduce_add_ps(a); }

}  // namespace
