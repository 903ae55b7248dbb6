#include "libcore/expr/lanes.h"

namespace infini::expr {
namespace {

template <class T, class Held>
void store_plain(const Held* from, std::byte* to, int count) {
  auto* out = reinterpret_cast<T*>(to);
  for (int i = 0; i < count; ++i) out[i] = static_cast<T>(from[i]);
}

void store_real(Register& from, TensorWriter& to, std::int64_t first, int count) {
  DType dtype = from.dtype();
  const double* values = from.reals(count);
  std::byte* at = to.bytes() + byte_size(dtype, first);
  if (dtype == DType::f32) return store_plain<float>(values, at, count);
  if (dtype == DType::f64) return store_plain<double>(values, at, count);
  // The values are of the type already, infinities included; only f8e8m0 has no zero, for which bits 0 stand then.
  ConversionRule exact{.saturate = dtype == DType::f8e8m0};
  for (int i = 0; i < count; ++i) store_bits(dtype, to.bytes(), first + i, encode_float(dtype, values[i], exact));
}

void store_integer(Register& from, TensorWriter& to, std::int64_t first, int count) {
  DType dtype = from.dtype();
  const std::int64_t* values = from.integers(count);
  std::byte* at = to.bytes() + byte_size(dtype, first);
  int bits = info(dtype).bits;
  if (bits == 64) return store_plain<std::int64_t>(values, at, count);
  if (bits == 32) return store_plain<std::int32_t>(values, at, count);
  if (bits == 16) return store_plain<std::int16_t>(values, at, count);
  if (bits == 8) return store_plain<std::int8_t>(values, at, count);
  for (int i = 0; i < count; ++i) store_bits(dtype, to.bytes(), first + i, encode_int(dtype, values[i]));
}

void store_complex(Register& from, TensorWriter& to, std::int64_t first, int count) {
  std::size_t size = byte_size(from.dtype(), 1);
  const std::int64_t* addresses = from.integers(count);
  std::byte* at = to.bytes() + static_cast<std::size_t>(first) * size;
  for (int i = 0; i < count; ++i, at += size) {
    if (addresses[i] != 0)
      std::memcpy(at, reinterpret_cast<const std::byte*>(addresses[i]), size);
    else
      std::memset(at, 0, size);
  }
}

void store_strings(Register& from, TensorWriter& to, std::int64_t first, int count) {
  const std::int64_t* addresses = from.integers(count);
  auto out = to.strings().begin() + first;
  for (int i = 0; i < count; ++i, ++out) {
    if (addresses[i] != 0) *out = *reinterpret_cast<const std::string*>(addresses[i]);
  }
}

}  // namespace

void store(Register& from, TensorWriter& to, std::int64_t first, int count) {
  if (from.is_real()) return store_real(from, to, first, count);
  if (from.dtype() == DType::str) return store_strings(from, to, first, count);
  if (is_complex(from.dtype())) return store_complex(from, to, first, count);
  store_integer(from, to, first, count);
}

}  // namespace infini::expr
