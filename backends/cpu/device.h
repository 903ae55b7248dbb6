// One open CPU device: its threads, instruction set and options.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "backends/cpu/isa.h"
#include "backends/cpu/pool.h"

namespace infini::cpu {

enum class Fault {
  none,
#define FAULT(name, sentence) name,
#include "backends/cpu/faults.def"
#undef FAULT
};

// Memory, not zeroed, at a multiple of 64; from 2 MiB on at a multiple of 2 MiB and, where the system allows it, in huge pages. Null: none left.
void* allocate_pages(std::size_t bytes);
void release_pages(void* memory);

// Memory of floats that a kernel keeps.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t floats) : floats_(static_cast<float*>(allocate_pages(floats * sizeof(float))), release_pages), size_(floats) {}
  float* data() const { return floats_.get(); }
  std::size_t size() const { return size_; }
  // True if the memory was refused.
  bool failed() const { return size_ > 0 && !floats_; }

 private:
  std::unique_ptr<float, void (*)(void*)> floats_{nullptr, release_pages};
  std::size_t size_ = 0;
};

// Packed constants that kernels share: one constant is packed once, however many shapes it is used with. A buffer lives as long as a
// kernel that uses it; while it does, the constant's address stands for the constant.
class PackedStore {
 public:
  std::shared_ptr<Buffer> find(const std::string& key) const {
    auto found = buffers_.find(key);
    return found == buffers_.end() ? nullptr : found->second.lock();
  }
  void keep(const std::string& key, const std::shared_ptr<Buffer>& buffer) {
    std::erase_if(buffers_, [](const auto& entry) { return entry.second.expired(); });
    buffers_[key] = buffer;
  }

 private:
  std::map<std::string, std::weak_ptr<Buffer>> buffers_;
};

struct Device {
  explicit Device(int threads) : pool(threads) {}

  Pool pool;
  Isa isa = Isa::portable;
  Fault fault = Fault::none;
  bool reproducible = false;
  PackedStore packed;

  bool has(Fault planted) const { return fault == planted; }
  // Nanoseconds for this much work on all threads, a parallel region's start included.
  double cost(double flops, double memory_bytes, double efficiency = 0.85) const;
};

}  // namespace infini::cpu
