// The vector vocabulary of the micro-kernels in the compiler's own vectors of four floats: any processor. See simd_avx512.inl.
#include <stdint.h>

namespace {

constexpr int W = 4;  // floats in a vector
typedef float V __attribute__((vector_size(16)));
typedef int32_t I __attribute__((vector_size(16)));
using Mask = I;

inline V load(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
inline V load_n(const float* p, int n) {
  V v = {0, 0, 0, 0};
  __builtin_memcpy(&v, p, sizeof(float) * static_cast<unsigned>(n));
  return v;
}
inline void store_n(float* p, V v, int n) { __builtin_memcpy(p, &v, sizeof(float) * static_cast<unsigned>(n)); }
inline V set1(float x) { return V{x, x, x, x}; }
inline I bits(V v) {
  I i;
  __builtin_memcpy(&i, &v, sizeof i);
  return i;
}
inline V floats(I i) {
  V v;
  __builtin_memcpy(&v, &i, sizeof v);
  return v;
}
inline I splat(int32_t x) { return I{x, x, x, x}; }
inline V fma(V a, V b, V c) { return a * b + c; }
inline V select(Mask m, V a, V b) { return floats((m & bits(a)) | (~m & bits(b))); }
inline Mask less(V a, V b) { return a < b; }
inline Mask less_equal(V a, V b) { return a <= b; }
inline V max2(V a, V b) { return select(a > b, a, b); }
inline V min2(V a, V b) { return select(a < b, a, b); }
inline Mask is_nan(V a) { return a != a; }
inline Mask both(Mask a, Mask b) { return a & b; }
inline V abs1(V a) { return floats(bits(a) & splat(0x7fffffff)); }
inline V copy_sign(V size, V sign) { return floats(bits(abs1(size)) | (bits(sign) & splat(INT32_MIN))); }
inline V sqrt1(V a) { return V{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3])}; }
inline V round_even(V a) {
  V size = abs1(a);
  V rounded = (size + set1(8388608.0f)) - set1(8388608.0f);  // beyond 2^23 every float is whole
  return copy_sign(select(less(size, set1(8388608.0f)), rounded, a), a);
}
inline V floor1(V a) {
  V r = round_even(a);
  return copy_sign(select(r > a, r - set1(1.0f), r), a);
}
inline V ceil1(V a) {
  V r = round_even(a);
  return copy_sign(select(r < a, r + set1(1.0f), r), a);
}
inline V power2(I n) { return floats((n + splat(127)) << 23); }
inline V scale2(V x, V n) {
  V held = min2(max2(n, set1(-250.0f)), set1(250.0f));
  I k = __builtin_convertvector(held, I);
  I half = k >> 1;
  return x * power2(half) * power2(k - half);
}
inline Mask subnormal(V x) { return less(x, set1(1.17549435e-38f)); }
inline I bits_of_normal(V x) { return bits(select(subnormal(x), x * set1(16777216.0f), x)); }
inline V exponent(V x) {
  V e = __builtin_convertvector((bits_of_normal(x) >> 23) - splat(127), V);
  return select(subnormal(x), e - set1(24.0f), e);
}
inline V fraction(V x) { return floats((bits_of_normal(x) & splat(0x007fffff)) | splat(0x3f800000)); }
inline float sum(V a) { return (a[0] + a[1]) + (a[2] + a[3]); }

}  // namespace
