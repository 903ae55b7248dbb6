#include "tools/cli/devices.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "libcore/base/text.h"
#include "tools/cli/crash.h"
#include "tools/cli/program.h"

extern "C" {
const it_backend* it_cpu_backend_query(std::uint32_t max_abi);
const it_backend* it_reference_backend_query(std::uint32_t max_abi);
const it_backend* it_null_backend_query(std::uint32_t max_abi);
}

namespace infini::cli {
namespace {

constexpr std::array options = {
    Option{"-d,--device", Takes::value, "DEVICE[:INDEX],...", "devices in order of preference, or paths of plugins (cpu)", "Devices"},
    Option{"--fallback", Takes::value, "DEVICE", "where nodes go that the device does not take", "Devices"},
    Option{"--threads", Takes::value, "N", "threads of the cpu (all cores)", "Devices"},
    Option{"--device-option", Takes::value, "KEY=VALUE", "an option of the first device, such as isa=portable", "Devices", true},
    Option{"--backend-dir", Takes::value, "DIR", "where plugins are looked for by name", "Devices"},
    Option{"--list-devices", Takes::flag, {}, "list devices and exit", "Devices"},
};

struct BuiltIn {
  std::string_view name;
  it_backend_query_function query;
};
constexpr std::array built_in = {BuiltIn{"cpu", it_cpu_backend_query}, BuiltIn{"reference", it_reference_backend_query}, BuiltIn{"null", it_null_backend_query}};

bool is_built_in(const std::string& name) {
  return std::any_of(built_in.begin(), built_in.end(), [&](const BuiltIn& backend) { return backend.name == name; });
}

Result<DeviceOptions> options_for(const DeviceName& device, bool first, const Arguments& arguments) {
  DeviceOptions out;
  if (device.backend == "cpu" && arguments.has("threads")) {
    std::int64_t threads = 0;
    if (!parse_int(arguments.get("threads"), threads) || threads < 1) return usage_error(text("--threads=", arguments.get("threads"), ": expected a number, 1 or more"));
    out.emplace_back("threads", arguments.get("threads"));
  }
  if (!first) return out;
  for (const std::string& option : arguments.all("device-option")) {
    std::size_t equals = option.find('=');
    if (equals == std::string::npos) return usage_error(text("--device-option ", option, ": expected KEY=VALUE"));
    out.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  return out;
}

// One line per device of a backend, or why there is none.
std::string device_lines(const std::string& name, const Arguments& arguments) {
  Result<Backend> backend = find_backend(name, arguments);
  if (!backend) return text(name, ": ", backend.error().text(), "\n");
  std::int32_t count = 0;
  Message message;
  if (it_status status = backend->table().device_count(&count, message.out()); status != IT_OK) {
    return text(name, ": ", backend_error(status, name, message).text(), "\n");
  }
  if (count < 1) return text(name, ": no device of its kind is found here\n");
  std::string out;
  for (std::int32_t i = 0; i < count; ++i) {
    Result<std::shared_ptr<Device>> device = Device::open(*backend, i, {});
    out += text(name, count > 1 ? text(":", i) : "", ": ", device ? std::string((*device)->info().description) : device.error().text(), "\n");
  }
  return out;
}

// What a plugin does instead of returning is its fault, and told as such.
Result<std::shared_ptr<Device>> open_device(const DeviceName& name, bool first, const Arguments& arguments) {
  IT_TRY(DeviceOptions settings, options_for(name, first, arguments));
  auto open = [&]() -> Result<std::shared_ptr<Device>> {
    IT_TRY(Backend backend, find_backend(name.backend, arguments));
    return Device::open(backend, name.index, settings);
  };
  if (is_built_in(name.backend)) return open();
  CrashGuard guard(text(program_invocation_short_name, ": plugin ", name.backend, " ended the process while it was opened"));
  try {
    return open();
  } catch (const std::exception& e) {
    return run_failed(text("plugin ", name.backend, " throws an exception while it is opened: ", std::string_view(e.what())));
  } catch (...) {
    return run_failed(text("plugin ", name.backend, " throws an exception while it is opened"));
  }
}

}  // namespace

std::span<const Option> device_options() { return options; }

std::filesystem::path backend_folder(const Arguments& arguments) {
  if (arguments.has("backend-dir")) return arguments.get("backend-dir");
  return program_folder().parent_path() / "lib" / "infinitensor" / "backends";  // beside the installed tools
}

std::string backend_path(const std::string& name, const Arguments& arguments) {
  if (is_built_in(name)) return {};
  return name.find('/') != std::string::npos ? name : (backend_folder(arguments) / text("lib", name, ".so")).string();
}

Result<Backend> find_backend(const std::string& name, const Arguments& arguments) {
  for (const BuiltIn& backend : built_in) {
    if (backend.name == name) return Backend::from_query(backend.query, name);
  }
  std::string path = backend_path(name, arguments);
  std::error_code error;
  if (path == name || std::filesystem::exists(path, error)) return Backend::load(path);
  return usage_error(text("there is no device '", name, "': known are ", join(known_backends(arguments), ", "), "; looked for ", path,
                          name.ends_with(".so") ? text("; a path has a slash: ./", name) : ""));
}

std::vector<std::string> known_backends(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const BuiltIn& backend : built_in) names.emplace_back(backend.name);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(backend_folder(arguments), error)) {
    std::string file = entry.path().filename().string();
    if (file.starts_with("lib") && file.ends_with(".so")) names.push_back(file.substr(3, file.size() - 6));
  }
  return names;
}

