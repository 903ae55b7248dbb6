#include "backends/cpu/kernels/matrix.h"

#include <algorithm>
#include <cstring>

namespace infini::cpu {
namespace {

float number_at(const std::byte* place) {
  float number;
  std::memcpy(&number, place, sizeof number);
  return number;
}

}  // namespace

void pack_panel(const Panels& panels, const Weights& from, std::int64_t panel, float* to) {
  if (from.inner == 0) return;
  std::int64_t columns = panels.columns(panel), stride = panels.stride(panel), first = panels.first_column(panel);
  float* out = to + panels.offset(panel);
  for (std::int64_t tap = 0; tap < from.taps; ++tap) {
    std::int64_t place = from.tap_places.empty() ? tap * from.tap_stride : from.tap_places[static_cast<std::size_t>(tap)];
    const std::byte* base = from.data + 4 * (place + first * from.column_stride);
    float* rows = out + tap * from.inner * stride;
    if (from.column_stride == 1) {
      for (std::int64_t i = 0; i < from.inner; ++i) {
        std::memcpy(rows + i * stride, base + 4 * i * from.inner_stride, static_cast<std::size_t>(columns) * sizeof(float));
        std::fill(rows + i * stride + columns, rows + (i + 1) * stride, 0.0f);
      }
    } else {
      // Blocks of the inner dimension, so that the lines read stay in the cache while the columns are walked.
      for (std::int64_t i0 = 0; i0 < from.inner; i0 += 16) {
        std::int64_t i1 = std::min(from.inner, i0 + 16);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = i0; i < i1; ++i) rows[i * stride + j] = number_at(base + 4 * (i * from.inner_stride + j * from.column_stride));
        for (std::int64_t i = i0; i < i1; ++i) std::fill(rows + i * stride + columns, rows + (i + 1) * stride, 0.0f);
      }
    }
  }
  if (from.scale != 1)
    for (std::int64_t i = 0; i < stride * panels.depth(); ++i) out[i] *= from.scale;
}

namespace {

std::int64_t bytes_between(const float* from, const float* to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from));
}

constexpr std::int64_t depth_block = 384;  // rows of a panel that stay in the second-level cache while all row tiles pass

// A piece of the inner dimension: whole taps, or a piece of one.
struct Segment {
  std::int64_t tap, taps, begin, length;
};

std::vector<Segment> segments(std::int64_t taps, std::int64_t k) {
  std::vector<Segment> result;
  if (k >= depth_block) {
    std::int64_t pieces = (k + depth_block - 1) / depth_block;
    for (std::int64_t tap = 0; tap < taps; ++tap)
      for (std::int64_t i = 0; i < pieces; ++i) result.push_back({tap, 1, k * i / pieces, k * (i + 1) / pieces - k * i / pieces});
  } else {
    std::int64_t group = std::max<std::int64_t>(1, depth_block / std::max<std::int64_t>(k, 1));
    std::int64_t pieces = (taps + group - 1) / group;
    for (std::int64_t i = 0; i < pieces; ++i) result.push_back({taps * i / pieces, taps * (i + 1) / pieces - taps * i / pieces, 0, k});
  }
  if (result.empty()) result.push_back({0, 0, 0, k});  // no tap: zeros and the epilogue
  return result;
}

// How a product is cut into chunks for the threads.
struct Split {
  std::int64_t tile = 1;          // rows of the largest tile
  std::int64_t rows = 1;          // rows in a chunk
  std::int64_t row_chunks = 1;
  std::int64_t panel_groups = 1;
};

