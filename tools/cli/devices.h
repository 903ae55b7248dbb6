// Devices by name: built-in backends, plugins by path or by name, and what may stand in for them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "libcore/exec/planner.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// -d, --fallback, --threads, --device-option, --backend-dir.
std::span<const Option> device_options();

// A device asked for by name.
struct DeviceName {
  std::string backend;  // "cpu", or a path with a slash
  std::int32_t index = 0;
  bool implied = false; // the user did not name it: what stands in for the first
};

// "cuda:1" is number 1 of cuda, "cuda" its first.
DeviceName device_name(const std::string& word);
// The devices in order of preference, those that stand in included: `cpu` may lean on `reference`; others on what --fallback names.
Result<std::vector<DeviceName>> device_names(const Arguments& arguments);
Result<Devices> open_devices(const Arguments& arguments);
// The reference device alone, whatever the options say.
Result<Devices> open_reference();

// Where plugins are looked for by name.
std::filesystem::path backend_folder(const Arguments& arguments);
// The file of a plugin given by name or path, whether it is there or not; empty: it is built in.
std::string backend_path(const std::string& name, const Arguments& arguments);
Result<Backend> find_backend(const std::string& name, const Arguments& arguments);
// Names of the built-in backends and of the plugins found in the search path.
std::vector<std::string> known_backends(const Arguments& arguments);
// Tries something with a plugin in a child process; an error if that ends the process (tools/cli/crash.h). Built-in backends need no such trial.
Status survives_probe(const std::string& name, const std::function<void()>& probe);
// One line per device: name, description, or why it cannot be opened.
std::string list_devices(const Arguments& arguments);

}  // namespace infini::cli
