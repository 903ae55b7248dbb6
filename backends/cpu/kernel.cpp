#include "backends/cpu/kernel.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini::cpu {

#define KERNEL(name) Offers name##_offer(const Region&, Device&);
#include "backends/cpu/kernels.def"
#undef KERNEL

namespace {
constexpr Family table[] = {
#define KERNEL(name) {#name, name##_offer},
#include "backends/cpu/kernels.def"
#undef KERNEL
};
}  // namespace

Result<std::shared_ptr<Buffer>> pack_once(Device& device, const std::string& key, std::size_t floats, std::span<const float> kept,
                                          const std::function<void(float*)>& fill) {
  if (std::shared_ptr<Buffer> found = device.packed.find(key)) return found;
  auto buffer = std::make_shared<Buffer>(floats);
  if (buffer->failed()) return run_failed(text("no memory for ", human_bytes(floats * sizeof(float)), " of packed constants"));
  if (floats > 0 && kept.size() == floats) std::copy(kept.begin(), kept.end(), buffer->data());
  else fill(buffer->data());
  device.packed.keep(key, buffer);
  return buffer;
}

std::span<const Family> families() { return table; }

}  // namespace infini::cpu
