// MatMul and Gemm of f32, alone or with an epilogue. Constant right operands are packed once; others are read in place or packed per
// launch; one row with packed weights goes through the matrix-vector kernel.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/matrix.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// A product as the node states it, broadcasting resolved.
struct Shape {
  std::int64_t batches = 1, m = 1, n = 1, k = 1;
  std::vector<std::int64_t> a, b;       // offset of each batch's matrix, in floats
  bool a_transposed = false, b_transposed = false;
  bool one_b = true;                    // every batch has the same right operand
  float alpha = 1;
};

// Offsets of a batched operand's matrices under broadcasting against `batch`.
std::vector<std::int64_t> batch_offsets(const Extents& operand, const Extents& batch, std::int64_t matrix) {
  std::size_t own = operand.size() > 2 ? operand.size() - 2 : 0, lead = batch.size() - own;
  std::vector<std::int64_t> stride(batch.size(), 0);
  std::int64_t step = matrix;
  for (std::size_t i = own; i-- > 0;) {
    if (operand[i] != 1) stride[i + lead] = step;
    step *= operand[i];
  }
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count(batch)), 0);
  for (std::size_t item = 0; item < offsets.size(); ++item) {
    std::int64_t rest = static_cast<std::int64_t>(item);
    for (std::size_t i = batch.size(); i-- > 0;) {
      offsets[item] += rest % batch[i] * stride[i];
      rest /= batch[i];
    }
  }
  return offsets;
}

Shape matmul_shape(const Extents& a, const Extents& b) {
  Shape s;
  s.m = a.size() > 1 ? a[a.size() - 2] : 1;
  s.k = a.back();
  s.n = b.size() > 1 ? b.back() : 1;
  std::size_t rank = std::max({a.size(), b.size(), std::size_t{2}}) - 2;
  Extents batch(rank, 1);
  for (const Extents* operand : {&a, &b})
    for (std::size_t i = 0; operand->size() > 2 && i < operand->size() - 2; ++i) {
      std::int64_t& extent = batch[i + rank - (operand->size() - 2)];
      if ((*operand)[i] != 1) extent = (*operand)[i];
    }
  s.batches = count(batch);
  s.a = batch_offsets(a, batch, s.m * s.k);
  s.b = batch_offsets(b, batch, s.k * s.n);
  s.one_b = b.size() <= 2 || count(b, 0, b.size() - 2) == 1;
  if (s.one_b && a.size() > 2 && count(a, 0, a.size() - 2) == s.batches) {
    s.m *= s.batches;
    s.batches = 1;
    s.a = s.b = {0};
  }
  return s;
}

Shape gemm_shape(const Node& node, const Extents& a, const Extents& b) {
  Shape s;
  s.a_transposed = node.integer("transA", 0) != 0;
  s.b_transposed = node.integer("transB", 0) != 0;
  s.alpha = node.number("alpha", 1);
  s.m = a[s.a_transposed ? 1 : 0];
  s.k = a[s.a_transposed ? 0 : 1];
  s.n = b[s.b_transposed ? 0 : 1];
  s.a = s.b = {0};
  return s;
}

// Everything that stays between launches.
struct Gemm {
  Shape shape;
  const it_tile_kernels* tiles = nullptr;
  const it_vector_kernels* vectors = nullptr;
  Operand a, b;
  int output = 0;
  Panels panels;
  std::shared_ptr<Buffer> packed; // constant right operands, one after another; null: not constant
  std::vector<std::int64_t> packed_offset;
  bool in_place = false;          // b is read where it is
  Epilogue epilogue;
  // Gemm's C where it is neither a column nor of the result's shape: spread over the result before the launch.
  Operand spread;
  std::vector<Axis> spread_axes;
  float beta = 1;
  std::size_t b_workspace = 0, a_workspace = 0, c_workspace = 0;  // floats
};

struct Left {
  const float* data;
  const std::vector<std::int64_t>* offsets;
  std::int64_t stride;
};

