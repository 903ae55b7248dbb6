// Softmax and LogSoftmax over any axis: of f32 row by row in vectors, of the other floats number by number, each step rounded to their type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/strided.h"
#include "backends/cpu/kernels/typed.h"
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

// n numbers that lie `step` elements apart.
using Line = void (*)(const std::byte* x, std::byte* y, std::int64_t n, std::int64_t step, bool logarithm);

template <class T>
void typed_line(const std::byte* x, std::byte* y, std::int64_t n, std::int64_t step, bool logarithm) {
  using Compute = typename Stored<T>::Compute;
  auto rounded = [](double value) {
    std::byte place[Stored<T>::size];
    Stored<T>::store(place, static_cast<Compute>(value));
    return static_cast<double>(Stored<T>::load(place));
  };
  auto at = [&](const std::byte* data, std::int64_t i) { return static_cast<double>(Stored<T>::load(data + i * step * Stored<T>::size)); };
  auto put = [&](std::int64_t i, double value) { Stored<T>::store(y + i * step * Stored<T>::size, static_cast<Compute>(value)); };
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < n; ++i) top = Max{}(top, at(x, i));
  for (std::int64_t i = 0; i < n; ++i) {
    double e = rounded(std::exp(rounded(at(x, i) - top)));
    sum += e;
    if (!logarithm) put(i, e);
  }
  double total = logarithm ? rounded(std::log(rounded(sum))) : rounded(sum);
  for (std::int64_t i = 0; i < n; ++i) put(i, logarithm ? rounded(at(x, i) - top) - total : at(y, i) / total);
}

Line line_of(DType dtype) {
  return is_floating(dtype) ? with_float<Line>(dtype, nullptr, []<class T>() -> Line { return typed_line<T>; }) : nullptr;
}

void run_lines(const Softmax& s, Line line, std::int64_t width, Pool& pool, const std::byte* x, std::byte* y) {
  std::int64_t lines = s.outer * s.inner, grain = std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, s.n));
  pool.run((lines + grain - 1) / grain, [&](std::int64_t chunk, int) {
    for (std::int64_t l = chunk * grain; l < std::min(lines, (chunk + 1) * grain); ++l) {
      std::int64_t place = (l / s.inner * s.n * s.inner + l % s.inner) * width;
      line(x + place, y + place, s.n, s.inner, s.logarithm);
    }
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
  if (x.dtype != DType::f32) {
    c.kernel = text("softmax_", order.empty() ? "" : "nhwc_", infini::name(x.dtype));
    c.cost_ns = 100 + 60.0 * static_cast<double>(x.count()) / device.pool.threads();
    c.prepare = [s, from, to, line = line_of(x.dtype), width = static_cast<std::int64_t>(element_bytes(x.dtype))](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
      return kernel_of([=](const Launch& launch) -> Status {
        run_lines(s, line, width, launch.device.pool, launch.input<std::byte>(from), launch.output<std::byte>(to));
        return {};
      });
    };
    return c;
  }
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
  if (!line_of(x->dtype)) return unsupported(text(node->op(), " of ", infini::name(x->dtype)));
  offers.push_back(candidate(region, device, {}));
  if (Order last = channels_last(x->rank()); !last.empty()) offers.push_back(candidate(region, device, last));
  return offers;
}

}  // namespace infini::cpu