Split split(const Product& p, const Panels& panels, int threads) {
  constexpr double smallest = 0.4e6, largest = 8e6;  // flops in a chunk: 2 to 40 microseconds of a fast core
  Split s;
  std::int64_t vectors = panels.stride(0) / p.kernels->width;
  s.tile = p.kernels->max_rows[vectors];
  double inner = 2.0 * static_cast<double>(p.taps * p.k), total = inner * static_cast<double>(p.m * p.n * p.batches);
  double target = std::clamp(total / (threads * 8), smallest, largest);
  double panel_row = inner * static_cast<double>(std::min<std::int64_t>(p.n, panels.stride(0)));
  std::int64_t most = p.m <= 256 ? p.m : 240;
  double rows = std::clamp(target / panel_row, static_cast<double>(std::min(2 * s.tile, most)), static_cast<double>(most));
  s.rows = threads == 1 ? most : static_cast<std::int64_t>(rows);
  s.row_chunks = (p.m + s.rows - 1) / s.rows;
  // Even pieces, in whole tiles.
  s.rows = (p.m + s.row_chunks - 1) / s.row_chunks;
  s.rows = (s.rows + s.tile - 1) / s.tile * s.tile;
  if (s.rows > p.m) s.rows = p.m;
  s.row_chunks = (p.m + s.rows - 1) / s.rows;
  double group = std::clamp(target / (panel_row * static_cast<double>(s.rows)), 1.0, static_cast<double>(panels.count()));
  s.panel_groups = (panels.count() + static_cast<std::int64_t>(group) - 1) / static_cast<std::int64_t>(group);
  return s;
}

class Runner {
 public:
  Runner(const Product& product, const BoundEpilogue& bound, ProductScratch& scratch, int threads)
      : p_(product), bound_(bound), scratch_(scratch), panels_(*product.kernels, product.taps * product.k, product.n),
        segments_(segments(product.taps, product.k)), split_(split(product, panels_, threads)) {}

  std::int64_t chunks() const { return p_.batches * split_.row_chunks * split_.panel_groups; }
  void chunk(std::int64_t number, int thread) const;

 private:
  struct Rows {
    std::int64_t batch, first, count, tiles;
    std::int64_t tile_begin(std::int64_t tile) const { return count * tile / tiles; }
  };
  void panel(const Rows& rows, std::int64_t panel, ProductScratch::PerThread& scratch) const;
  void tile_of(const Rows& rows, std::int64_t panel, const Segment& segment, it_tile& t, ProductScratch::PerThread& scratch) const;
  void steps(const Rows& rows, std::int64_t panel, ProductScratch::PerThread& scratch) const;
  const float* right(std::int64_t batch, std::int64_t panel, std::int64_t& ldb) const;

  const Product& p_;
  const BoundEpilogue& bound_;
  ProductScratch& scratch_;
  Panels panels_;
  std::vector<Segment> segments_;
  Split split_;
};

const float* Runner::right(std::int64_t batch, std::int64_t panel, std::int64_t& ldb) const {
  if (p_.k == 0) return p_.b;  // an operand without elements
  const float* base = p_.b + p_.b_offset[static_cast<std::size_t>(batch)];
  if (p_.ldb == 0) {
    ldb = panels_.stride(panel);
    return base + panels_.offset(panel);
  }
  if (panels_.whole_vectors(panel)) {
    ldb = p_.ldb;
    return base + panels_.first_column(panel);
  }
  ldb = panels_.stride(panel);
  return p_.tails + batch * p_.tail_stride;
}

void Runner::chunk(std::int64_t number, int thread) const {
  std::int64_t group = number % split_.panel_groups, rest = number / split_.panel_groups;
  Rows rows;
  rows.batch = rest / split_.row_chunks;
  rows.first = rest % split_.row_chunks * split_.rows;
  rows.count = std::min(split_.rows, p_.m - rows.first);
  rows.tiles = (rows.count + split_.tile - 1) / split_.tile;
  ProductScratch::PerThread& scratch = scratch_.of(thread);
  scratch.left.resize(static_cast<std::size_t>(rows.count * p_.taps));
  scratch.result.resize(static_cast<std::size_t>(rows.count));
  for (std::int64_t tile = 0; tile < rows.tiles; ++tile) {
    std::int64_t begin = rows.tile_begin(tile), count = rows.tile_begin(tile + 1) - begin;
    p_.left(p_.context, rows.batch, rows.first + begin, count, scratch.left.data() + begin * p_.taps);
  }
  if (p_.result) {
    p_.result(p_.context, rows.batch, rows.first, rows.count, scratch.result.data());
  } else {
    float* c = p_.c + p_.c_offset[static_cast<std::size_t>(rows.batch)] + rows.first * p_.ldc;
    for (std::int64_t r = 0; r < rows.count; ++r) scratch.result[static_cast<std::size_t>(r)] = c + r * p_.ldc;
  }
  std::int64_t count = panels_.count();
  for (std::int64_t i = count * group / split_.panel_groups; i < count * (group + 1) / split_.panel_groups; ++i) panel(rows, i, scratch);
}

