// The matrix tile, over the vocabulary of a simd_*.inl: ROWS x VECTORS accumulators stay in registers over all taps.
namespace {

// Registers for accumulators bound the rows of a tile: PANEL vectors wide with MAX_ROWS_*, set by the including file.
template <int ROWS, int VECTORS>
void finish_tile(const it_tile* t, V (&acc)[ROWS][VECTORS]) {
  V lo = set1(t->lo), hi = set1(t->hi);
  for (int r = 0; r < ROWS; ++r) {
    float* c = t->c[r] + t->c_offset;
    const float* residual = reinterpret_cast<const float*>(reinterpret_cast<uintptr_t>(c) + static_cast<uintptr_t>(t->residual));
    for (int v = 0; v < VECTORS; ++v) {
      int left = t->n - v * W;
      int count = left < W ? left : W;
      V x = acc[r][v];
      if (t->accumulate) x += load_n(c + v * W, count);
      if (t->finish) {
        if (t->bias) x += load_n(t->bias + v * W, count);
        if (t->has_residual) x += load_n(residual + v * W, count);
        x = min2(hi, max2(lo, x));
      }
      store_n(c + v * W, x, count);
    }
  }
}

template <int ROWS, int VECTORS>
void tile_of(const it_tile* t) {
  V acc[ROWS][VECTORS];
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < VECTORS; ++v) acc[r][v] = set1(0.0f);
  const float* b = t->b;
  const int64_t ldb = t->ldb;
  const char* ahead = t->prefetch;
  const int64_t step = ahead ? 64 : 0;
  if (!ahead) ahead = reinterpret_cast<const char*>(b);
  for (int64_t tap = 0; tap < t->taps; ++tap) {
    const float* a[ROWS];
    for (int r = 0; r < ROWS; ++r) a[r] = t->a[tap * ROWS + r] + t->a_offset;
    auto advance = [&](int64_t i) {
      V row[VECTORS];
      for (int v = 0; v < VECTORS; ++v) row[v] = load(b + v * W);
      for (int r = 0; r < ROWS; ++r) {
        V x = set1(a[r][i]);
        for (int v = 0; v < VECTORS; ++v) acc[r][v] = fma(x, row[v], acc[r][v]);
      }
      b += ldb;
    };
    int64_t i = 0;
    for (; i + 4 <= t->k; i += 4) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += step;
      advance(i), advance(i + 1), advance(i + 2), advance(i + 3);
    }
    for (; i < t->k; ++i) advance(i);
  }
  finish_tile<ROWS, VECTORS>(t, acc);
}

template <int VECTORS, int MAX>
void tile_with(const it_tile* t) {
  static_assert(MAX <= 8);
  switch (t->rows) {
    case 1: return tile_of<1, VECTORS>(t);
    case 2: if constexpr (MAX >= 2) return tile_of<2, VECTORS>(t); break;
    case 3: if constexpr (MAX >= 3) return tile_of<3, VECTORS>(t); break;
    case 4: if constexpr (MAX >= 4) return tile_of<4, VECTORS>(t); break;
    case 5: if constexpr (MAX >= 5) return tile_of<5, VECTORS>(t); break;
    case 6: if constexpr (MAX >= 6) return tile_of<6, VECTORS>(t); break;
    case 7: if constexpr (MAX >= 7) return tile_of<7, VECTORS>(t); break;
    case 8: if constexpr (MAX >= 8) return tile_of<8, VECTORS>(t); break;
    default: break;
  }
}

void run_tile(const it_tile* t) {
  switch ((t->n + W - 1) / W) {
    case 1: return tile_with<1, MAX_ROWS_1>(t);
    case 2: return tile_with<2, MAX_ROWS_2>(t);
    case 3: if constexpr (PANEL >= 3) return tile_with<3, MAX_ROWS_3>(t); break;
    case 4: if constexpr (PANEL >= 4) return tile_with<4, MAX_ROWS_4>(t); break;
    default: break;
  }
}

// One row: bound by memory, so PANELS streams are read at once, eight lines ahead.
template <int PANELS>
void gemv_of(const it_gemv* g) {
  V acc[PANELS][PANEL];
  for (int p = 0; p < PANELS; ++p)
    for (int v = 0; v < PANEL; ++v) acc[p][v] = set1(0.0f);
  const int64_t panel = g->k * PANEL * W;
  const float* b = g->b;
  for (int64_t i = 0; i < g->k; ++i, b += PANEL * W) {
    V x = set1(g->a[i]);
    for (int p = 0; p < PANELS; ++p) {
      const float* row = b + p * panel;
      for (int v = 0; v < PANEL; ++v) {
        __builtin_prefetch(row + v * W + 8 * 16, 0, 3);
        acc[p][v] = fma(x, load(row + v * W), acc[p][v]);
      }
    }
  }
  for (int p = 0; p < PANELS; ++p)
    for (int v = 0; v < PANEL; ++v) store(g->y + (p * PANEL + v) * W, acc[p][v]);
}

void run_gemv(const it_gemv* g) {
  switch (g->panels) {
    case 1: return gemv_of<1>(g);
    case 2: return gemv_of<2>(g);
    case 3: return gemv_of<3>(g);
    default: return gemv_of<4>(g);
  }
}

}  // namespace
