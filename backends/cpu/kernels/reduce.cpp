// Reductions of f32 over any axes: runs of reduced axes are folded one after another, the innermost first.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/vector.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Row {
  std::string_view op;
  it_reduction first, next;  // on the data, and on partial results
  int last;                  // it_vop on the result, or -1
  bool mean;
};
constexpr Row table[] = {
    {"ReduceSum", IT_R_SUM, IT_R_SUM, -1, false},        {"ReduceMean", IT_R_SUM, IT_R_SUM, -1, true},
    {"ReduceMax", IT_R_MAX, IT_R_MAX, -1, false},        {"ReduceMin", IT_R_MIN, IT_R_MIN, -1, false},
    {"ReduceProd", IT_R_PROD, IT_R_PROD, -1, false},     {"ReduceL1", IT_R_SUM_ABS, IT_R_SUM, -1, false},
    {"ReduceL2", IT_R_SUM_SQUARE, IT_R_SUM, IT_V_SQRT, false}, {"ReduceSumSquare", IT_R_SUM_SQUARE, IT_R_SUM, -1, false},
    {"ReduceLogSum", IT_R_SUM, IT_R_SUM, IT_V_LOG, false},
};

// outer x n x inner numbers become outer x inner.
struct Stage {
  std::int64_t outer, n, inner;
};

struct Reduce {
  std::vector<Stage> stages;
  it_reduction first = IT_R_SUM, next = IT_R_SUM;
  int last = -1;
  float factor = 1;
  std::int64_t results = 0;
  std::size_t room = 0;  // floats for the results of all stages but the last
  int input = 0, output = 0;
  const it_rows_kernels* rows = nullptr;
  const it_vector_kernels* vectors = nullptr;
};

void run_stage(const it_rows_kernels& rows, Pool& pool, it_reduction op, const Stage& s, const float* x, float* y) {
  if (s.inner == 1) {
    std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, s.n));
    pool.run((s.outer + grain - 1) / grain, [&](std::int64_t chunk, int) {
      for (std::int64_t r = chunk * grain; r < std::min(s.outer, (chunk + 1) * grain); ++r) y[r] = rows.reduce(op, x + r * s.n, s.n);
    });
    return;
  }
  std::int64_t wide = std::min<std::int64_t>(s.inner, 128), across = (s.inner + wide - 1) / wide;
  pool.run(s.outer * across, [&](std::int64_t chunk, int) {
    std::int64_t outer = chunk / across, column = chunk % across * wide;
    rows.reduce_columns(op, x + outer * s.n * s.inner + column, s.n, s.inner, y + outer * s.inner + column, std::min(wide, s.inner - column));
  });
}

Status run(const Reduce& r, const Launch& launch) {
  const float* x = launch.input<float>(r.input);
  float *y = launch.output<float>(r.output), *room = static_cast<float*>(launch.workspace);
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    const Stage& s = r.stages[i];
    bool last = i + 1 == r.stages.size();
    float* to = last ? y : room;
    run_stage(*r.rows, launch.device.pool, i == 0 ? r.first : r.next, s, x, to);
    if (!last) room += s.outer * s.inner;  // without further stages there is no room
    x = to;
  }
  auto finish = [&](int op, float p) {
    it_vector v{op, 1, r.results, y, 0, {y, y}, {0, 0}, {1, 1}, {p, 0}};
    r.vectors->run(&v);
  };
  if (r.factor != 1) finish(IT_V_AFFINE, r.factor);
  if (r.last >= 0) finish(r.last, 0);
  return {};
}

// By axis, whether it is reduced.
Result<std::vector<bool>> reduced_axes(const Region& region, const Node& node, const Value& x) {
  const Value* given = region.input(node, 1);
  if (given && !given->is_constant()) return unsupported(text(node.op(), " whose axes are not known before it runs"));
  std::vector<std::int64_t> axes = given ? given->ints() : node.integers("axes");
  bool all = axes.empty();
  if (all && node.integer("noop_with_empty_axes", 0) != 0) return unsupported(text(node.op(), " over no axis at all"));
  std::vector<bool> reduced(x.rank(), all);
  for (std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis)] = true;
  return reduced;
}

