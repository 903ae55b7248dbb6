// Softmax and LogSoftmax of f32 over any axis.
#include <algorithm>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/rows.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// As the tensor lies in memory: outer x n x inner numbers.
struct Softmax {
  std::int64_t outer = 1, n = 1, inner = 1;
  bool logarithm = false;
  std::int64_t left_out = 0;  // planted fault
  const it_rows_kernels* rows = nullptr;
};

void run_rows(const Softmax& s, Pool& pool, const float* x, float* y) {
  std::int64_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, s.n));
  pool.run((s.outer + grain - 1) / grain, [&](std::int64_t chunk, int) {
    for (std::int64_t r = chunk * grain; r < std::min(s.outer, (chunk + 1) * grain); ++r) {
      s.rows->softmax(x + r * s.n, y + r * s.n, s.n - s.left_out, s.logarithm);
      if (s.left_out) y[(r + 1) * s.n - 1] = 0;
    }
  });
}

void run_columns(const Softmax& s, Pool& pool, const float* x, float* y) {
  std::int64_t wide = std::min<std::int64_t>(s.inner, 64), across = (s.inner + wide - 1) / wide;
  pool.run(s.outer * across, [&](std::int64_t chunk, int) {
    std::int64_t column = chunk % across * wide, place = chunk / across * s.n * s.inner + column;
    s.rows->softmax_columns(x + place, y + place, s.n, std::min(wide, s.inner - column), s.inner, s.logarithm);
  });
}

Candidate candidate(const Region& region, Device& device, const Order& order) {
  const Node& node = region.nodes[0];
  const Value &x = *region.input(node, 0), &y = *region.output(node, 0);
  std::int64_t given = node.integer("axis", -1), rank = static_cast<std::int64_t>(x.rank());
  std::size_t axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  std::size_t place = order.empty() ? axis : static_cast<std::size_t>(std::find(order.begin(), order.end(), static_cast<std::int32_t>(axis)) - order.begin());
  Extents memory = in_order(x.extents, order);
  Softmax s;
  s.outer = count(memory, 0, place);
  s.n = memory[place];
  s.inner = count(memory, place + 1, memory.size());
  s.logarithm = node.is("LogSoftmax");
  s.left_out = device.has(Fault::softmax_tail) && s.n > 1 ? 1 : 0;
  s.rows = &IT_CPU_TABLE(device.isa, it_rows);
  Candidate c;
  c.kernel = text(s.inner == 1 ? "softmax_rows_" : "softmax_columns_", name(device.isa));
  if (!order.empty()) c.input_orders = c.output_orders = {order};
  c.in_place = {{x.input, y.output, 0}};
  c.cost_ns = device.cost(25.0 * static_cast<double>(x.count()), 8.0 * static_cast<double>(x.count()), 0.25);
  int from = x.input, to = y.output;
  c.prepare = [s, from, to](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    return kernel_of([s, from, to](const Launch& launch) -> Status {
      auto run = s.inner == 1 ? run_rows : run_columns;
      if (s.outer * s.n * s.inner > 0) run(s, launch.device.pool, launch.input<float>(from), launch.output<float>(to));
      return {};
    });
  };
  return c;
}

}  // namespace

Offers softmax_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("Softmax") || node->is("LogSoftmax"))) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y || x->input < 0 || x->rank() == 0) return unsupported(text(node->op(), " of a constant, or with no result"));
  if (x->dtype != DType::f32) return unsupported(text(node->op(), " of ", infini::name(x->dtype), ": the kernel is for f32"));
  offers.push_back(candidate(region, device, {}));
  if (Order last = channels_last(x->rank()); !last.empty()) offers.push_back(candidate(region, device, last));
  return offers;
}

}  // namespace infini::cpu
