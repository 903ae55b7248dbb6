// Backends and devices behind the C table: loading, version checks, lifetimes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/plugin/it_backend.h"

namespace infini {

inline std::string_view view(it_text text) { return {text.data, text.size}; }

// Where a backend leaves its sentence.
class Message {
 public:
  it_message out() { return {text_, sizeof text_}; }
  std::string text() const { return text_; }

 private:
  char text_[1024] = {};
};

// The error that a status and its message stand for.
Error backend_error(it_status status, std::string_view backend, const Message& message);

// A backend's table, and the library it lives in while anybody uses it.
class Backend {
 public:
  // `query` is a built-in backend's; `path` a library's, which must hold a slash. unsupported with one sentence: no such file, no symbol, another ABI,
  // a table shorter than this version's.
  static Result<Backend> from_query(it_backend_query_function query, std::string_view name);
  static Result<Backend> load(const std::string& path);

  const it_backend& table() const { return *table_; }
  std::string name() const { return table_->facts.name; }

 private:
  Backend(const it_backend* table, std::shared_ptr<void> library) : table_(table), library_(std::move(library)) {}
  static Result<Backend> checked(const it_backend* table, std::shared_ptr<void> library, std::string_view name);
  const it_backend* table_;
  std::shared_ptr<void> library_;
};

using DeviceOptions = std::vector<std::pair<std::string, std::string>>;

// An open device; closed with the last owner. Kernels and memory hold on to it.
class Device {
 public:
  static Result<std::shared_ptr<Device>> open(const Backend& backend, std::int32_t index, const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const it_backend& table() const { return backend_.table(); }
  it_device* handle() const { return handle_; }
  const it_device_info& info() const { return info_; }
  std::string name() const { return info_.name; }
  bool host_memory() const { return info_.host_memory != 0; }
  // Nothing, or the error of a call on this device.
  Status check(it_status status, const Message& message) const;

 private:
  Device(Backend backend, it_device* handle) : backend_(std::move(backend)), handle_(handle) {}
  Backend backend_;
  it_device* handle_;
  it_device_info info_{};
};

// Device memory with an owner.
class DeviceMemory {
 public:
  static Result<std::shared_ptr<DeviceMemory>> allocate(std::shared_ptr<Device> device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  DeviceMemory(std::shared_ptr<Device> device, void* data, std::size_t size) : device_(std::move(device)), data_(data), size_(size) {}
  std::shared_ptr<Device> device_;
  void* data_;
  std::size_t size_;
};

// A prepared kernel with an owner.
class Kernel {
 public:
  Kernel(std::shared_ptr<Device> device, it_kernel* handle) : device_(std::move(device)), handle_(handle) {}
  ~Kernel() { device_->table().discard(device_->handle(), handle_); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Status launch(std::span<const void* const> inputs, std::span<void* const> outputs, void* workspace) const;

 private:
  std::shared_ptr<Device> device_;
  it_kernel* handle_;
};

}  // namespace infini
