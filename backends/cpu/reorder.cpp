#include "backends/cpu/reorder.h"

#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

Result<Order> order_of(const it_layout* layout, std::int32_t rank) {
  if (!layout) return Order{};
  if (layout->block_count != 0) return unsupported(text("a layout with ", layout->block_count, " blocks; the cpu device has layouts by axis order alone"));
  if (!layout->order) return Order{};
  Order order(layout->order, layout->order + rank);
  for (std::int32_t axis = 0; axis < rank; ++axis) {
    bool found = false;
    for (std::int32_t other : order) found = found || other == axis;
    if (!found) return usage_error(text("the axis order ", join(order, ","), " leaves out axis ", axis));
  }
  return order;
}

}  // namespace

Status reorder(Device& device, const it_tensor& type, const it_layout* from, const void* input, const it_layout* to, void* output) {
  DType dtype = type.dtype >= 0 && type.dtype < dtype_count ? static_cast<DType>(type.dtype) : DType::none;
  if (!can_move(dtype)) return unsupported(text("a layout change of ", name(dtype)));
  IT_TRY(Order from_order, order_of(from, type.rank));
  IT_TRY(Order to_order, order_of(to, type.rank));
  Extents extents(type.extents, type.extents + type.rank);
  std::vector<std::int64_t> source = strides_of(extents, from_order), target = strides_of(extents, to_order);
  std::vector<Axis> axes;
  // Outermost first as the result lies in memory.
  for (std::size_t i = 0; i < extents.size(); ++i) {
    std::size_t axis = to_order.empty() ? i : static_cast<std::size_t>(to_order[i]);
    axes.push_back({extents[axis], source[axis], target[axis]});
  }
  move_strided(&device.pool, element_bytes(dtype), std::move(axes), static_cast<const std::byte*>(input), static_cast<std::byte*>(output));
  return {};
}

}  // namespace infini::cpu
