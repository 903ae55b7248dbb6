// Plugins that break their promise and end the process: what the user sees then.
#pragma once

#include <functional>
#include <string>

#include "libcore/base/result.h"

namespace infini::cli {

// While one lives, a signal that would end the process (abort, bad memory access, stack overflow) or a call of exit ends it with `sentence` on stderr and
// status 5. At most one at a time.
class CrashGuard {
 public:
  explicit CrashGuard(const std::string& sentence);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;
};

// Calls `probe` in a child process first, what it returns left alone. run_failed if the child is ended by a signal, calls exit, or does not return within
// ten seconds; what it prints is dropped.
Status survives(const std::function<void()>& probe);

}  // namespace infini::cli
