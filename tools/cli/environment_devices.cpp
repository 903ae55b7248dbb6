#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "libcore/base/text.h"
#include "tools/cli/devices.h"
#include "tools/cli/environment_answers.h"

namespace infini::cli {
namespace {

using enum Finding::Verdict;

// The system's part of a device, which no plugin brings.
struct Driver {
  std::string_view device, library, package;
};
constexpr std::array drivers = {
    Driver{"cuda", "libcuda.so.1", "the NVIDIA driver (nvidia-smi shows it)"},
    Driver{"opencl", "libOpenCL.so.1", "ocl-icd-libopencl1 and a driver, such as pocl-opencl-icd"},
};

bool loads(std::string_view library) {
  void* handle = dlopen(std::string(library).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

bool has(const std::string& message, std::string_view words) { return message.find(words) != std::string::npos; }

// What to do about a plugin that cannot be loaded: the loader and libcore/plugin say what is wrong with it.
std::string load_cure(const std::string& path, const std::string& message) {
  constexpr std::string_view absent = ": cannot open shared object file";
  if (std::size_t end = message.find(absent); end != std::string::npos) {
    std::string missing = message.substr(0, end);
    missing = missing.substr(missing.rfind(' ') + 1);
    if (missing != path) return text("install the package that has ", missing, ", or name its folder in LD_LIBRARY_PATH");
  }
  if (!std::filesystem::exists(path)) return text("build or copy the plugin to ", path, ", or name its folder with --backend-dir");
  for (std::string_view damaged : {"cut short", "too short", "ELF", "no loadable segments"}) {
    if (has(message, damaged)) return text("build or copy ", path, " again");
  }
  return text("rebuild ", path, " with the it_backend.h and the compiler of this version, or remove it");
}

// The driver that the system lacks for this device; null: none that is known.
const Driver* lacking_driver(const std::string& name) {
  auto found = std::find_if(drivers.begin(), drivers.end(), [&](const Driver& driver) { return driver.device == name; });
  return found == drivers.end() || loads(found->library) ? nullptr : &*found;
}

// The error of a backend with what is known of its driver, which may be its cause.
std::string with_driver(const std::string& message, const Driver* driver) {
  return driver && !has(message, driver->library) ? text(message, "; its driver ", driver->library, " is not found either") : message;
}

class BackendLook {
 public:
  BackendLook(std::string name, std::vector<std::int32_t> required, const Arguments& arguments)
      : name_(std::move(name)), path_(backend_path(name_, arguments)), required_(std::move(required)), arguments_(arguments) {}

  // In this process; a plugin may end it.
  Environment here() const {
    Environment out;
    Result<Backend> backend = find_backend(name_, arguments_);
    if (!backend) {
      const Driver* driver = lacking_driver(name_);
      std::string message = backend.error().text(), cure = load_cure(path_, message);
      if (driver && has(message, driver->library))
        cure = text("install ", driver->package);
      else if (driver && !std::filesystem::exists(path_))
        cure = text("install ", driver->package, "; then ", cure);
      add(out, "", needed() ? fail : warn, with_driver(message, driver), std::move(cure));
      return out;
    }
    facts(backend->table().facts, out);
    std::int32_t count = 0;
    Message message;
    if (it_status status = backend->table().device_count(&count, message.out()); status != IT_OK) {
      not_open(backend_error(status, name_, message), "", needed(), out);
      return out;
    }
    for (std::int32_t i = 0; i < std::min(count, most_devices); ++i) device(*backend, i, count, out);
    if (count < 1) not_open(unsupported("the plugin loads, and finds no device"), "", needed(), out);
    for (std::int32_t index : required_) {
      if (index >= count && index > 0)
        add(out, text(":", index), fail, text("there is no such number; ", name_, " has ", count),
            text("--require ", name_, ":0, or install the device"));
    }
    return out;
  }

  // First in a process of its own.
  Environment carefully() const {
    Status survived = survives_probe(name_, [&] { (void)here(); });
    if (survived) return here();
    Environment out;
    add(out, "", fail, survived.error().text(), text("remove ", path_, ", or get one of its makers that keeps to it-backend(7)"));
    return out;
  }

 private:
  static constexpr std::int32_t most_devices = 16;

  bool needed() const { return !required_.empty(); }
  std::string key(std::string_view fact) const { return text("device.", name_, ".", fact); }

  void add(Environment& out, const std::string& index, Finding::Verdict verdict, std::string detail, std::string cure = {}) const {
    if (verdict == fail || verdict == warn) out.facts.emplace(key("state"), "not usable");
    out.findings.push_back({verdict, text("device ", name_, index), std::move(detail), std::move(cure)});
  }

  void not_open(const Error& error, const std::string& index, bool needed, Environment& out) const {
    const Driver* driver = lacking_driver(name_);
    add(out, index, needed ? fail : warn, with_driver(error.text(), driver),
        driver ? text("install ", driver->package) : text("install the device's driver, or do without -d ", name_));
  }

  void facts(const it_build_facts& facts, Environment& out) const {
    std::string built = facts.sdk_built_for, found = facts.sdk_found;
    out.facts[key("version")] = facts.version;
    out.facts[key("compiler")] = facts.compiler;
    out.facts[key("cxx_abi")] = facts.cxx_abi;
    out.facts[key("sdk_built_for")] = built;
    out.facts[key("sdk_found")] = found;
    if (built == found) return;
    out.findings.push_back(
        {warn, text("device ", name_, " SDK"), text("built for ", built.empty() ? "none" : built, ", found ", found.empty() ? "none" : found),
         built.empty() ? text("rebuild the plugin ", path_, " for ", found) : text("install ", built, ", or rebuild the plugin ", path_)});
  }

  void device(const Backend& backend, std::int32_t number, std::int32_t count, Environment& out) const {
    std::string index = count > 1 ? text(":", number) : "";
    bool wanted = std::find(required_.begin(), required_.end(), number) != required_.end();
    Result<std::shared_ptr<Device>> opened = Device::open(backend, number, {});
    if (!opened) return not_open(opened.error(), index, wanted, out);
    std::string description = (*opened)->info().description;
    out.facts[key(text("description", index))] = description;
    std::vector<KnownAnswer> answers = ask_known_answers(name_ + index, {*opened});
    std::size_t right = 0;
    std::vector<std::string> bad;
    for (const KnownAnswer& answer : answers) {
      if (answer.verdict == KnownAnswer::Verdict::right) ++right;
      if (answer.verdict == KnownAnswer::Verdict::wrong) bad.push_back(text(answer.family, " is WRONG: ", answer.detail));
      if (answer.verdict == KnownAnswer::Verdict::failed) bad.push_back(text(answer.family, " failed: ", answer.detail));
    }
    out.facts[key(text("answers", index))] = text(right, " of ", answers.size(), " right");
    std::string stamp = text(description, "; interface ", backend.table().abi, ", version ", std::string_view(backend.table().facts.version));
    if (!bad.empty())
      add(out, index, fail, text(stamp, "; known answers: ", join(bad, "; ")),
          text("do without -d ", name_, "; ", path_.empty() ? "report this with it-check env --json" : text("update or remove ", path_)));
    else if (path_.empty() && name_ == "null")
      add(out, index, ok, stamp + "; runs nothing, by design");
    else if (right == 0)
      add(out, index, warn, stamp + "; takes none of the questions with a known answer",
          text("it-check coverage -d ", path_.empty() ? name_ : path_, " MODEL says what it takes"));
    else
      add(out, index, ok,
          text(stamp, "; ", right, " of ", answers.size(), " known answers right", right < answers.size() ? ", the others it does not take" : ""));
    out.answers.insert(out.answers.end(), answers.begin(), answers.end());
  }

  std::string name_, path_;
  std::vector<std::int32_t> required_;
  const Arguments& arguments_;
};

void merge(Environment& out, Environment part) {
  std::move(part.findings.begin(), part.findings.end(), std::back_inserter(out.findings));
  std::move(part.answers.begin(), part.answers.end(), std::back_inserter(out.answers));
  out.facts.merge(part.facts);
}

// Which instruction set the cpu device takes, and what it says of the higher ones.
void look_at_isa(const Arguments& arguments, Environment& out) {
  Result<Backend> cpu = find_backend("cpu", arguments);
  if (!cpu) return;
  std::vector<std::string> refused;
  for (const char* isa : {"avx512", "avx2", "portable"}) {
    Result<std::shared_ptr<Device>> device = Device::open(*cpu, 0, {{"isa", isa}});
    if (!device) {
      refused.push_back(device.error().message);
      continue;
    }
    out.facts["cpu.isa"] = isa;
    out.findings.push_back({ok, "instruction set", text("cpu takes ", isa, refused.empty() ? "" : "; ", join(refused, "; "))});
    return;
  }
}

}  // namespace

Status look_at_devices(const Arguments& arguments, Environment& out) {
  std::vector<std::string> known = known_backends(arguments);
  std::sort(known.begin(), known.end());  // a folder has no order
  known.erase(std::unique(known.begin(), known.end()), known.end());
  std::map<std::string, std::vector<std::int32_t>> required;
  for (const std::string& word : arguments.has("require") ? infini::split(arguments.get("require"), ',') : std::vector<std::string>()) {
    DeviceName device = device_name(word);
    if (device.backend.empty()) return usage_error(text("--require=", arguments.get("require"), ": an empty device name"));
    required[device.backend].push_back(device.index);
    if (std::find(known.begin(), known.end(), device.backend) == known.end()) known.push_back(device.backend);
  }
  look_at_isa(arguments, out);
  for (const std::string& name : known) merge(out, BackendLook(name, required[name], arguments).carefully());
  return {};
}

}  // namespace infini::cli
