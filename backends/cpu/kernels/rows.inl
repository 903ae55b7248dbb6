// Rows of f32 over the vocabulary of a simd_*.inl and math.inl. Long sums are kept in blocks, so that their error stays near one rounding.
namespace {

constexpr int64_t sum_block = 256 * W;

// A reduction's first value, how a number is taken in, and how two partial results are joined.
struct Sum {
  static V neutral() { return set1(0.0f); }
  static V take(V acc, V x) { return acc + x; }
  static V join(V a, V b) { return a + b; }
};
struct SumAbs : Sum {
  static V take(V acc, V x) { return acc + abs1(x); }
};
struct SumSquare : Sum {
  static V take(V acc, V x) { return fma(x, x, acc); }
};
struct Max {
  static V neutral() { return set1(-__builtin_inff()); }
  static V take(V acc, V x) { return max_nan(acc, x); }
  static V join(V a, V b) { return max_nan(a, b); }
};
struct Min {
  static V neutral() { return set1(__builtin_inff()); }
  static V take(V acc, V x) { return min_nan(acc, x); }
  static V join(V a, V b) { return min_nan(a, b); }
};
struct Prod {
  static V neutral() { return set1(1.0f); }
  static V take(V acc, V x) { return acc * x; }
  static V join(V a, V b) { return a * b; }
};

// The last n < W numbers, the other lanes as if they had never been.
template <class R>
V take_rest(V acc, const float* x, int n) {
  float before[W], after[W];
  store(before, acc);
  store(after, R::take(acc, load_n(x, n)));
  for (int i = n; i < W; ++i) after[i] = before[i];
  return load(after);
}

template <class R>
V fold(const float* x, int64_t n) {
  V acc[4] = {R::neutral(), R::neutral(), R::neutral(), R::neutral()};
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W)
    for (int v = 0; v < 4; ++v) acc[v] = R::take(acc[v], load(x + i + v * W));
  for (; i + W <= n; i += W) acc[0] = R::take(acc[0], load(x + i));
  if (i < n) acc[1] = take_rest<R>(acc[1], x + i, static_cast<int>(n - i));
  return R::join(R::join(acc[0], acc[1]), R::join(acc[2], acc[3]));
}

template <class R>
float across(V v) {
  float lanes[W];
  store(lanes, v);
  V one = set1(lanes[0]);
  for (int i = 1; i < W; ++i) one = R::join(one, set1(lanes[i]));
  store(lanes, one);
  return lanes[0];
}

// Sums go on in double from block to block.
template <class R>
double sum_of(const float* x, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; i += sum_block) total += static_cast<double>(sum(fold<R>(x + i, n - i < sum_block ? n - i : sum_block)));
  return total;
}

float run_reduce(int32_t reduction, const float* x, int64_t n) {
  switch (reduction) {
    case IT_R_SUM: return static_cast<float>(sum_of<Sum>(x, n));
    case IT_R_SUM_ABS: return static_cast<float>(sum_of<SumAbs>(x, n));
    case IT_R_SUM_SQUARE: return static_cast<float>(sum_of<SumSquare>(x, n));
    case IT_R_MAX: return across<Max>(fold<Max>(x, n));
    case IT_R_MIN: return across<Min>(fold<Min>(x, n));
    default: return across<Prod>(fold<Prod>(x, n));
  }
}

template <class R>
V column(const float* x, int64_t n, int64_t stride, int lanes) {
  V total = R::neutral();
  for (int64_t i = 0; i < n; i += 64) {
    V acc = R::neutral();
    int64_t end = n - i < 64 ? n : i + 64;
    if (lanes == W)
      for (int64_t r = i; r < end; ++r) acc = R::take(acc, load(x + r * stride));
    else
      for (int64_t r = i; r < end; ++r) acc = R::take(acc, load_n(x + r * stride, lanes));
    total = R::join(total, acc);
  }
  return total;
}

template <class R>
void columns_of(const float* x, int64_t n, int64_t stride, float* y, int64_t columns) {
  for (int64_t j = 0; j < columns; j += W) {
    int lanes = static_cast<int>(columns - j < W ? columns - j : W);
    store_n(y + j, column<R>(x + j, n, stride, lanes), lanes);
  }
}

