#include "backends/cpu/isa.h"

#include <unistd.h>

namespace infini::cpu {

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::portable;
}

std::optional<Isa> parse_isa(std::string_view name) {
  if (name == "portable") return Isa::portable;
  if (name == "avx2") return Isa::avx2;
  if (name == "avx512") return Isa::avx512;
  return std::nullopt;
}

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::avx512: return "avx512";
    case Isa::avx2: return "avx2";
    case Isa::portable: break;
  }
  return "portable";
}

Rates rates(Isa isa) {
  switch (isa) {
    case Isa::avx512: return {200, 14, 60};
    case Isa::avx2: return {100, 14, 60};
    case Isa::portable: break;
  }
  return {22, 10, 30};
}

Caches caches() {
  Caches found;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  long first = sysconf(_SC_LEVEL1_DCACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (first > 0) found.first = first;
  if (second > 0) found.second = second;
#endif
  return found;
}

}  // namespace infini::cpu