void left_rows(const void* context, std::int64_t batch, std::int64_t first, std::int64_t rows, const float** pointers) {
  const Left& left = *static_cast<const Left*>(context);
  const float* base = left.data + (*left.offsets)[static_cast<std::size_t>(batch)];
  for (std::int64_t r = 0; r < rows; ++r) pointers[r] = base + (first + r) * left.stride;
}

class GemmKernel final : public Kernel {
 public:
  GemmKernel(Gemm gemm, int threads) : g_(std::move(gemm)), scratch_(threads) {}
  std::span<const float> packed() const override { return g_.packed ? std::span<const float>(g_.packed->data(), g_.packed->size()) : std::span<const float>(); }
  Status launch(const Launch& launch) override;

 private:
  void pack(const Launch& launch, float* to) const;
  const float* left(const Launch& launch, float* room) const;
  void vector_product(const Launch& launch, const float* a, float* y, const BoundEpilogue& bound);
  void finish_columns(const BoundEpilogue& bound, float* y, std::int64_t first, std::int64_t columns, float* temps) const;

  Gemm g_;
  ProductScratch scratch_;
};

// Right operands that are not constant, into panels; in place: only a last panel that is not whole vectors.
void GemmKernel::pack(const Launch& launch, float* to) const {
  const Shape& s = g_.shape;
  std::int64_t matrices = s.one_b ? 1 : s.batches, count = g_.panels.count();
  const float* b = g_.b.at(launch);
  Weights from;
  from.inner = s.k;
  from.inner_stride = s.b_transposed ? 1 : s.n;
  from.column_stride = s.b_transposed ? s.k : 1;
  from.scale = s.alpha;
  if (g_.in_place) {
    if (g_.panels.whole_vectors(count - 1)) return;
    std::int64_t stride = g_.panels.stride(count - 1) * s.k, skip = g_.panels.offset(count - 1);
    launch.device.pool.run(matrices, [&](std::int64_t i, int) {
      Weights w = from;
      w.data = reinterpret_cast<const std::byte*>(b + s.b[static_cast<std::size_t>(i)]);
      pack_panel(g_.panels, w, count - 1, to + i * stride - skip);
    });
    return;
  }
  launch.device.pool.run(matrices * count, [&](std::int64_t i, int) {
    Weights w = from;
    w.data = reinterpret_cast<const std::byte*>(b + s.b[static_cast<std::size_t>(i / count)]);
    pack_panel(g_.panels, w, i % count, to + i / count * g_.panels.floats());
  });
}

// The left operand with rows of k floats; Gemm's transposed one is turned into `room`.
const float* GemmKernel::left(const Launch& launch, float* room) const {
  const float* a = g_.a.at(launch);
  const Shape& s = g_.shape;
  if (!s.a_transposed) return a;
  move_strided(&launch.device.pool, 4, {{s.m, 1, s.k}, {s.k, s.m, 1}}, reinterpret_cast<const std::byte*>(a), reinterpret_cast<std::byte*>(room));
  return room;
}

// Bias, residual, bounds and steps on columns of the only row.
void GemmKernel::finish_columns(const BoundEpilogue& bound, float* y, std::int64_t first, std::int64_t columns, float* temps) const {
  const Epilogue& epilogue = g_.epilogue;
  auto apply = [&](int op, const float* other, float p, float q) {
    it_vector v{op, 1, columns, y + first, 0, {y + first, other}, {0, 0}, {1, 1}, {p, q}};
    g_.vectors->run(&v);
  };
  if (bound.bias) apply(IT_V_ADD, bound.bias + first, 0, 0);
  if (bound.residual) apply(IT_V_ADD, bound.residual + first, 0, 0);
  apply(IT_V_CLIP, y + first, epilogue.lo, epilogue.hi);
  if (!epilogue.plain()) run_steps(bound, *g_.vectors, y, y + first, 1, columns, columns, first, temps);
}