void run_reduce_columns(int32_t reduction, const float* x, int64_t n, int64_t stride, float* y, int64_t columns) {
  switch (reduction) {
    case IT_R_SUM: return columns_of<Sum>(x, n, stride, y, columns);
    case IT_R_SUM_ABS: return columns_of<SumAbs>(x, n, stride, y, columns);
    case IT_R_SUM_SQUARE: return columns_of<SumSquare>(x, n, stride, y, columns);
    case IT_R_MAX: return columns_of<Max>(x, n, stride, y, columns);
    case IT_R_MIN: return columns_of<Min>(x, n, stride, y, columns);
    default: return columns_of<Prod>(x, n, stride, y, columns);
  }
}

template <class F>
void map_row(const float* x, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + W <= n; i += W) store(y + i, f(load(x + i), i));
  if (i < n) store_n(y + i, f(load_n(x + i, static_cast<int>(n - i)), i), static_cast<int>(n - i));
}

void run_softmax(const float* x, float* y, int64_t n, int32_t logarithm) {
  V top = set1(run_reduce(IT_R_MAX, x, n));
  if (logarithm) {
    double total = 0;
    float part[sum_block / 16];
    for (int64_t i = 0; i < n; i += sum_block / 16) {
      int64_t m = n - i < sum_block / 16 ? n - i : sum_block / 16;
      map_row(x + i, part, m, [=](V v, int64_t) { return exp1(v - top); });
      total += sum_of<Sum>(part, m);
    }
    float lanes[W];
    store(lanes, log1(set1(static_cast<float>(total))));
    V shift = set1(lanes[0]);
    map_row(x, y, n, [=](V v, int64_t) { return (v - top) - shift; });
    return;
  }
  map_row(x, y, n, [=](V v, int64_t) { return exp1(v - top); });
  V factor = set1(static_cast<float>(1.0 / sum_of<Sum>(y, n)));
  map_row(y, y, n, [=](V v, int64_t) { return v * factor; });
}

void run_softmax_columns(const float* x, float* y, int64_t n, int64_t columns, int64_t stride, int32_t logarithm) {
  for (int64_t j = 0; j < columns; j += W) {
    int lanes = static_cast<int>(columns - j < W ? columns - j : W);
    V top = column<Max>(x + j, n, stride, lanes), total = set1(0.0f);
    for (int64_t r = 0; r < n; ++r) {
      V v = load_n(x + r * stride + j, lanes) - top, e = exp1(v);
      total += e;
      store_n(y + r * stride + j, logarithm ? v : e, lanes);
    }
    V last = logarithm ? log1(total) : set1(1.0f) / total;
    for (int64_t r = 0; r < n; ++r) {
      V v = load_n(y + r * stride + j, lanes);
      store_n(y + r * stride + j, logarithm ? v - last : v * last, lanes);
    }
  }
}

void run_moments(const float* x, int64_t n, int32_t about_zero, float* mean, float* variance) {
  double count = static_cast<double>(n), middle = about_zero ? 0 : sum_of<Sum>(x, n) / count, total = 0;
  V centre = set1(static_cast<float>(middle));
  for (int64_t i = 0; i < n; i += sum_block) {
    int64_t m = n - i < sum_block ? n - i : sum_block, k = 0;
    V acc = set1(0.0f), other = set1(0.0f);
    for (; k + 2 * W <= m; k += 2 * W) {
      V a = load(x + i + k) - centre, b = load(x + i + k + W) - centre;
      acc = fma(a, a, acc);
      other = fma(b, b, other);
    }
    total += static_cast<double>(sum(acc + other));
    for (; k < m; ++k) {
      double d = static_cast<double>(x[i + k]) - middle;
      total += d * d;
    }
  }
  *mean = static_cast<float>(middle);
  *variance = static_cast<float>(total / count);
}

void run_normalize(const float* x, float* y, int64_t n, float mean, float factor, const float* scale, const float* shift, float offset) {
  V m = set1(mean), f = set1(factor), o = set1(offset);
  map_row(x, y, n, [=](V v, int64_t i) {
    int lanes = static_cast<int>(n - i < W ? n - i : W);
    V r = (v - m) * f;
    if (scale) r = r * load_n(scale + i, lanes);
    return (shift ? r + load_n(shift + i, lanes) : r) + o;
  });
}

}  // namespace
