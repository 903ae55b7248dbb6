#include "libcore/tensor/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace infini {
namespace {

// What the bit patterns beyond the finite numbers mean.
enum class Specials : std::uint8_t {
  ieee,  // the highest exponent is infinity (mantissa 0) and NaN
  fn,    // no infinity; all exponent and mantissa bits set is NaN
  fnuz,  // no infinity, no negative zero; the sign bit alone is NaN
  none,  // finite numbers only
};

// A sign bit, then `exponent` bits, then `mantissa` bits; 0 < mantissa <= 52.
struct FloatFormat {
  int exponent;
  int mantissa;
  int bias;
  Specials specials;
};

// Indexed by DType; types that are not floats of this kind have the format of f64, which nothing asks for.
constexpr FloatFormat binary64 = {11, 52, 1023, Specials::ieee};

constexpr std::array<FloatFormat, dtype_count> make_formats() {
  std::array<FloatFormat, dtype_count> table{};
  table.fill(binary64);
  auto set = [&table](DType dtype, FloatFormat format) { table[static_cast<std::size_t>(dtype)] = format; };
  set(DType::f16, {5, 10, 15, Specials::ieee});
  set(DType::bf16, {8, 7, 127, Specials::ieee});
  set(DType::f32, {8, 23, 127, Specials::ieee});
  set(DType::f8e4m3fn, {4, 3, 7, Specials::fn});
  set(DType::f8e4m3fnuz, {4, 3, 8, Specials::fnuz});
  set(DType::f8e5m2, {5, 2, 15, Specials::ieee});
  set(DType::f8e5m2fnuz, {5, 2, 16, Specials::fnuz});
  set(DType::f4e2m1, {2, 1, 1, Specials::none});
  return table;
}

constexpr std::array<FloatFormat, dtype_count> formats = make_formats();

const FloatFormat& format_of(DType dtype) { return formats[static_cast<std::size_t>(dtype)]; }

constexpr std::uint64_t low_bits(int count) { return (std::uint64_t{1} << count) - 1; }

// Bits of the largest finite number, without the sign.
constexpr std::uint64_t largest_magnitude(const FloatFormat& format) {
  std::uint64_t all = low_bits(format.exponent + format.mantissa);
  if (format.specials == Specials::ieee) return all - (std::uint64_t{1} << format.mantissa);
  return format.specials == Specials::fn ? all - 1 : all;
}

constexpr std::uint64_t quiet_nan(const FloatFormat& format, bool negative) {
  std::uint64_t sign = std::uint64_t{1} << (format.exponent + format.mantissa);
  std::uint64_t all = low_bits(format.exponent + format.mantissa);
  switch (format.specials) {
    case Specials::ieee: return (negative ? sign : 0) | (all & ~low_bits(format.mantissa - 1));
    case Specials::fn: return (negative ? sign : 0) | all;
    case Specials::fnuz: return sign;
    case Specials::none: return negative ? 0 : sign;  // as ml_dtypes: a zero of the opposite sign
  }
  return 0;
}

// 2 to the power `exponent`, which is that of a normal double.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double decode(const FloatFormat& format, std::uint64_t bits) {
  int width = format.exponent + format.mantissa;
  bool negative = (bits >> width) & 1;
  std::uint64_t magnitude = bits & low_bits(width);
  std::uint64_t fraction = magnitude & low_bits(format.mantissa);
  auto biased = static_cast<int>(magnitude >> format.mantissa);
  if (format.specials == Specials::fnuz && negative && magnitude == 0) return not_a_number;
  if (magnitude > largest_magnitude(format)) {
    bool infinite = format.specials == Specials::ieee && fraction == 0;
    return std::copysign(infinite ? infinity : not_a_number, negative ? -1.0 : 1.0);
  }
  double value = biased == 0
                     ? static_cast<double>(fraction) * power_of_two(1 - format.bias - format.mantissa)
                     : std::bit_cast<double>((static_cast<std::uint64_t>(biased - format.bias + 1023) << 52) |
                                             (fraction << (52 - format.mantissa)));
  return negative ? -value : value;
}