// Stages for extents as they lie in memory.
void plan_stages(const Extents& memory, const std::vector<bool>& reduced, Reduce& r) {
  Extents extents;
  std::vector<bool> folds;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i] == 1) continue;
    if (!folds.empty() && folds.back() == reduced[i]) extents.back() *= memory[i];
    else extents.push_back(memory[i]), folds.push_back(reduced[i]);
  }
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (!folds[i]) continue;
    r.stages.push_back({count(extents, 0, i), extents[i], count(extents, i + 1, extents.size())});
    extents[i] = 1;
  }
  // Nothing to fold is still a stage: it takes squares or absolute values.
  if (r.stages.empty()) r.stages.push_back({count(extents), 1, 1});
  for (std::size_t i = 0; i + 1 < r.stages.size(); ++i) r.room += static_cast<std::size_t>(r.stages[i].outer * r.stages[i].inner);
}

Result<Candidate> candidate(const Region& region, Device& device, const Row& row, const Order& order) {
  const Node& node = region.nodes[0];
  const Value &x = *region.input(node, 0), &y = *region.output(node, 0);
  IT_TRY(std::vector<bool> reduced, reduced_axes(region, node, x));
  std::vector<bool> in_memory;
  for (std::size_t i = 0; i < reduced.size(); ++i) in_memory.push_back(reduced[order.empty() ? i : static_cast<std::size_t>(order[i])]);
  Reduce r;
  plan_stages(in_order(x.extents, order), in_memory, r);
  r.first = row.first;
  r.next = row.next;
  r.last = row.last;
  r.results = y.count();
  if (row.mean && r.results > 0) r.factor = static_cast<float>(static_cast<double>(r.results) / static_cast<double>(x.count()));
  r.rows = &IT_CPU_TABLE(device.isa, it_rows);
  r.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  r.input = x.input;
  r.output = y.output;
  Candidate c;
  c.kernel = text("reduce_", order.empty() ? "" : "nhwc_", name(device.isa));
  for (int input : region.inputs) c.input_orders.push_back(input == node.inputs[0] ? order : Order{});
  c.output_orders = {y.rank() == x.rank() ? order : Order{}};
  c.workspace = r.room * sizeof(float);
  c.cost_ns = device.cost(static_cast<double>(x.count()), 4.0 * static_cast<double>(x.count()), 0.1) + 700.0 * static_cast<double>(r.stages.size() - 1);
  c.prepare = [r](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of([r](const Launch& launch) { return run(r, launch); }); };
  return c;
}

// Without kept axes of one, a channels-last operand leaves its result in axis order only if no spatial axis stays beside the channels.
bool keeps_order(const std::vector<bool>& reduced, bool same_rank) {
  bool spatial_stays = false;
  for (std::size_t axis = 2; axis < reduced.size(); ++axis) spatial_stays = spatial_stays || !reduced[axis];
  return same_rank || !spatial_stays || reduced[1];
}

}  // namespace

Offers reduce_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node) return offers;
  for (const Row& row : table) {
    if (!node->is(row.op)) continue;
    const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
    if (!x || !y || x->input < 0) return unsupported(text(row.op, " of a constant, or with no result"));
    if (x->dtype != DType::f32) return unsupported(text(row.op, " of ", infini::name(x->dtype), ": the kernel is for f32"));
    if (x->count() == 0) return unsupported(text(row.op, " of nothing"));
    IT_TRY(Candidate plain, candidate(region, device, row, {}));
    offers.push_back(std::move(plain));
    Order last = channels_last(x->rank());
    IT_TRY(std::vector<bool> reduced, reduced_axes(region, *node, *x));
    if (last.empty() || !keeps_order(reduced, x->rank() == y->rank())) return offers;
    IT_TRY(Candidate other, candidate(region, device, row, last));
    offers.push_back(std::move(other));
  }
  return offers;
}

}  // namespace infini::cpu
