#include "backends/cpu/isa.h"

#include <unistd.h>

namespace infini::cpu {

std::vector<std::string_view> lacks(Isa isa) {
  std::vector<std::string_view> missing;
  if (isa == Isa::portable) return missing;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define NEEDS(feature) \
  if (!__builtin_cpu_supports(feature)) missing.emplace_back(feature)
  NEEDS("avx2");
  NEEDS("fma");
  if (isa == Isa::avx512) {
    NEEDS("avx512f");
    NEEDS("avx512bw");
    NEEDS("avx512dq");
    NEEDS("avx512vl");
  }
#undef NEEDS
#else
  missing.emplace_back("an x86-64 processor");
#endif
  return missing;
}

Isa best_isa() {
  for (Isa isa : {Isa::avx512, Isa::avx2})
    if (lacks(isa).empty()) return isa;
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