std::uint64_t overflowed(const FloatFormat& format, bool negative, bool saturate) {
  bool has_nan_only = format.specials == Specials::fn || format.specials == Specials::fnuz;
  if (!saturate && has_nan_only) return quiet_nan(format, negative);
  std::uint64_t sign = negative ? std::uint64_t{1} << (format.exponent + format.mantissa) : 0;
  bool infinite = !saturate && format.specials == Specials::ieee;
  return sign | (largest_magnitude(format) + (infinite ? 1 : 0));
}

// The magnitude bits, as if the exponent had no upper end, so that a carry and an overflow need no special case.
std::uint64_t rounded_magnitude(const FloatFormat& format, std::uint64_t double_bits) {
  auto biased = static_cast<int>((double_bits >> 52) & 0x7ff);
  std::uint64_t significand = double_bits & low_bits(52);
  if (biased != 0) significand |= std::uint64_t{1} << 52;
  int exponent = std::max(biased, 1) - 1023;
  int above_lowest = exponent - (1 - format.bias);
  int shift = std::min(52 - format.mantissa - std::min(above_lowest, 0), 60);
  std::uint64_t kept = significand >> shift;
  std::uint64_t rest = significand & low_bits(shift);
  std::uint64_t half = (std::uint64_t{1} << shift) >> 1;
  if (rest > half || (rest == half && half != 0 && (kept & 1) != 0)) ++kept;
  return (static_cast<std::uint64_t>(std::max(above_lowest, 0)) << format.mantissa) + kept;
}

std::uint64_t encode(const FloatFormat& format, double value, bool saturate) {
  bool negative = std::signbit(value);
  if (std::isnan(value)) return quiet_nan(format, negative);
  if (std::isinf(value)) return overflowed(format, negative, saturate);
  std::uint64_t magnitude = rounded_magnitude(format, std::bit_cast<std::uint64_t>(value));
  if (magnitude > largest_magnitude(format)) return overflowed(format, negative, saturate);
  if (magnitude == 0 && format.specials == Specials::fnuz) return 0;
  return magnitude | (negative ? std::uint64_t{1} << (format.exponent + format.mantissa) : 0);
}

// f8e8m0 has a value 2^(bits - 127) for each bits < 255, and NaN; a number halfway between two powers goes up.
// Negative numbers, of which ONNX says nothing, give NaN.
constexpr std::uint64_t e8m0_nan = 255;

std::uint64_t encode_e8m0(double value, const ConversionRule& rule) {
  if (std::isnan(value) || value < 0) return e8m0_nan;
  if (value == 0) return rule.saturate ? 0 : e8m0_nan;
  if (std::isinf(value)) return rule.saturate ? 254 : e8m0_nan;
  int exponent = 0;
  double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  bool up = rule.rounding == Rounding::up ? fraction > 0.5 : rule.rounding == Rounding::nearest_even && fraction >= 0.75;
  int bits = exponent - 1 + 127 + (up ? 1 : 0);
  if (bits >= 0 && bits <= 254) return static_cast<std::uint64_t>(bits);
  if (!rule.saturate) return e8m0_nan;
  return bits < 0 ? 0 : 254;
}

// Unaligned on purpose: data may lie anywhere in a file.
template <class T>
std::uint64_t load(const std::byte* data, std::size_t index) {
  T out;
  std::memcpy(&out, data + index * sizeof(T), sizeof(T));
  return out;
}

template <class T>
void store(std::byte* data, std::size_t index, std::uint64_t value) {
  auto narrow = static_cast<T>(value);
  std::memcpy(data + index * sizeof(T), &narrow, sizeof(T));
}

}  // namespace

