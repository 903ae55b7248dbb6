// Loops over a dense result and operands that broadcast against it, cut into blocks of two axes for the threads.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/pool.h"
#include "backends/cpu/region.h"

namespace infini::cpu {

struct Grid {
  // By axis, outermost first, always two or more; the result is dense in this order.
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int64_t>> strides;  // [operand][axis], in elements; 0 where the operand repeats

  // Loops over `result` (as it lies in `order`); axes that run on for every operand are merged. operands: strides by the result's axes.
  Grid(const Extents& result, const Order& order, const std::vector<std::vector<std::int64_t>>& operands);

  std::int64_t rows() const { return extents[extents.size() - 2]; }
  std::int64_t columns() const { return extents.back(); }
  std::int64_t row_stride(std::size_t operand) const { return strides[operand][extents.size() - 2]; }
  std::int64_t column_stride(std::size_t operand) const { return strides[operand].back(); }
};

// Strides of an operand by the axes of a result it broadcasts against; it lies in `order`.
std::vector<std::int64_t> broadcast_strides(const Extents& operand, const Order& order, const Extents& result);

// A block of the grid: rows * columns elements, at `result` elements from the result's beginning; offsets by operand.
struct GridBlock {
  std::int64_t rows, columns, result;
  const std::int64_t* offsets;
};

// Calls body(block, thread) for blocks that cover the grid, of at most `floats` elements, `grain` or more elements a chunk.
template <class Body>
void for_blocks(Pool& pool, const Grid& grid, std::int64_t floats, std::int64_t grain, Body&& body) {
  std::int64_t outer = 1, wide = grid.columns() < floats ? grid.columns() : floats;
  for (std::size_t i = 0; i + 2 < grid.extents.size(); ++i) outer *= grid.extents[i];
  if (outer == 0 || wide == 0 || grid.rows() == 0) return;
  std::int64_t high = floats / wide < grid.rows() ? floats / wide : grid.rows();
  std::int64_t across = (grid.columns() + wide - 1) / wide, down = (grid.rows() + high - 1) / high;
  std::int64_t blocks = outer * down * across, each = grain / (wide * high) > 1 ? grain / (wide * high) : 1;
  pool.run((blocks + each - 1) / each, [&](std::int64_t chunk, int thread) {
    std::int64_t offsets[16];
    for (std::int64_t i = chunk * each; i < blocks && i < (chunk + 1) * each; ++i) {
      std::int64_t column = i % across * wide, row = i / across % down * high, rest = i / across / down;
      GridBlock block{grid.rows() - row < high ? grid.rows() - row : high, grid.columns() - column < wide ? grid.columns() - column : wide,
                      (rest * grid.rows() + row) * grid.columns() + column, offsets};
      for (std::size_t o = 0; o < grid.strides.size(); ++o) {
        offsets[o] = row * grid.row_stride(o) + column * grid.column_stride(o);
        std::int64_t number = rest;
        for (std::size_t axis = grid.extents.size() - 2; axis-- > 0;) {
          offsets[o] += number % grid.extents[axis] * grid.strides[o][axis];
          number /= grid.extents[axis];
        }
      }
      body(block, thread);
    }
  });
}

// Operands that for_blocks takes at most.
constexpr std::size_t max_grid_operands = 16;

}  // namespace infini::cpu
