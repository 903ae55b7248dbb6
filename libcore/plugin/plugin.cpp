#include "libcore/plugin/plugin.h"

#include <dlfcn.h>

#include "libcore/base/text.h"

namespace infini {

Error backend_error(it_status status, std::string_view backend, const Message& message) {
  std::string what = message.text();
  if (what.empty()) what = text("failed with status ", static_cast<int>(status), " and no message");
  switch (status) {
    case IT_UNSUPPORTED: return within(backend, unsupported(std::move(what)));
    case IT_OUT_OF_MEMORY:
    case IT_DEVICE_FAILED:
    case IT_INVALID: return within(backend, run_failed(std::move(what)));
    case IT_OK:
    case IT_INTERNAL: break;
  }
  return within(backend, internal_error(std::move(what)));
}

Result<Backend> Backend::checked(const it_backend* table, std::shared_ptr<void> library, std::string_view name) {
  if (!table) return unsupported(text("backend ", name, " speaks no version of the plugin interface up to ", IT_ABI, ", which is this program's"));
  if (table->abi != IT_ABI) return unsupported(text("backend ", name, " speaks version ", table->abi, " of the plugin interface, this program ", IT_ABI));
  if (table->struct_size < sizeof(it_backend)) {
    return unsupported(text("backend ", name, " has a table of ", table->struct_size, " bytes, version ", IT_ABI, " of the plugin interface has ", sizeof(it_backend)));
  }
  return Backend(table, std::move(library));
}

Result<Backend> Backend::from_query(it_backend_query_function query, std::string_view name) { return checked(query(IT_ABI), nullptr, name); }

Result<Backend> Backend::load(const std::string& path) {
  if (path.find('/') == std::string::npos) return usage_error(text("a plugin is given by a path with a slash, not '", path, "'"));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return unsupported(text("cannot load plugin ", path, ": ", std::string_view(dlerror())));
  std::shared_ptr<void> library(handle, [](void* h) { dlclose(h); });
  void* symbol = dlsym(handle, "it_backend_query");
  if (!symbol) return unsupported(text(path, " is not a backend: it exports no it_backend_query"));
  auto query = reinterpret_cast<it_backend_query_function>(symbol);
  return checked(query(IT_ABI), std::move(library), path);
}

Result<std::shared_ptr<Device>> Device::open(const Backend& backend, std::int32_t index, const DeviceOptions& options) {
  std::vector<it_option> list;
  for (const auto& [key, value] : options) list.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  Message message;
  it_device* handle = nullptr;
  const it_backend& table = backend.table();
  if (it_status status = table.open(index, list.data(), list.size(), &handle, message.out()); status != IT_OK) {
    if (status == IT_INVALID) return within(backend.name(), usage_error(message.text()));  // no such index or option
    return backend_error(status, backend.name(), message);
  }
  std::shared_ptr<Device> device(new Device(backend, handle));
  device->info_.struct_size = sizeof(it_device_info);
  if (it_status status = table.describe(handle, &device->info_, message.out()); status != IT_OK) return backend_error(status, backend.name(), message);
  return device;
}

Device::~Device() { table().close(handle_); }

Status Device::check(it_status status, const Message& message) const {
  if (status == IT_OK) return {};
  return backend_error(status, name(), message);
}

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::allocate(std::shared_ptr<Device> device, std::size_t bytes) {
  Message message;
  void* data = nullptr;
  IT_TRY_VOID(device->check(device->table().allocate(device->handle(), bytes, &data, message.out()), message));
  return std::shared_ptr<DeviceMemory>(new DeviceMemory(std::move(device), data, bytes));
}

DeviceMemory::~DeviceMemory() { device_->table().release(device_->handle(), data_); }

Status Kernel::launch(std::span<const void* const> inputs, std::span<void* const> outputs, void* workspace) const {
  Message message;
  return device_->check(device_->table().launch(device_->handle(), nullptr, handle_, inputs.data(), outputs.data(), workspace, message.out()), message);
}

}  // namespace infini
