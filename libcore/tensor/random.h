// Random numbers from (seed, name, counter), without state, the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace infini {

// The outputs of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014), started at a
// digest of seed and name; output number `counter` is had directly.
class RandomNumbers {
 public:
  RandomNumbers(std::uint64_t seed, std::string_view name);
  std::uint64_t bits(std::uint64_t counter) const;
  // In [0, 1), a multiple of 2^-53.
  double unit(std::uint64_t counter) const;
  // In [0, limit).
  std::uint64_t below(std::uint64_t limit, std::uint64_t counter) const;
  // Mean 0, deviation 1: the inverse of the normal distribution at a multiple of 2^-53 (Wichura's AS 241, PPND7, whose relative
  // error is about 1e-7), rounded to float. Only + - * / and sqrt are used, so no library of mathematics has a say.
  double normal(std::uint64_t counter) const;

 private:
  std::uint64_t start_;
};

}  // namespace infini
