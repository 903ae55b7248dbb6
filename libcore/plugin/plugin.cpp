#include "libcore/plugin/plugin.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "libcore/base/file.h"
#include "libcore/base/text.h"

namespace infini {
namespace {

#ifdef __clang__
constexpr std::string_view this_compiler = "clang " __clang_version__;
#else
constexpr std::string_view this_compiler = "g++ " __VERSION__;
#endif

// unsupported if a library's segments reach beyond the end of its file: the loader would map what is not there and fault.
Status check_length(const std::string& path) {
  IT_TRY(Descriptor file, open_for_reading(path));
  IT_TRY(FileFacts facts, file_facts(path));
  Elf64_Ehdr header{};
  IT_TRY(std::size_t got, read_at(file.number(), 0, std::as_writable_bytes(std::span(&header, 1)), path));
  if (got < sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};  // the loader's to refuse
  std::uint64_t needed = 0;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    IT_TRY(got, read_at(file.number(), header.e_phoff + i * sizeof segment, std::as_writable_bytes(std::span(&segment, 1)), path));
    if (got < sizeof segment) return unsupported(text("plugin ", path, " is cut short inside its list of segments"));
    needed = std::max(needed, segment.p_offset + segment.p_filesz);
  }
  if (needed <= facts.size) return {};
  return unsupported(text("plugin ", path, " is cut short: it has ", facts.size, " bytes, its segments need ", needed));
}

}  // namespace

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
  const it_build_facts& facts = table->facts;
  for (const char* fact : {facts.name, facts.version, facts.compiler, facts.cxx_abi, facts.sdk_built_for, facts.sdk_found}) {
    if (!fact) return unsupported(text("backend ", name, " leaves one of its build facts NULL, expected a text, empty where there is nothing to tell"));
  }
  if (std::string_view abi = facts.cxx_abi; !abi.empty() && abi != IT_CXX_ABI) {
    return unsupported(text("backend ", name, " was built for the C++ library '", abi, "', this program for '", IT_CXX_ABI, "'; rebuild it with ", this_compiler));
  }
  if (!(table->device_count && table->open && table->close && table->describe && table->allocate && table->release && table->upload && table->download &&
        table->candidates)) {
    return unsupported(text("backend ", name, " leaves a function NULL that every backend has: device_count to release, upload, download and candidates"));
  }
  return Backend(table, std::move(library));
}

Result<Backend> Backend::from_query(it_backend_query_function query, std::string_view name) { return checked(query(IT_ABI), nullptr, name); }

Result<Backend> Backend::load(const std::string& path) {
  if (path.find('/') == std::string::npos) return usage_error(text("a plugin is given by a path with a slash, not '", path, "'"));
  IT_TRY_VOID(check_length(path));
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
  std::int32_t count = 0;
  if (it_status status = table.device_count(&count, message.out()); status != IT_OK) return backend_error(status, backend.name(), message);
  if (count < 1) return unsupported(text("backend ", backend.name(), " finds no device of its kind here"));
  if (index >= count) {
    return usage_error(text("backend ", backend.name(), " has ", count, count == 1 ? " device, number 0" : text(" devices, numbers 0 to ", count - 1), "; there is no number ", index));
  }
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