void GemmKernel::vector_product(const Launch& launch, const float* a, float* y, const BoundEpilogue& bound) {
  std::int64_t count = g_.panels.count(), threads = launch.device.pool.threads();
  std::int64_t group = std::clamp<std::int64_t>(count / (threads * 2), 1, 4), full = g_.tiles->width * g_.tiles->vectors;
  launch.device.pool.run((count + group - 1) / group, [&](std::int64_t chunk, int thread) {
    std::vector<float>& temps = scratch_.of(thread).temps;
    temps.resize(static_cast<std::size_t>(std::max(1, g_.epilogue.program.temps) * block_floats));
    std::int64_t panel = chunk * group, end = std::min(count, panel + group), whole = g_.panels.columns(end - 1) == full ? end : end - 1;
    std::int64_t first = g_.panels.first_column(panel);
    if (whole > panel) {
      it_gemv v{a, g_.shape.k, g_.packed->data() + g_.panels.offset(panel), whole - panel, y + first};
      g_.tiles->gemv(&v);
    }
    if (whole < end) {
      it_tile t{};
      float* c = y;
      t.a = &a;
      t.taps = 1;
      t.k = g_.shape.k;
      t.b = g_.packed->data() + g_.panels.offset(whole);
      t.ldb = g_.panels.stride(whole);
      t.c = &c;
      t.c_offset = g_.panels.first_column(whole);
      t.rows = 1;
      t.n = static_cast<std::int32_t>(g_.panels.columns(whole));
      g_.tiles->tile(&t);
    }
    finish_columns(bound, y, first, std::min(g_.shape.n, g_.panels.first_column(end)) - first, temps.data());
  });
}

Status GemmKernel::launch(const Launch& launch) {
  const Shape& s = g_.shape;
  if (s.batches == 0 || s.m == 0 || s.n == 0) return {};
  float* room = static_cast<float*>(launch.workspace);
  float* y = launch.output<float>(g_.output);
  BoundEpilogue bound(g_.epilogue, launch);
  if (g_.spread.exists()) {
    float* spread = room + g_.a_workspace + g_.b_workspace;
    move_strided(&launch.device.pool, 4, g_.spread_axes, reinterpret_cast<const std::byte*>(g_.spread.at(launch)), reinterpret_cast<std::byte*>(spread));
    it_vector scale{IT_V_AFFINE, 1, s.m * s.n, spread, 0, {spread, spread}, {0, 0}, {1, 1}, {g_.beta, 0}};
    if (g_.beta != 1) g_.vectors->run(&scale);
    bound.residual = spread;
  }
  const float* a = left(launch, room);
  bool constant = g_.packed != nullptr;
  if (constant && s.m == 1 && s.batches == 1) {
    vector_product(launch, a, y, bound);
    return {};
  }
  if (!constant) pack(launch, room + g_.a_workspace);
  Left rows{a, &s.a, s.k};
  Product p;
  p.kernels = g_.tiles;
  p.vectors = g_.vectors;
  p.batches = s.batches;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.left = left_rows;
  p.context = &rows;
  p.c = y;
  p.ldc = s.n;
  p.b = constant ? g_.packed->data() : g_.in_place ? g_.b.at(launch) : room + g_.a_workspace;
  p.b_offset = g_.in_place ? s.b : g_.packed_offset;
  if (g_.in_place) {
    p.ldb = s.n;
    p.tails = room + g_.a_workspace;
    p.tail_stride = s.one_b ? 0 : g_.panels.stride(g_.panels.count() - 1) * s.k;
  }
  for (std::int64_t i = 0; i < s.batches; ++i) p.c_offset.push_back(i * s.m * s.n);
  run_product(launch.device.pool, p, bound, scratch_);
  return {};
}

