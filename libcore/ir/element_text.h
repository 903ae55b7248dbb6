// Elements of tensors as text, both ways and exactly.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/tensor/tensor.h"

namespace infini {

// The shortest decimal that reads back as the same f32: "0.1", "-0", "inf", "nan"; other NaNs as their bits, "0x7fc00001".
std::string real_text(float value);
bool parse_real(std::string_view text, float& out);

// One element, likewise: integers in decimal, "true", floats of any width, "(re,im)", strings quoted.
std::string element_text(const Tensor& tensor, std::int64_t index);

// The real type that half of a complex element is.
inline DType part_of(DType complex) { return complex == DType::c64 ? DType::f32 : DType::f64; }

// Bits of one element of a type of at most 64 bits, from a number, true, false, nan, inf or the bits "0x...". bad_input if it is none of
// these, or does not fit the type.
Result<std::uint64_t> parse_element(DType dtype, std::string_view text);

}  // namespace infini
