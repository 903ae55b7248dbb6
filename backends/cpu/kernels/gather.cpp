// Gather along one axis, of every plain type: rows copied by index; an index outside the axis ends the launch with an error.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Gather {
  RawOperand data, indices;
  bool wide = true;                       // indices are i64, else i32
  std::int64_t outer = 1, axis = 1, count = 1;
  std::size_t row = 0;                    // bytes that one index copies
  int output = 0;
};

std::int64_t index_at(const std::byte* indices, std::int64_t place, bool wide) {
  if (wide) {
    std::int64_t index;
    std::memcpy(&index, indices + 8 * place, sizeof index);
    return index;
  }
  std::int32_t index;
  std::memcpy(&index, indices + 4 * place, sizeof index);
  return index;
}

Status run(const Gather& g, const Launch& launch) {
  const std::byte *data = g.data.at(launch), *indices = g.indices.at(launch);
  std::byte* to = launch.output<std::byte>(g.output);
  std::int64_t rows = g.outer * g.count, grain = std::max<std::int64_t>(1, (64 << 10) / static_cast<std::int64_t>(std::max<std::size_t>(1, g.row)));
  std::atomic<std::int64_t> wrong{-1};
  launch.device.pool.run((rows + grain - 1) / grain, [&](std::int64_t chunk, int) {
    for (std::int64_t r = chunk * grain; r < std::min(rows, (chunk + 1) * grain); ++r) {
      std::int64_t index = index_at(indices, r % g.count, g.wide);
      if (index < 0) index += g.axis;
      if (index < 0 || index >= g.axis) {
        wrong.store(r % g.count, std::memory_order_relaxed);
        continue;
      }
      if (g.row) std::memcpy(to + static_cast<std::size_t>(r) * g.row, data + static_cast<std::size_t>(r / g.count * g.axis + index) * g.row, g.row);
    }
  });
  std::int64_t place = wrong.load();
  if (place < 0) return {};
  return run_failed(text("Gather: index ", index_at(indices, place, g.wide), " (number ", place, ") is outside an axis of ", g.axis));
}

}  // namespace

Offers gather_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->is("Gather")) return offers;
  const Value *x = region.input(*node, 0), *indices = region.input(*node, 1), *y = region.output(*node, 0);
  if (!x || !indices || !y || x->rank() == 0) return unsupported("Gather with an operand left out");
  if (!can_move(x->dtype)) return unsupported(text("Gather of ", infini::name(x->dtype), ": elements are not whole bytes"));
  std::int64_t axis = node->integer("axis", 0);
  std::size_t at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x->rank()) : axis);
  Gather g;
  g.data = RawOperand::of(*x);
  g.indices = RawOperand::of(*indices);
  g.wide = indices->dtype == DType::i64;
  g.outer = count(x->extents, 0, at);
  g.axis = x->extents[at];
  g.count = indices->count();
  g.row = static_cast<std::size_t>(count(x->extents, at + 1, x->rank())) * element_bytes(x->dtype);
  g.output = y->output;
  Candidate c;
  c.kernel = "gather";
  c.numerics = IT_EXACT;
  c.cost_ns = device.cost(0, 2.0 * static_cast<double>(y->bytes()));
  c.prepare = [g](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of([g](const Launch& launch) { return run(g, launch); }); };
  offers.push_back(std::move(c));
  return offers;
}

}  // namespace infini::cpu