double decode_float(DType dtype, std::uint64_t bits) {
  switch (info(dtype).kind) {
    case DTypeClass::floating: break;
    case DTypeClass::signed_int: return static_cast<double>(decode_int(dtype, bits));
    case DTypeClass::unsigned_int: return static_cast<double>(static_cast<std::uint64_t>(decode_int(dtype, bits)));
    case DTypeClass::boolean: return bits != 0 ? 1 : 0;
    case DTypeClass::none:
    case DTypeClass::text:
    case DTypeClass::complex: return not_a_number;
  }
  if (dtype == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  if (dtype == DType::f8e8m0) return bits == e8m0_nan ? not_a_number : power_of_two(static_cast<int>(bits) - 127);
  return decode(format_of(dtype), bits);
}

std::uint64_t encode_float(DType dtype, double value, ConversionRule rule) {
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::f8e8m0) return encode_e8m0(value, rule);
  if (dtype == DType::f16 || dtype == DType::bf16) return encode(format_of(dtype), value, false);
  return encode(format_of(dtype), value, rule.saturate);
}

std::int64_t decode_int(DType dtype, std::uint64_t bits) {
  if (dtype == DType::boolean) return bits != 0 ? 1 : 0;
  int unused = 64 - info(dtype).bits;
  if (is_signed_int(dtype)) return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(bits << unused >> unused);
}

std::uint64_t encode_int(DType dtype, std::int64_t value) {
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  int unused = 64 - info(dtype).bits;
  return static_cast<std::uint64_t>(value) << unused >> unused;
}

std::int64_t truncate_to_int(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::uint64_t truncate_to_u64(double value) {
  if (!(value >= 0x1p63)) return static_cast<std::uint64_t>(truncate_to_int(value));
  return value < 0x1p64 ? static_cast<std::uint64_t>(value) : std::numeric_limits<std::uint64_t>::max();
}

double round_to(DType dtype, double value) {
  if (dtype == DType::f32) return static_cast<float>(value);
  if (dtype == DType::f64) return value;
  // What the type holds stays as it is, so an infinity does not saturate where there is one.
  if (dtype == DType::f8e5m2 && std::isinf(value)) return value;
  if (is_floating(dtype)) return decode_float(dtype, encode_float(dtype, value));
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  return decode_float(dtype, encode_int(dtype, truncate_to_int(value)));
}

std::uint64_t load_bits(DType dtype, const std::byte* data, std::int64_t index) {
  auto bits = static_cast<std::size_t>(info(dtype).bits);
  auto at = static_cast<std::size_t>(index);
  switch (bits) {
    case 8: return load<std::uint8_t>(data, at);
    case 16: return load<std::uint16_t>(data, at);
    case 32: return load<std::uint32_t>(data, at);
    case 64: return load<std::uint64_t>(data, at);
    case 2:
    case 4: {
      std::size_t per_byte = 8 / bits;
      auto byte = std::to_integer<std::uint64_t>(data[at / per_byte]);
      return (byte >> (at % per_byte * bits)) & low_bits(static_cast<int>(bits));
    }
    default: return 0;
  }
}

void store_bits(DType dtype, std::byte* data, std::int64_t index, std::uint64_t value) {
  auto bits = static_cast<std::size_t>(info(dtype).bits);
  auto at = static_cast<std::size_t>(index);
  switch (bits) {
    case 8: return store<std::uint8_t>(data, at, value);
    case 16: return store<std::uint16_t>(data, at, value);
    case 32: return store<std::uint32_t>(data, at, value);
    case 64: return store<std::uint64_t>(data, at, value);
    case 2:
    case 4: {
      std::size_t per_byte = 8 / bits;
      std::size_t shift = at % per_byte * bits;
      std::uint64_t mask = low_bits(static_cast<int>(bits)) << shift;
      auto byte = std::to_integer<std::uint64_t>(data[at / per_byte]);
      data[at / per_byte] = static_cast<std::byte>((byte & ~mask) | ((value << shift) & mask));
      return;
    }
    default: return;
  }
}

}  // namespace infini
