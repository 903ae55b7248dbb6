#include "libcore/tensor/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/hash.h"

namespace infini {
namespace {

__extension__ typedef unsigned __int128 Wide;

// Natural logarithm of a positive normal number, by the series of the inverse hyperbolic tangent.
double logarithm(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < std::numbers::sqrt2 / 2) {
    fraction *= 2;
    --exponent;
  }
  double t = (fraction - 1) / (fraction + 1);  // at most 0.172
  double square = t * t;
  double sum = 0;
  for (int odd = 21; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return exponent * std::numbers::ln2 + 2 * t * sum;
}

// p in (0, 1).
double inverse_normal(double p) {
  double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return q * (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
  }
  double r = std::sqrt(-logarithm(std::min(p, 1 - p)));
  double size = 0;
  if (r <= 5) {
    r -= 1.6;
    size = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) / ((0.12021132975 * r + 0.73700164250) * r + 1);
  } else {
    r -= 5;
    size = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) / ((0.012258202635 * r + 0.24197894225) * r + 1);
  }
  return q < 0 ? -size : size;
}

}  // namespace

RandomNumbers::RandomNumbers(std::uint64_t seed, std::string_view name) {
  Hasher hasher;
  hasher.add(seed);
  hasher.add(name);
  start_ = hasher.finish().high;
}

std::uint64_t RandomNumbers::bits(std::uint64_t counter) const {
  std::uint64_t z = start_ + (counter + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double RandomNumbers::unit(std::uint64_t counter) const { return static_cast<double>(bits(counter) >> 11) * 0x1p-53; }

std::uint64_t RandomNumbers::below(std::uint64_t limit, std::uint64_t counter) const {
  return static_cast<std::uint64_t>((static_cast<Wide>(bits(counter)) * limit) >> 64);
}

double RandomNumbers::normal(std::uint64_t counter) const {
  double p = (static_cast<double>(bits(counter) >> 12) + 0.5) * 0x1p-52;
  return static_cast<float>(inverse_normal(p));
}

}  // namespace infini
