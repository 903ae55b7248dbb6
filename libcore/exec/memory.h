// Arenas and buffers of the devices of one executor, reused from run to run.
#pragma once

#include <memory>
#include <vector>

#include "libcore/plugin/plugin.h"

namespace infini {

class ExecMemory {
 public:
  explicit ExecMemory(std::vector<std::shared_ptr<Device>> devices) : devices_(std::move(devices)), arenas_(devices_.size()) {}

  // The arena of a device, at least that large; contents are lost when it grows.
  Result<std::byte*> arena(std::size_t device, std::size_t bytes);
  // A buffer that nobody else holds now. It is free again when the last holder lets go.
  Result<std::shared_ptr<DeviceMemory>> buffer(std::size_t device, std::size_t bytes);
  std::size_t arena_bytes() const;

 private:
  struct Pooled {
    std::size_t device;
    std::shared_ptr<DeviceMemory> memory;
  };
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::shared_ptr<DeviceMemory>> arenas_;
  std::vector<Pooled> pool_;
};

}  // namespace infini
