#include "libcore/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace infini {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "internal error: %s does not hold at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace infini
