#include "libcore/exec/memory.h"

namespace infini {

Result<std::byte*> ExecMemory::arena(std::size_t device, std::size_t bytes) {
  std::shared_ptr<DeviceMemory>& arena = arenas_[device];
  if (!arena || arena->size() < bytes) {
    arena.reset();
    IT_TRY(arena, DeviceMemory::allocate(devices_[device], bytes));
  }
  return static_cast<std::byte*>(arena->data());
}

Result<std::shared_ptr<DeviceMemory>> ExecMemory::buffer(std::size_t device, std::size_t bytes) {
  for (const Pooled& pooled : pool_) {
    bool free = pooled.memory.use_count() == 1;
    if (free && pooled.device == device && pooled.memory->size() >= bytes && pooled.memory->size() <= 2 * bytes + 4096) return pooled.memory;
  }
  std::erase_if(pool_, [](const Pooled& pooled) { return pooled.memory.use_count() == 1; });
  IT_TRY(std::shared_ptr<DeviceMemory> made, DeviceMemory::allocate(devices_[device], bytes));
  pool_.push_back({device, made});
  return made;
}

std::size_t ExecMemory::arena_bytes() const {
  std::size_t total = 0;
  for (const auto& arena : arenas_) total += arena ? arena->size() : 0;
  return total;
}

}  // namespace infini