// Planted faults of packed weights: every matrix without its last column or its last row.
void plant(const Gemm& g, const Device& device, std::int64_t matrices, float* packed) {
  for (std::int64_t i = 0; i < matrices; ++i)
    for (std::int64_t panel = 0; panel < g.panels.count() && g.shape.k > 0; ++panel) {
      float* rows = packed + i * g.panels.floats() + g.panels.offset(panel);
      std::int64_t stride = g.panels.stride(panel), last = g.panels.columns(panel) - 1;
      if (device.has(Fault::gemm_k_tail)) std::fill(rows + (g.shape.k - 1) * stride, rows + g.shape.k * stride, 0.0f);
      if (device.has(Fault::gemm_last_column) && panel + 1 == g.panels.count())
        for (std::int64_t k = 0; k < g.shape.k; ++k) rows[k * stride + last] = 0;
    }
}

Status pack_constant(Gemm& g, const Value& b, Device& device, std::span<const float> kept) {
  const Shape& s = g.shape;
  std::int64_t matrices = s.one_b ? 1 : b.count() / std::max<std::int64_t>(1, s.k * s.n), count = g.panels.count();
  Weights from;
  from.inner = s.k;
  from.inner_stride = s.b_transposed ? 1 : s.n;
  from.column_stride = s.b_transposed ? s.k : 1;
  from.scale = s.alpha;
  std::string key = text("gemm ", reinterpret_cast<std::uintptr_t>(b.data), " ", s.k, " ", s.n, " ", matrices, " ", s.b_transposed, " ", s.alpha);
  IT_TRY(g.packed, pack_once(device, key, static_cast<std::size_t>(matrices * g.panels.floats()), kept, [&](float* to) {
    device.pool.run(matrices * count, [&](std::int64_t i, int) {
      Weights w = from;
      w.data = b.data + 4 * (i / count) * s.k * s.n;
      pack_panel(g.panels, w, i % count, to + i / count * g.panels.floats());
    });
    if (device.fault != Fault::none) plant(g, device, matrices, to);
  }));
  return {};
}

// Gemm's C: a bias, a residual, or something to spread. result: [m, n].
void read_c(Gemm& g, const Value& c, Operand& bias) {
  const Shape& s = g.shape;
  if (g.beta == 0) return;
  bool column = c.count() == s.n && (c.rank() < 2 || c.extents[0] == 1) && (c.rank() > 0 || s.n == 1);
  if (column && (c.is_constant() || g.beta == 1)) {
    if (!c.is_constant()) {
      bias = Operand::of(c);
      return;
    }
    std::vector<float> numbers = c.floats();
    for (float& number : numbers) number *= g.beta;
    bias = Operand::of(std::move(numbers));
    return;
  }
  g.spread = Operand::of(c);
  bool by_row = c.rank() == 2 && c.extents[0] != 1, by_column = c.rank() > 0 && c.extents.back() != 1;
  g.spread_axes = {{s.m, by_row ? c.extents[1] : 0, s.n}, {s.n, by_column ? 1 : 0, 1}};
  g.c_workspace = static_cast<std::size_t>(s.m * s.n);
}

void plan_right_operand(Gemm& g, const Value& b) {
  const Shape& s = g.shape;
  std::int64_t matrices = s.one_b ? 1 : s.batches;
  if (b.is_constant()) {
    for (std::int64_t i : s.b) g.packed_offset.push_back(s.k * s.n == 0 ? 0 : i / (s.k * s.n) * g.panels.floats());
    return;
  }
  bool small = s.k * s.n <= (64 << 10) || s.m <= 32;
  g.in_place = !s.b_transposed && s.alpha == 1 && small;
  for (std::int64_t i = 0; i < s.batches; ++i) g.packed_offset.push_back(s.one_b ? 0 : i * g.panels.floats());
  std::int64_t last = g.panels.count() - 1;
  std::int64_t each = !g.in_place ? g.panels.floats() : g.panels.whole_vectors(last) ? 0 : g.panels.stride(last) * s.k;
  g.b_workspace = static_cast<std::size_t>(matrices * each);
}

