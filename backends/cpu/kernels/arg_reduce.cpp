// ArgMax and ArgMin along one axis: the first (or last) of equals, the first NaN where there is one.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "backends/cpu/kernels/typed.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

constexpr std::int64_t block = 64;  // columns whose best so far stay in registers and the first cache

// True if `now` takes the place of `best`, which stands before it.
template <class T>
bool displaces(T now, T best, bool smallest, bool last) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best)) return last && std::isnan(now);
    if (std::isnan(now)) return true;
  }
  return (smallest ? now < best : now > best) || (last && now == best);
}

// One block of columns: rows of n elements, `step` bytes from one to the next.
template <class Element, bool Smallest, bool Last>
void find_columns(const std::byte* x, std::int64_t n, std::int64_t step, std::int64_t columns, std::int64_t* place) {
  std::array<typename Stored<Element>::Compute, block> best;
  for (std::int64_t c = 0; c < columns; ++c) {
    best[static_cast<std::size_t>(c)] = Stored<Element>::load(x + c * Stored<Element>::size);
    place[c] = 0;
  }
  for (std::int64_t i = 1; i < n; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      auto now = Stored<Element>::load(x + i * step + c * Stored<Element>::size);
      if (!displaces(now, best[static_cast<std::size_t>(c)], Smallest, Last)) continue;
      best[static_cast<std::size_t>(c)] = now;
      place[c] = i;
    }
  }
}
using Find = void (*)(const std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t*);

Find function_of(DType dtype, bool smallest, bool last) {
  return with_number<Find>(dtype, nullptr, [=]<class Element>() -> Find {
    if (smallest) return last ? find_columns<Element, true, true> : find_columns<Element, true, false>;
    return last ? find_columns<Element, false, true> : find_columns<Element, false, false>;
  });
}

}  // namespace

Offers arg_reduce_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("ArgMax") || node->is("ArgMin"))) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y) return unsupported(text(node->op(), " with no result"));
  Find find = function_of(x->dtype, node->is("ArgMin"), node->integer("select_last_index", 0) != 0);
  if (!find) return unsupported(text(node->op(), " of ", infini::name(x->dtype)));
  std::int64_t axis = node->integer("axis", 0), rank = static_cast<std::int64_t>(x->rank());
  auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  std::int64_t outer = count(x->extents, 0, at), n = x->extents[at], inner = count(x->extents, at + 1, x->rank());
  std::int64_t width = static_cast<std::int64_t>(element_bytes(x->dtype)), across = (inner + block - 1) / block;
  RawOperand from = RawOperand::of(*x);
  int to = y->output;
  auto run = [=](const Launch& launch) -> Status {
    const std::byte* source = from.at(launch);
    auto* target = launch.output<std::int64_t>(to);
    launch.device.pool.run(outer * across, [&](std::int64_t chunk, int) {
      std::int64_t row = chunk / across, column = chunk % across * block;
      find(source + (row * n * inner + column) * width, n, inner * width, std::min(block, inner - column), target + row * inner + column);
    });
    return {};
  };
  Candidate c;
  c.kernel = "arg_reduce";
  c.numerics = IT_EXACT;
  for (std::size_t i = 0; i < region.inputs.size(); ++i) c.input_orders.push_back({});
  c.output_orders = {Order{}};
  c.cost_ns = device.cost(static_cast<double>(x->count()), static_cast<double>(x->bytes()), 0.1);
  c.prepare = [run](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of(run); };
  offers.push_back(std::move(c));
  return offers;
}

}  // namespace infini::cpu
