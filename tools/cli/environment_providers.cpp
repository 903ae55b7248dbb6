#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "libcore/base/text.h"
#include "tools/cli/crash.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

using enum Finding::Verdict;
namespace fs = std::filesystem;

// Where Python would look: PYTHONPATH, then the packages of a virtual environment, of the user, of the system.
std::vector<fs::path> python_folders() {
  std::vector<fs::path> folders;
  auto variable = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  for (const std::string& folder : infini::split(variable("PYTHONPATH"), ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  std::vector<std::string> roots = {"/usr/local/lib", "/usr/lib"};
  if (std::string home = variable("HOME"); !home.empty()) roots.insert(roots.begin(), home + "/.local/lib");
  if (std::string environment = variable("VIRTUAL_ENV"); !environment.empty()) roots.insert(roots.begin(), environment + "/lib");
  for (const std::string& root : roots) {
    std::vector<fs::path> versions;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root, error)) {
      if (entry.path().filename().string().starts_with("python3")) versions.push_back(entry.path());
    }
    std::sort(versions.begin(), versions.end());
    for (const fs::path& version : versions) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        if (fs::is_directory(version / packages, error)) folders.push_back(version / packages);
      }
    }
  }
  return folders;
}

struct Module {
  std::string library;  // empty: there is none
  std::string why;      // then
};

// "a.b" is a/b.so or a/b.TAG.so in the first folder that has one.
Module find_module(const std::string& name) {
  std::string relative = name;
  std::replace(relative.begin(), relative.end(), '.', '/');
  std::vector<fs::path> folders = python_folders();
  std::error_code error;
  for (const fs::path& folder : folders) {
    fs::path stem = folder / relative;
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(stem.parent_path(), error)) {
      std::string file = entry.path().filename().string();
      if (file.starts_with(stem.filename().string() + ".") && file.ends_with(".so")) found.push_back(entry.path().string());
    }
    if (!found.empty()) return {*std::min_element(found.begin(), found.end()), ""};
    for (const char* source : {".py", "/__init__.py"}) {
      if (fs::exists(stem.string() + source, error)) return {"", text("is Python source, ", stem.string(), source, ", not a shared library")};
    }
  }
  return {"", text("no such module; looked for ", relative, "[.*].so in ",
                   folders.empty() ? "no folder, for Python has none"
                                   : join(
                                         [&] {
                                           std::vector<std::string> names;
                                           for (const fs::path& folder : folders) names.push_back(folder.string());
                                           return names;
                                         }(),
                                         ", "))};
}

std::string cure_of(const std::string& message, const std::string& library) {
  constexpr std::string_view absent = ": cannot open shared object file", undefined = "undefined symbol: ";
  if (std::size_t end = message.find(absent); end != std::string::npos) {
    std::string missing = message.substr(0, end);
    if (missing == library) return "give the path of a file that is there, or a name that the loader finds";
    return text("install the package that has ", missing, ", or name its folder in LD_LIBRARY_PATH");
  }
  if (std::size_t at = message.find(undefined); at != std::string::npos) {
    std::string symbol = message.substr(at + undefined.size());
    bool python = symbol.starts_with("Py") || symbol.starts_with("_Py");
    return text("name the library that has ", symbol.substr(0, symbol.find_first_of(" (")), python ? " (libpython3.N.so.1.0)" : "",
                " before it in --provider-modules");
  }
  return text("build or copy ", library, " again");
}

Finding look_at(const std::string& name, Environment& out) {
  std::string subject = text("provider ", name);
  Module module{name, ""};
  if (name.find('/') == std::string::npos && name.find(".so") == std::string::npos) module = find_module(name);
  out.facts[text("provider.", name)] = "not usable";
  if (module.library.empty())
    return {fail, subject, module.why, "name its extension module, or the path of its .so; PYTHONPATH says where else to look"};
  auto load = [&] { return dlopen(module.library.c_str(), RTLD_NOW | RTLD_GLOBAL); };  // stays: those behind it may need its symbols
  if (Status survived = survives([&] { (void)load(); }); !survived) {
    return {fail, subject, text(module.library, ": ", survived.error().text(), " while it is loaded"),
            text("remove it from --provider-modules, or get another build of it")};
  }
  void* handle = load();
  if (!handle) {
    std::string message = dlerror();
    return {fail, subject, text(message.starts_with(module.library) ? "" : module.library + ": ", message), cure_of(message, module.library)};
  }
  link_map* map = nullptr;
  std::string path = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : module.library;
  out.facts[text("provider.", name)] = fs::path(path).filename().string();
  return {ok, subject, text("loads from ", path)};
}

}  // namespace

void look_at_providers(const Arguments& arguments, Environment& out) {
  if (!arguments.has("provider-modules")) return;
  for (const std::string& name : infini::split(arguments.get("provider-modules"), ',')) out.findings.push_back(look_at(name, out));
}

}  // namespace infini::cli
