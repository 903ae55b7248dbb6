// One engine for everything that only moves elements: transposition, slicing, expansion, concatenation, layout changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/pool.h"
#include "backends/cpu/region.h"

namespace infini::cpu {

// One loop of a move: strides in elements; `from` may be 0 (repeat) or negative.
struct Axis {
  std::int64_t extent = 1, from = 0, to = 0;
};

// Moves elements of `width` bytes (1, 2, 4, 8, 16) for every index of the axes. from and to may be unaligned and must not overlap.
// pool: null to stay on the calling thread.
void move_strided(Pool* pool, std::size_t width, std::vector<Axis> axes, const std::byte* from, std::byte* to);

// Writes `element`, of `width` bytes, n times, on all threads of the pool.
void fill_elements(Pool& pool, std::size_t width, const std::byte* element, std::byte* to, std::int64_t n);

// Loops over `box` between a tensor of `source` extents and one of `target` extents, both in `order`.
std::vector<Axis> box_axes(const Extents& box, const Extents& source, const Extents& target, const Order& order);

// Strides of a dense tensor whose axes lie in `order` (empty: row-major), by axis.
std::vector<std::int64_t> strides_of(const Extents& extents, const Order& order);

// Constant numbers given row-major, put into `order`.
std::vector<float> reordered(const std::vector<float>& numbers, const Extents& extents, const Order& order);

// True for the element sizes that move_strided takes.
inline bool can_move(DType dtype) {
  int bits = info(dtype).bits;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}
inline std::size_t element_bytes(DType dtype) { return static_cast<std::size_t>(info(dtype).bits) / 8; }

}  // namespace infini::cpu
