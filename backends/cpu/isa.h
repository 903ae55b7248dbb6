// Instruction sets: what this processor has, and what each is expected to reach.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace infini::cpu {

enum class Isa { portable, avx2, avx512 };

// What an instruction set needs that the processor or the operating system does not have, by the names of /proc/cpuinfo.
std::vector<std::string_view> lacks(Isa isa);
// The best instruction set of which nothing is lacking.
Isa best_isa();
std::optional<Isa> parse_isa(std::string_view name);
std::string_view name(Isa isa);

// What one core of a usual machine with this instruction set reaches; the base of every cost.
struct Rates {
  double flops_per_ns;       // f32 multiply-adds count 2
  double memory_per_ns;      // bytes of one core from memory
  double cache_per_ns;       // bytes of one core from its second-level cache
};
Rates rates(Isa isa);

// Bytes of one core's data caches; assumed values where a guest hides them.
struct Caches {
  long first = 32 << 10, second = 1 << 20;
};
Caches caches();

// The table of a family for an instruction set; on other processors than x86-64 the portable one.
template <class Table>
const Table& table_for(Isa isa, const Table& portable, [[maybe_unused]] const Table* avx2, [[maybe_unused]] const Table* avx512) {
  if (isa == Isa::avx512 && avx512) return *avx512;
  if (isa == Isa::avx2 && avx2) return *avx2;
  return portable;
}

#if defined(__x86_64__)
#define IT_CPU_TABLE(isa, family) ::infini::cpu::table_for(isa, family##_portable, &family##_avx2, &family##_avx512)
#else
#define IT_CPU_TABLE(isa, family) (static_cast<void>(isa), family##_portable)
#endif

}  // namespace infini::cpu
