#include <dlfcn.h>
#include <link.h>

#include <array>
#include <filesystem>

#include "libcore/base/text.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

struct Library {
  std::string_view name, version, soname, file;  // file: its name when this was built, links followed
};

// Written by CMake from what it found; one that another needs stands before it.
constexpr std::array linked = {
#define LIBRARY(name, version, soname, file) Library{name, version, soname, file},
#include "linked.def"
#undef LIBRARY
};

// The path of a library in this process, loaded if it is not yet there; or the loader's words.
Result<std::filesystem::path> loaded_path(const char* soname) {
  void* handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return run_failed(dlerror());
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return run_failed(dlerror());
  std::error_code error;
  std::filesystem::path path = map->l_name, real = std::filesystem::canonical(path, error);
  dlclose(handle);
  return error ? path : real;
}

Finding library_line(const Library& library, Environment& out) {
  std::string subject = text("library ", library.name), built = text("built against ", library.version, " (", library.file, ")");
  std::string key = text("library.", library.name);
  out.facts[key + ".built"] = library.version;
  if (library.soname.empty()) return {Finding::Verdict::ok, subject, built + ", part of the program"};
  std::string soname(library.soname);
  Result<std::filesystem::path> path = loaded_path(soname.c_str());
  if (!path) {
    return {Finding::Verdict::fail, subject, text(built, "; ", path.error().text()),
            text("install the package that has ", soname, " (Debian: apt-file search ", soname,
                 "); if it is there, look at LD_LIBRARY_PATH and LD_PRELOAD")};
  }
  std::string found = path->filename().string();
  out.facts[key + ".loaded"] = found;
  if (found == library.file) return {Finding::Verdict::ok, subject, text(built, ", loaded ", path->string())};
  return {Finding::Verdict::warn, subject, text(built, ", loaded ", path->string()),
          text("take ", path->parent_path().string(), " out of LD_LIBRARY_PATH or LD_PRELOAD, or build against what is there")};
}

}  // namespace

void look_at_libraries(Environment& out) {
  bool bad = false;
  for (const Library& library : linked) {
    Finding line = library_line(library, out);
    bool blames_another = line.verdict == Finding::Verdict::fail && (line.detail.find(text(library.soname, ": ")) == std::string::npos ||
                                                                     line.detail.find("undefined symbol") != std::string::npos);
    if (bad && blames_another) continue;  // it needs one of those before, which has its line
    bad = bad || line.verdict != Finding::Verdict::ok;
    out.findings.push_back(std::move(line));
  }
}

}  // namespace infini::cli
