// Windows over channels-last pixels, over the vocabulary of a simd_*.inl and math.inl.
namespace {

// VECTORS vectors of channels from `c` on; the last one holds `left` floats.
template <int PIXELS, int VECTORS>
void depthwise_block(const it_depthwise* d, int64_t c, int left) {
  V acc[PIXELS][VECTORS];
  for (int p = 0; p < PIXELS; ++p)
    for (int v = 0; v < VECTORS; ++v) acc[p][v] = set1(0.0f);
  const bool whole = left == W;
  for (int64_t t = 0; t < d->taps; ++t) {
    const float* const* x = d->x + t * PIXELS;
    const float* w = d->w + t * d->channels + c;
    for (int v = 0; v < VECTORS; ++v) {
      V wv = whole || v + 1 < VECTORS ? load(w + v * W) : load_n(w + v * W, left);
      for (int p = 0; p < PIXELS; ++p) {
        const float* from = x[p] + c + v * W;
        acc[p][v] = fma(whole || v + 1 < VECTORS ? load(from) : load_n(from, left), wv, acc[p][v]);
      }
    }
  }
  V lo = set1(d->lo), hi = set1(d->hi);
  for (int p = 0; p < PIXELS; ++p)
    for (int v = 0; v < VECTORS; ++v) {
      int n = v + 1 < VECTORS ? W : left;
      float* y = d->y[p] + c + v * W;
      V r = acc[p][v];
      if (d->bias) r += load_n(d->bias + c + v * W, n);
      if (d->has_residual) r += load_n(reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(y) + static_cast<uintptr_t>(d->residual)), n);
      store_n(y, min2(hi, max2(lo, r)), n);
    }
}

template <int PIXELS>
void depthwise_of(const it_depthwise* d) {
  int64_t c = 0;
  for (; c + 2 * W <= d->channels; c += 2 * W) depthwise_block<PIXELS, 2>(d, c, W);
  for (; c < d->channels; c += W) depthwise_block<PIXELS, 1>(d, c, static_cast<int>(d->channels - c < W ? d->channels - c : W));
}

void run_depthwise(const it_depthwise* d) {
  switch (d->pixels) {
    case 1: return depthwise_of<1>(d);
    case 2: return depthwise_of<2>(d);
    case 3: return depthwise_of<3>(d);
    default: return depthwise_of<4>(d);
  }
}

template <int VECTORS, class F>
void pool_block(const it_pool* p, int64_t c, int left, V scale, F join) {
  V acc[VECTORS];
  for (int v = 0; v < VECTORS; ++v) acc[v] = load_n(p->x[0] + c + v * W, v + 1 < VECTORS ? W : left);
  for (int64_t t = 1; t < p->taps; ++t) {
    const float* x = p->x[t] + c;
    for (int v = 0; v < VECTORS; ++v) acc[v] = join(acc[v], left == W || v + 1 < VECTORS ? load(x + v * W) : load_n(x + v * W, left));
  }
  for (int v = 0; v < VECTORS; ++v) store_n(p->y + c + v * W, acc[v] * scale, v + 1 < VECTORS ? W : left);
}

template <class F>
void pool_of(const it_pool* p, F join) {
  V scale = set1(p->maximum ? 1.0f : p->scale);
  int64_t c = 0;
  for (; c + 4 * W <= p->channels; c += 4 * W) pool_block<4>(p, c, W, scale, join);
  for (; c < p->channels; c += W) pool_block<1>(p, c, static_cast<int>(p->channels - c < W ? p->channels - c : W), scale, join);
}

void run_pool(const it_pool* p) {
  if (p->maximum) pool_of(p, [](V a, V b) { return max_nan(a, b); });
  else pool_of(p, [](V a, V b) { return a + b; });
}

}  // namespace
