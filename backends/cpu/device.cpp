#include "backends/cpu/device.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace infini::cpu {

double Device::cost(double flops, double memory_bytes, double efficiency) const {
  Rates rate = rates(isa);
  double threads = pool.threads();
  return 700.0 + std::max(flops / (rate.flops_per_ns * efficiency), memory_bytes / rate.memory_per_ns) / threads;
}

void* allocate_pages(std::size_t bytes) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  if (bytes > SIZE_MAX / 2) return nullptr;
  std::size_t alignment = bytes >= huge ? huge : 64;
  std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) return nullptr;
#if defined(MADV_HUGEPAGE)
  if (alignment == huge) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

void release_pages(void* memory) { std::free(memory); }

}  // namespace infini::cpu
