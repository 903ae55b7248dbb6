#include "libcore/ir/element_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "libcore/base/text.h"
#include "libcore/tensor/element.h"

namespace infini {
namespace {

constexpr int enough_digits = 17;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string hexadecimal(std::uint64_t bits) {
  std::array<char, 20> buffer{};
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), bits, 16).ptr;
  return "0x" + std::string(buffer.data(), end);
}

template <class Number>
bool parse_whole(std::string_view text, Number& out, int base = 10) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), out);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), out, base);
  }
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
}

// `text` as a number of a float type: read in f32 for f32 itself, so that it is rounded once.
std::optional<std::uint64_t> float_bits(DType dtype, std::string_view text) {
  if (dtype == DType::f32) {
    float value = 0;
    if (!parse_whole(text, value)) return std::nullopt;
    if (std::isnan(value)) return encode_float(dtype, not_a_number);
    return std::bit_cast<std::uint32_t>(value);
  }
  double value = 0;
  if (!parse_whole(text, value)) return std::nullopt;
  if (std::isnan(value)) value = not_a_number;
  std::uint64_t bits = encode_float(dtype, value);
  if (std::isfinite(value) && !std::isfinite(decode_float(dtype, bits))) return std::nullopt;
  return bits;
}

std::string float_text(DType dtype, std::uint64_t bits) {
  double value = decode_float(dtype, bits);
  if (std::isnan(value)) return bits == encode_float(dtype, not_a_number) ? "nan" : hexadecimal(bits);
  if (dtype == DType::f64) return text(value);
  if (dtype == DType::f32) return text(static_cast<float>(value));
  std::string exact = text(value);
  std::array<char, 40> buffer{};
  for (int digits = 1; digits <= enough_digits; ++digits) {
    auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits).ptr;
    std::string_view shorter(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    if (shorter.size() < exact.size() && float_bits(dtype, shorter) == bits) return std::string(shorter);
  }
  return float_bits(dtype, exact) == bits ? exact : hexadecimal(bits);
}

std::optional<std::uint64_t> integer_bits(DType dtype, std::string_view text) {
  if (dtype == DType::u64) {
    std::uint64_t value = 0;
    if (!parse_whole(text, value)) return std::nullopt;
    return value;
  }
  std::int64_t value = 0;
  if (!parse_whole(text, value)) return std::nullopt;
  std::uint64_t bits = encode_int(dtype, value);
  if (decode_int(dtype, bits) != value) return std::nullopt;
  return bits;
}

std::optional<std::uint64_t> raw_bits(DType dtype, std::string_view digits) {
  std::uint64_t bits = 0;
  int width = info(dtype).bits;
  if (digits.starts_with('+') || !parse_whole(digits, bits, 16) || (width < 64 && (bits >> width) != 0)) return std::nullopt;
  if (dtype == DType::boolean && bits > 1) return std::nullopt;
  return bits;
}

std::string bits_text(DType dtype, std::uint64_t bits) {
  if (is_floating(dtype)) return float_text(dtype, bits);
  if (dtype == DType::boolean) return text(bits != 0);
  if (dtype == DType::u64) return text(bits);
  return text(decode_int(dtype, bits));
}

}  // namespace

std::string real_text(float value) { return float_text(DType::f32, std::bit_cast<std::uint32_t>(value)); }

bool parse_real(std::string_view text, float& out) {
  Result<std::uint64_t> bits = parse_element(DType::f32, text);
  if (!bits) return false;
  out = std::bit_cast<float>(static_cast<std::uint32_t>(*bits));
  return true;
}

std::string element_text(const Tensor& tensor, std::int64_t index) {
  DType dtype = tensor.dtype();
  if (dtype == DType::str) return quoted(tensor.strings()[static_cast<std::size_t>(index)]);
  if (!is_complex(dtype)) return bits_text(dtype, load_bits(dtype, tensor.bytes().data(), index));
  DType part = part_of(dtype);
  return text("(", bits_text(part, load_bits(part, tensor.bytes().data(), 2 * index)), ",",
              bits_text(part, load_bits(part, tensor.bytes().data(), 2 * index + 1)), ")");
}

Result<std::uint64_t> parse_element(DType dtype, std::string_view text) {
  std::optional<std::uint64_t> bits;
  if (text.starts_with("0x")) {
    bits = raw_bits(dtype, text.substr(2));
  } else if (dtype == DType::boolean) {
    if (text == "true" || text == "false") bits = text == "true" ? 1 : 0;
  } else {
    bits = is_floating(dtype) ? float_bits(dtype, text) : integer_bits(dtype, text);
  }
  if (!bits) return bad_input(infini::text("found ", quoted(text), ", expected an element of type ", name(dtype)));
  return *bits;
}

}  // namespace infini
