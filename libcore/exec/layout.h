// Layouts as values that compare equal exactly when the bytes lie alike.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "libcore/plugin/it_backend.h"
#include "libcore/tensor/dim.h"

namespace infini {

// The order of axes from outermost to innermost, then blocks. For given extents, `canonical` leaves out axes of extent 1 and empties an order that
// is row-major anyway, so that [n,c,1,1] channels-last is the same as row-major.
struct Layout {
  std::vector<std::int32_t> order;
  struct Block {
    std::int32_t axis = 0, size = 0;
    friend auto operator<=>(const Block&, const Block&) = default;
  };
  std::vector<Block> blocks;

  bool row_major() const { return order.empty() && blocks.empty(); }
  friend auto operator<=>(const Layout&, const Layout&) = default;
};

Layout canonical(const it_layout& layout, const Extents& extents);
// Elements of storage, blocks padded.
std::int64_t storage_count(const Layout& layout, const Extents& extents);

// The C form; `full_order` receives an order over all axes and must outlive the result.
it_layout to_c(const Layout& layout, const Extents& extents, std::vector<std::int32_t>& full_order);

// Estimated ns to bring a tensor from one layout to another: read and written once, and a launch.
double reorder_cost_ns(std::size_t bytes, double bytes_per_ns);

}  // namespace infini
