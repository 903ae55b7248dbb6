#include "backends/cpu/kernels/grid.h"

#include "backends/cpu/kernels/strided.h"

namespace infini::cpu {

Grid::Grid(const Extents& result, const Order& order, const std::vector<std::vector<std::int64_t>>& operands) : strides(operands.size()) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    std::int64_t extent = result[axis];
    if (extent == 1) continue;
    bool merges = !extents.empty();
    for (std::size_t o = 0; o < operands.size() && merges; ++o) merges = strides[o].back() == operands[o][axis] * extent;
    if (merges) extents.back() *= extent;
    else extents.push_back(extent);
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (merges) strides[o].back() = operands[o][axis];
      else strides[o].push_back(operands[o][axis]);
    }
  }
  while (extents.size() < 2) {
    extents.insert(extents.begin(), 1);
    for (std::vector<std::int64_t>& list : strides) list.insert(list.begin(), 0);
  }
}

std::vector<std::int64_t> broadcast_strides(const Extents& operand, const Order& order, const Extents& result) {
  std::vector<std::int64_t> own = strides_of(operand, order), strides(result.size(), 0);
  std::size_t lead = result.size() - operand.size();
  for (std::size_t axis = 0; axis < operand.size(); ++axis)
    if (operand[axis] != 1) strides[axis + lead] = own[axis];
  return strides;
}

}  // namespace infini::cpu