void Runner::tile_of(const Rows& rows, std::int64_t panel, const Segment& segment, it_tile& t, ProductScratch::PerThread& scratch) const {
  std::int64_t lines = segment.taps * segment.length * t.ldb * 4 / 64, each = segment.length / 4 * segment.taps;
  const char* next = reinterpret_cast<const char*>(t.b) + lines * 64;
  bool last = &segment == &segments_.back();
  if (last && panel + 1 >= panels_.count()) next = nullptr;
  if (p_.ldb != 0) next = nullptr;
  for (std::int64_t tile = 0; tile < rows.tiles; ++tile) {
    std::int64_t begin = rows.tile_begin(tile);
    t.rows = static_cast<std::int32_t>(rows.tile_begin(tile + 1) - begin);
    t.a = scratch.left.data() + begin * p_.taps + segment.tap * t.rows;
    t.c = scratch.result.data() + begin;
    t.prefetch = next && tile * each < lines ? next + tile * each * 64 : nullptr;
    p_.kernels->tile(&t);
  }
}

void Runner::panel(const Rows& rows, std::int64_t panel, ProductScratch::PerThread& scratch) const {
  const Epilogue& epilogue = *bound_.epilogue;
  std::int64_t first = panels_.first_column(panel);
  std::int64_t column = first + (p_.column.empty() ? 0 : p_.column[static_cast<std::size_t>(rows.batch)]);
  std::int64_t ldb = 0;
  const float* b = right(rows.batch, panel, ldb);
  it_tile t{};
  t.ldb = ldb;
  t.c_offset = first;
  t.n = static_cast<std::int32_t>(panels_.columns(panel));
  t.bias = bound_.bias ? bound_.bias + column : nullptr;
  t.has_residual = bound_.residual != nullptr;
  t.residual = t.has_residual ? bytes_between(p_.c, bound_.residual) : 0;
  t.lo = epilogue.lo;
  t.hi = epilogue.hi;
  for (const Segment& segment : segments_) {
    t.accumulate = &segment != segments_.data();
    t.finish = &segment == &segments_.back();
    t.taps = segment.taps;
    t.k = segment.length;
    t.a_offset = segment.begin;
    t.b = b + (segment.tap * p_.k + segment.begin) * ldb;
    tile_of(rows, panel, segment, t, scratch);
  }
  if (!epilogue.plain()) steps(rows, panel, scratch);
}

// The elementwise steps, on the panel's columns of the rows just computed; runs of rows that lie evenly go together.
void Runner::steps(const Rows& rows, std::int64_t panel, ProductScratch::PerThread& scratch) const {
  std::int64_t columns = panels_.columns(panel), first = panels_.first_column(panel);
  std::int64_t column = first + (p_.column.empty() ? 0 : p_.column[static_cast<std::size_t>(rows.batch)]);
  scratch.temps.resize(static_cast<std::size_t>(bound_.epilogue->program.temps * block_floats));
  for (std::int64_t r = 0; r < rows.count;) {
    float* const* c = scratch.result.data() + r;
    std::int64_t run = 1, stride = r + 1 < rows.count ? c[1] - c[0] : 0;
    while (r + run < rows.count && c[run] - c[run - 1] == stride) ++run;
    run_steps(bound_, *p_.vectors, p_.c, c[0] + first, run, stride, columns, column, scratch.temps.data());
    r += run;
  }
}

}  // namespace

void run_product(Pool& pool, const Product& product, const BoundEpilogue& epilogue, ProductScratch& scratch) {
  if (product.m == 0 || product.n == 0 || product.batches == 0) return;
  Runner runner(product, epilogue, scratch, pool.threads());
  pool.run(runner.chunks(), [&](std::int64_t chunk, int thread) { runner.chunk(chunk, thread); });
}

}  // namespace infini::cpu
