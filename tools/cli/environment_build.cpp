#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <fstream>

#include "libcore/base/text.h"
#include "libcore/plugin/it_backend.h"
#include "libcore/wire/protobuf.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

std::string distribution() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string name = line.substr(line.find('=') + 1);
    return name.size() >= 2 && name.front() == '"' ? name.substr(1, name.size() - 2) : name;
  }
  return "unknown system";
}

}  // namespace

void look_at_build(Environment& out) {
  std::string facts = version("it-check");  // "NAME (InfiniTensor) VERSION", then "Key: value" lines
  for (const std::string& line : infini::split(trim(facts), '\n')) {
    std::size_t colon = line.find(": ");
    if (colon == std::string::npos)
      out.facts["build.version"] = line.substr(line.rfind(' ') + 1);
    else if (line.starts_with("Commit"))
      out.facts["build.commit"] = line.substr(colon + 2);
    else if (line.starts_with("Build"))
      out.facts["build.compiler"] = line.substr(colon + 2);
  }
  out.facts["build.plugin_interface"] = text(IT_ABI);
  out.facts["build.cxx_abi"] = IT_CXX_ABI;
  out.findings.push_back({Finding::Verdict::ok, "build", join(infini::split(trim(facts), '\n'), "; ")});
  utsname system{};
  uname(&system);
  out.facts["system.name"] = distribution();
  out.facts["system.kernel"] = system.release;
  out.facts["system.architecture"] = system.machine;
  out.facts["library.libc.built"] = text(__GLIBC__, ".", __GLIBC_MINOR__);
  out.facts["library.libc.loaded"] = gnu_get_libc_version();
  out.findings.push_back({Finding::Verdict::ok, "system",
                          text(distribution(), ", ", std::string_view(system.sysname), " ", std::string_view(system.release), " ",
                               std::string_view(system.machine), ", libc ", std::string_view(gnu_get_libc_version()))});
}

void look_at_protobuf(Environment& out) {
  Status status = check_protobuf();
  if (status) return;
  out.findings.push_back(
      {Finding::Verdict::fail, "protobuf runtime", text("built with ", protobuf_built_version(), " headers; ", status.error().text()),
       "install the runtime of that version, take another one out of LD_LIBRARY_PATH or LD_PRELOAD, or build against what is there"});
}

}  // namespace infini::cli
