#include "libcore/exec/layout.h"

#include <algorithm>

namespace infini {
namespace {

constexpr double launch_ns = 700;
constexpr double assumed_bytes_per_ns = 10;

}  // namespace

Layout canonical(const it_layout& layout, const Extents& extents) {
  Layout out;
  for (std::int32_t i = 0; i < layout.block_count; ++i) out.blocks.push_back({layout.block_axis[i], layout.block_size[i]});
  if (layout.order == nullptr) return out;
  auto rank = static_cast<std::int32_t>(extents.size());
  auto blocked = [&](std::int32_t axis) { return std::any_of(out.blocks.begin(), out.blocks.end(), [&](const Layout::Block& b) { return b.axis == axis; }); };
  for (std::int32_t i = 0; i < rank; ++i) {
    std::int32_t axis = layout.order[i];
    if (extents[static_cast<std::size_t>(axis)] != 1 || blocked(axis)) out.order.push_back(axis);
  }
  if (std::is_sorted(out.order.begin(), out.order.end())) out.order.clear();
  return out;
}

std::int64_t storage_count(const Layout& layout, const Extents& extents) {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::int64_t extent = extents[axis];
    for (const Layout::Block& block : layout.blocks) {
      if (static_cast<std::size_t>(block.axis) == axis) extent = (extent + block.size - 1) / block.size * block.size;
    }
    count *= extent;
  }
  return count;
}

it_layout to_c(const Layout& layout, const Extents& extents, std::vector<std::int32_t>& full_order) {
  it_layout out{};
  out.block_count = static_cast<std::int32_t>(layout.blocks.size());
  for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
    out.block_axis[i] = layout.blocks[i].axis;
    out.block_size[i] = layout.blocks[i].size;
  }
  if (layout.order.empty()) return out;
  // Axes of extent 1 may stand anywhere; in front they disturb nothing.
  full_order.clear();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    auto number = static_cast<std::int32_t>(axis);
    if (std::find(layout.order.begin(), layout.order.end(), number) == layout.order.end()) full_order.push_back(number);
  }
  full_order.insert(full_order.end(), layout.order.begin(), layout.order.end());
  out.order = full_order.data();
  return out;
}

double reorder_cost_ns(std::size_t bytes, double bytes_per_ns) {
  return launch_ns + 2 * static_cast<double>(bytes) / (bytes_per_ns > 0 ? bytes_per_ns : assumed_bytes_per_ns);
}

}  // namespace infini
