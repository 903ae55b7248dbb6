#include "tools/cli/program.h"

#include <sys/auxv.h>

#include <string_view>

namespace infini::cli {

std::filesystem::path program_folder() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return self.parent_path();
  // No /proc, as in a bare chroot: what the system call exec was given.
  const auto* given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  self = given ? std::filesystem::canonical(given, error) : std::filesystem::path();
  return error ? std::filesystem::path() : self.parent_path();
}

}  // namespace infini::cli
