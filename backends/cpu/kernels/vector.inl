// Elementwise loops over the vocabulary of a simd_*.inl and math.inl.
namespace {

template <class F>
void unary(const it_vector* e, F f) {
  for (int64_t r = 0; r < e->rows; ++r) {
    const float* x = e->x[0] + r * e->x_row[0];
    float* y = e->y + r * e->y_row;
    int64_t i = 0;
    if (e->x_col[0] == 0) {
      V v = f(set1(*x));
      for (; i + W <= e->n; i += W) store(y + i, v);
      if (i < e->n) store_n(y + i, v, static_cast<int>(e->n - i));
      continue;
    }
    for (; i + W <= e->n; i += W) store(y + i, f(load(x + i)));
    if (i < e->n) store_n(y + i, f(load_n(x + i, static_cast<int>(e->n - i))), static_cast<int>(e->n - i));
  }
}

// STEP_A, STEP_B: 1 for an operand that advances, 0 for one number.
template <int STEP_A, int STEP_B, class F>
void binary_row(float* y, const float* a, const float* b, int64_t n, F f) {
  V va = set1(*a), vb = set1(*b);
  int64_t i = 0;
  for (; i + W <= n; i += W) store(y + i, f(STEP_A ? load(a + i) : va, STEP_B ? load(b + i) : vb));
  if (i == n) return;
  int rest = static_cast<int>(n - i);
  store_n(y + i, f(STEP_A ? load_n(a + i, rest) : va, STEP_B ? load_n(b + i, rest) : vb), rest);
}

template <class F>
void binary(const it_vector* e, F f) {
  for (int64_t r = 0; r < e->rows && e->n > 0; ++r) {
    const float* a = e->x[0] + r * e->x_row[0];
    const float* b = e->x[1] + r * e->x_row[1];
    float* y = e->y + r * e->y_row;
    if (e->x_col[0]) {
      if (e->x_col[1]) binary_row<1, 1>(y, a, b, e->n, f);
      else binary_row<1, 0>(y, a, b, e->n, f);
    } else {
      if (e->x_col[1]) binary_row<0, 1>(y, a, b, e->n, f);
      else binary_row<0, 0>(y, a, b, e->n, f);
    }
  }
}

bool run_binary(const it_vector* e) {
  switch (e->op) {
    case IT_V_ADD: binary(e, [](V a, V b) { return a + b; }); return true;
    case IT_V_SUB: binary(e, [](V a, V b) { return a - b; }); return true;
    case IT_V_MUL: binary(e, [](V a, V b) { return a * b; }); return true;
    case IT_V_DIV: binary(e, [](V a, V b) { return a / b; }); return true;
    case IT_V_MAX: binary(e, [](V a, V b) { return max_nan(a, b); }); return true;
    case IT_V_MIN: binary(e, [](V a, V b) { return min_nan(a, b); }); return true;
    case IT_V_PRELU: binary(e, [](V a, V b) { return select(less(a, set1(0.0f)), a * b, a); }); return true;
    default: return false;
  }
}

bool run_plain(const it_vector* e) {
  V p = set1(e->p[0]), q = set1(e->p[1]), zero = set1(0.0f);
  switch (e->op) {
    case IT_V_COPY: unary(e, [](V x) { return x; }); return true;
    case IT_V_RELU: unary(e, [=](V x) { return max2(zero, x); }); return true;
    case IT_V_CLIP: unary(e, [=](V x) { return min2(q, max2(p, x)); }); return true;
    case IT_V_LEAKY: unary(e, [=](V x) { return select(less(x, zero), x * p, x); }); return true;
    case IT_V_ABS: unary(e, [](V x) { return abs1(x); }); return true;
    case IT_V_NEG: unary(e, [](V x) { return -x; }); return true;
    case IT_V_SIGN: unary(e, [=](V x) { return select(less(x, zero), set1(-1.0f), select(less(zero, x), set1(1.0f), x)); }); return true;
    case IT_V_SQRT: unary(e, [](V x) { return sqrt1(x); }); return true;
    case IT_V_RECIPROCAL: unary(e, [](V x) { return set1(1.0f) / x; }); return true;
    case IT_V_FLOOR: unary(e, [](V x) { return floor1(x); }); return true;
    case IT_V_CEIL: unary(e, [](V x) { return ceil1(x); }); return true;
    case IT_V_ROUND: unary(e, [](V x) { return round_even(x); }); return true;
    case IT_V_SQUARE: unary(e, [](V x) { return x * x; }); return true;
    case IT_V_CUBE: unary(e, [](V x) { return x * x * x; }); return true;
    case IT_V_THRESHOLD: unary(e, [=](V x) { return select(less_equal(x, p), zero, x); }); return true;
    case IT_V_AFFINE: unary(e, [=](V x) { return fma(x, p, q); }); return true;
    case IT_V_SHRINK: unary(e, [=](V x) { return select(less(x, -q), x + p, select(less(q, x), x - p, zero)); }); return true;
    case IT_V_HARD_SIGMOID: unary(e, [=](V x) { return held(fma(x, p, q), 0.0f, 1.0f); }); return true;
    case IT_V_HARD_SWISH: unary(e, [](V x) { return x * held(fma(x, set1(1.0f / 6.0f), set1(0.5f)), 0.0f, 1.0f); }); return true;
    case IT_V_SOFTSIGN: unary(e, [](V x) { return x / (set1(1.0f) + abs1(x)); }); return true;
    default: return false;
  }
}

void run_transcendental(const it_vector* e) {
  V p = set1(e->p[0]), q = set1(e->p[1]), one = set1(1.0f), zero = set1(0.0f);
  switch (e->op) {
    case IT_V_EXP: return unary(e, [](V x) { return exp1(x); });
    case IT_V_LOG: return unary(e, [](V x) { return log1(x); });
    case IT_V_ERF: return unary(e, [](V x) { return erf1(x); });
    case IT_V_TANH: return unary(e, [](V x) { return tanh1(x); });
    case IT_V_SIGMOID: return unary(e, [](V x) { return sigmoid1(x); });
    case IT_V_GELU: return unary(e, [](V x) { return gelu1(x); });
    case IT_V_GELU_TANH: return unary(e, [](V x) { return gelu_tanh1(x); });
    case IT_V_SWISH: return unary(e, [=](V x) { return x * sigmoid1(x * p); });
    case IT_V_SOFTPLUS: return unary(e, [](V x) { return softplus1(x); });
    case IT_V_ELU: return unary(e, [=](V x) { return select(less(x, zero), p * (exp1(x) - one), x); });
    case IT_V_SELU: return unary(e, [=](V x) { return q * select(less_equal(x, zero), p * (exp1(x) - one), x); });
    case IT_V_CELU: return unary(e, [=](V x) { return select(less(x, zero), p * (exp1(x / p) - one), x); });
    case IT_V_MISH: return unary(e, [](V x) { return x * tanh1(softplus1(x)); });
    default: return;
  }
}

void run_vector(const it_vector* e) {
  if (!run_binary(e) && !run_plain(e)) run_transcendental(e);
}

}  // namespace
