#include "backends/cpu/kernel.h"

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

std::span<const Family> families() { return table; }

}  // namespace infini::cpu
