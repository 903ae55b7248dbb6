// The vector vocabulary of the micro-kernels: AVX2 with FMA. See simd_avx512.inl for what each name means.
#include <immintrin.h>
#include <stdint.h>

namespace {

constexpr int W = 8;  // floats in a vector
using V = __m256;
using I = __m256i;
using Mask = __m256;

inline I first(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
inline V load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, V v) { _mm256_storeu_ps(p, v); }
inline V load_n(const float* p, int n) { return _mm256_maskload_ps(p, first(n)); }
inline void store_n(float* p, V v, int n) { _mm256_maskstore_ps(p, first(n), v); }
inline V set1(float x) { return _mm256_set1_ps(x); }
inline V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
inline V max2(V a, V b) { return _mm256_max_ps(a, b); }
inline V min2(V a, V b) { return _mm256_min_ps(a, b); }
inline V select(Mask m, V a, V b) { return _mm256_blendv_ps(b, a, m); }
inline Mask less(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
inline Mask less_equal(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
inline Mask is_nan(V a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
inline Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
inline V abs1(V a) { return _mm256_andnot_ps(set1(-0.0f), a); }
inline V copy_sign(V size, V sign) { return _mm256_or_ps(abs1(size), _mm256_and_ps(sign, set1(-0.0f))); }
inline V sqrt1(V a) { return _mm256_sqrt_ps(a); }
inline V round_even(V a) { return _mm256_round_ps(a, 8); }
inline V floor1(V a) { return _mm256_round_ps(a, 9); }
inline V ceil1(V a) { return _mm256_round_ps(a, 10); }

inline V power2(I n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)); }
// Two factors, since 2^n itself may not be a normal number; n is held within what changes the result.
inline V scale2(V x, V n) {
  I k = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(n, set1(-250.0f)), set1(250.0f)));
  I half = _mm256_srai_epi32(k, 1);
  return _mm256_mul_ps(_mm256_mul_ps(x, power2(half)), power2(_mm256_sub_epi32(k, half)));
}
inline Mask subnormal(V x) { return less(x, set1(1.17549435e-38f)); }
inline I bits_of_normal(V x) { return _mm256_castps_si256(select(subnormal(x), _mm256_mul_ps(x, set1(16777216.0f)), x)); }
inline V exponent(V x) {
  V e = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bits_of_normal(x), 23), _mm256_set1_epi32(127)));
  return select(subnormal(x), _mm256_sub_ps(e, set1(24.0f)), e);
}
inline V fraction(V x) {
  I bits = _mm256_and_si256(bits_of_normal(x), _mm256_set1_epi32(0x007fffff));
  return _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_set1_epi32(0x3f800000)));
}
inline float sum(V a) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

}  // namespace