DeviceName device_name(const std::string& word) {
  std::size_t colon = word.rfind(':');
  std::int64_t index = 0;
  if (colon == std::string::npos || !parse_int(std::string_view(word).substr(colon + 1), index) || index < 0 || index >= 1024) return {word};
  return {word.substr(0, colon), static_cast<std::int32_t>(index)};
}

Result<std::vector<DeviceName>> device_names(const Arguments& arguments) {
  std::vector<DeviceName> out;
  auto add = [&](const std::string& word, bool implied) -> Status {
    DeviceName device = device_name(word);
    device.implied = implied;
    if (device.backend.empty()) return usage_error("-d: an empty device name");
    bool there = std::any_of(out.begin(), out.end(), [&](const DeviceName& d) { return d.backend == device.backend && d.index == device.index; });
    if (!there) out.push_back(std::move(device));
    return {};
  };
  for (const std::string& word : split(arguments.get("device", "cpu"), ',')) IT_TRY_VOID(add(word, false));
  if (arguments.has("fallback")) {
    for (const std::string& word : split(arguments.get("fallback"), ',')) IT_TRY_VOID(add(word, true));
  }
  if (std::any_of(out.begin(), out.end(), [](const DeviceName& d) { return d.backend == "cpu"; })) IT_TRY_VOID(add("reference", true));
  return out;
}

Result<Devices> open_devices(const Arguments& arguments) {
  IT_TRY(std::vector<DeviceName> names, device_names(arguments));
  Devices devices;
  for (const DeviceName& name : names) {
    IT_TRY(std::shared_ptr<Device> device, open_device(name, devices.empty(), arguments));
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<Devices> open_reference() {
  IT_TRY(Backend backend, find_backend("reference", {}));
  IT_TRY(std::shared_ptr<Device> device, Device::open(backend, 0, {}));
  return Devices{std::move(device)};
}

Status survives_probe(const std::string& name, const std::function<void()>& probe) {
  if (is_built_in(name)) return {};
  return within(text("plugin ", name), survives(probe));
}

std::string list_devices(const Arguments& arguments) {
  std::string out;
  for (const std::string& name : known_backends(arguments)) {
    Status survived = survives_probe(name, [&] { (void)device_lines(name, arguments); });
    out += survived ? device_lines(name, arguments) : text(name, ": ", survived.error().text(), "\n");
  }
  return out;
}

}  // namespace infini::cli