Result<Gemm> plan(const Region& region, Device& device) {
  const Node& node = region.nodes[0];
  const Value *a = region.input(node, 0), *b = region.input(node, 1), *c = region.input(node, 2);
  if (!a || !b) return unsupported(text(node.op(), " with an operand left out"));
  for (const Value* operand : {a, b, c})
    if (operand && operand->dtype != DType::f32) return unsupported(text(node.op(), " of ", infini::name(operand->dtype), ": the kernel is for f32"));
  bool gemm = node.is("Gemm");
  if (a->rank() < 1 || b->rank() < 1 || (gemm && (a->rank() != 2 || b->rank() != 2))) return unsupported(text(node.op(), " of rank ", a->rank(), " and ", b->rank()));
  Gemm g;
  g.shape = gemm ? gemm_shape(node, a->extents, b->extents) : matmul_shape(a->extents, b->extents);
  g.tiles = &IT_CPU_TABLE(device.isa, it_tile);
  g.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  g.panels = Panels(*g.tiles, g.shape.k, g.shape.n);
  g.a = Operand::of(*a);
  if (!b->is_constant()) g.b = Operand::of(*b);
  g.beta = gemm ? node.number("beta", 1) : 1;
  Operand bias;
  if (gemm && c) read_c(g, *c, bias);
  const Value& result = result_of(region);
  // MatMul with a vector on the right has no column axis; its result is one column of rows.
  std::size_t column_axis = result.rank() == 0 ? 0 : result.rank() - 1;
  if (region.nodes.size() > 1 && (a->rank() < 2 || b->rank() < 2)) return unsupported("a fused product with a vector");
  IT_TRY(g.epilogue, Epilogue::make(region, device, column_axis, {}, std::move(bias)));
  if (g.spread.exists() && g.epilogue.residual.exists()) return unsupported("a Gemm whose C needs spreading, with a residual");
  plan_right_operand(g, *b);
  if (g.shape.a_transposed) g.a_workspace = static_cast<std::size_t>(g.shape.m * g.shape.k);
  if (device.has(Fault::gemm_batch_repeat)) std::fill(g.shape.b.begin(), g.shape.b.end(), 0), std::fill(g.packed_offset.begin(), g.packed_offset.end(), 0);
  g.output = result.output;
  return g;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Region& region, Device& device, std::span<const float> kept) {
  IT_TRY(Gemm g, plan(region, device));
  const Value& b = *region.input(region.nodes[0], 1);
  if (b.is_constant()) IT_TRY_VOID(pack_constant(g, b, device, kept));
  return std::unique_ptr<Kernel>(std::make_unique<GemmKernel>(std::move(g), device.pool.threads()));
}

}  // namespace

Offers gemm_offer(const Region& region, Device& device) {
  if (region.nodes.empty() || !(region.nodes[0].is("MatMul") || region.nodes[0].is("Gemm"))) return std::vector<Candidate>{};
  IT_TRY(Gemm g, plan(region, device));
  const Value& b = *region.input(region.nodes[0], 1);
  const Shape& s = g.shape;
  Candidate candidate;
  candidate.kernel = text(s.m == 1 && b.is_constant() ? "gemv_" : "gemm_", b.is_constant() ? "packed_" : g.in_place ? "in_place_" : "repacked_", name(device.isa));
  candidate.workspace = (g.a_workspace + g.b_workspace + g.c_workspace) * sizeof(float);
  double matrices = s.one_b ? 1 : static_cast<double>(s.batches);
  if (b.is_constant()) candidate.packed = static_cast<std::size_t>(b.count() / std::max<std::int64_t>(1, s.k * s.n) * g.panels.floats()) * sizeof(float);
  double flops = 2.0 * static_cast<double>(s.batches) * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  double bytes = 4 * matrices * static_cast<double>(s.k * s.n) + 4.0 * static_cast<double>(s.batches * s.m * (s.n + s.k));
  candidate.cost_ns = device.cost(flops, bytes) + cost_per_element(g.epilogue.program, device) * static_cast<double>(s.batches * s.m * s.n) / device.pool.threads();
  candidate.prepare = [&region, &device](std::span<const float> kept) { return make_kernel(region, device, kept); };
  return std::vector<Candidate>{std::move(candidate)};
}

}  // namespace infini::cpu
