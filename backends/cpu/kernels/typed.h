// Element types as C++ types to compute in, for kernels that serve every plain type.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "libcore/tensor/dtype.h"
#include "libcore/tensor/element.h"

namespace infini::cpu {

// How a stored element is read and written, and what it is computed in. Places may be unaligned.
template <class T>
struct Stored {
  using Compute = T;
  static constexpr std::int64_t size = sizeof(T);
  static T load(const std::byte* place) {
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
  }
  static void store(std::byte* place, T value) { std::memcpy(place, &value, sizeof value); }
};

struct F16 {};
struct BF16 {};
struct Bool {};

template <>
struct Stored<F16> {
  using Compute = float;
  static constexpr std::int64_t size = 2;
  static float load(const std::byte* place) { return static_cast<float>(decode_float(DType::f16, Stored<std::uint16_t>::load(place))); }
  static void store(std::byte* place, float value) {
    Stored<std::uint16_t>::store(place, static_cast<std::uint16_t>(encode_float(DType::f16, static_cast<double>(value))));
  }
};

template <>
struct Stored<BF16> {
  using Compute = float;
  static constexpr std::int64_t size = 2;
  static float load(const std::byte* place) {
    std::uint32_t bits = static_cast<std::uint32_t>(Stored<std::uint16_t>::load(place)) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  static void store(std::byte* place, float value) {
    Stored<std::uint16_t>::store(place, static_cast<std::uint16_t>(encode_float(DType::bf16, static_cast<double>(value))));
  }
};

template <>
struct Stored<Bool> {
  using Compute = bool;
  static constexpr std::int64_t size = 1;
  static bool load(const std::byte* place) { return *place != std::byte{0}; }
  static void store(std::byte* place, bool value) { *place = value ? std::byte{1} : std::byte{0}; }
};

// Arithmetic of elements; integers wrap around.
template <class T>
using Wide = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
    else return a + b;
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else return a * b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

// One row of a binary (or, b ignored, unary) operation; strides in elements.
using RowFunction = void (*)(const std::byte* a, std::int64_t a_step, const std::byte* b, std::int64_t b_step, std::byte* y, std::int64_t n);

template <class From, class To, class F>
void binary_row(const std::byte* a, std::int64_t a_step, const std::byte* b, std::int64_t b_step, std::byte* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    Stored<To>::store(y + i * Stored<To>::size, F{}(Stored<From>::load(a + i * a_step * Stored<From>::size), Stored<From>::load(b + i * b_step * Stored<From>::size)));
}

template <class From, class To, class F>
void unary_row(const std::byte* a, std::int64_t a_step, const std::byte*, std::int64_t, std::byte* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) Stored<To>::store(y + i * Stored<To>::size, F{}(Stored<From>::load(a + i * a_step * Stored<From>::size)));
}

// Calls f.template operator()<T>() with the C++ type of a plain integer type; otherwise gives `none`.
template <class Result, class F>
Result with_integer(DType dtype, Result none, F f) {
  if (dtype == DType::i8) return f.template operator()<std::int8_t>();
  if (dtype == DType::i16) return f.template operator()<std::int16_t>();
  if (dtype == DType::i32) return f.template operator()<std::int32_t>();
  if (dtype == DType::i64) return f.template operator()<std::int64_t>();
  if (dtype == DType::u8) return f.template operator()<std::uint8_t>();
  if (dtype == DType::u16) return f.template operator()<std::uint16_t>();
  if (dtype == DType::u32) return f.template operator()<std::uint32_t>();
  if (dtype == DType::u64) return f.template operator()<std::uint64_t>();
  return none;
}

template <class Result, class F>
Result with_float(DType dtype, Result none, F f) {
  if (dtype == DType::f32) return f.template operator()<float>();
  if (dtype == DType::f64) return f.template operator()<double>();
  if (dtype == DType::f16) return f.template operator()<F16>();
  if (dtype == DType::bf16) return f.template operator()<BF16>();
  return none;
}

template <class Result, class F>
Result with_number(DType dtype, Result none, F f) {
  return is_floating(dtype) ? with_float(dtype, none, f) : with_integer(dtype, none, f);
}

}  // namespace infini::cpu
