// ConstantOfShape: one element, as often as the shape says.
#include <array>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {

Offers fill_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->is("ConstantOfShape")) return offers;
  const Value* y = region.output(*node, 0);
  if (!y || !can_move(y->dtype)) return unsupported(text("ConstantOfShape of ", y ? infini::name(y->dtype) : "nothing", ": elements are not whole bytes"));
  std::array<std::byte, 16> element{};
  std::span<const std::byte> value = node->tensor("value");
  std::size_t width = element_bytes(y->dtype);
  if (value.size() == width) std::memcpy(element.data(), value.data(), width);
  for (const Order& order : {Order{}, channels_last(y->rank())}) {
    if (!offers.empty() && order.empty()) break;
    Candidate c;
    c.kernel = order.empty() ? "fill" : "fill_nhwc";
    c.numerics = IT_EXACT;
    c.input_orders.assign(region.inputs.size(), Order{});
    c.output_orders = {order};
    c.cost_ns = device.cost(0, static_cast<double>(y->bytes()));
    c.prepare = [element, width, to = y->output, n = y->count()](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
      return kernel_of([=](const Launch& launch) -> Status {
        fill_elements(launch.device.pool, width, element.data(), launch.output<std::byte>(to), n);
        return {};
      });
    };
    offers.push_back(std::move(c));
  }
  return offers;
}

}  // namespace infini::cpu
