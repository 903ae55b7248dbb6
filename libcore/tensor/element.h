// One element at a time: bits to numbers and back, for every element type that is not a string or complex.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libcore/tensor/dtype.h"

namespace infini {

// How a number becomes an element of a narrower type.
enum class Rounding : std::uint8_t { nearest_even, up, down };  // up and down are for f8e8m0 alone

struct ConversionRule {
  bool saturate = true;  // beyond the range: the largest value (true) or NaN / infinity (false); float8 and e8m0 alone
  Rounding rounding = Rounding::nearest_even;
};

// The bits of one element (of at most 64 bits) as a number. Exact. dtype: any float, integer or bool.
double decode_float(DType dtype, std::uint64_t bits);
// The number `value`, rounded once to `dtype` (a float type), as bits. Narrow types follow ONNX Cast 25: float8 by its two
// tables; f4e2m1 always saturates, and makes NaN a zero of the opposite sign as ml_dtypes does; f8e8m0 makes zero and what
// is too small its least power of two when saturating, else NaN, and negative numbers NaN.
std::uint64_t encode_float(DType dtype, double value, ConversionRule rule = {});
// Integer types: wraps around, as C does.
std::int64_t decode_int(DType dtype, std::uint64_t bits);
std::uint64_t encode_int(DType dtype, std::int64_t value);
// A float truncated toward zero into an integer type: values beyond int64 saturate there, NaN gives 0, then it wraps.
std::int64_t truncate_to_int(double value);
// The same into u64, whose values from 2^63 up int64 does not hold: beyond 2^64 they saturate.
std::uint64_t truncate_to_u64(double value);

// `value` after one rounding to `dtype`; what a register of that type would hold.
double round_to(DType dtype, double value);

// Element `index` of a packed or plain array of `dtype` (of at most 64 bits, not a string), as raw bits, and back.
std::uint64_t load_bits(DType dtype, const std::byte* data, std::int64_t index);
void store_bits(DType dtype, std::byte* data, std::int64_t index, std::uint64_t bits);

}  // namespace infini
