// A tensor that programs read: where its elements are, and how they become numbers.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/expr/operations.h"
#include "libcore/tensor/tensor.h"

namespace infini::expr {

struct Source {
  DType dtype = DType::none;
  Extents extents;
  Extents strides;  // in elements
  const std::byte* data = nullptr;
  const std::string* strings = nullptr;
};

Source source_of(const Tensor& tensor);

// What a register of this type holds: a float as double, everything else as an i64.
inline bool held_as_real(DType dtype) { return is_floating(dtype); }

// Unaligned: data may lie anywhere in a file.
template <class T>
T load_plain(const std::byte* data, std::int64_t index) {
  T out;
  std::memcpy(&out, data + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return out;
}

template <class T, class Held>
struct PlainLoader {
  const std::byte* data;
  Held operator()(std::int64_t index) const { return static_cast<Held>(load_plain<T>(data, index)); }
};
struct BoolLoader {
  const std::byte* data;
  std::int64_t operator()(std::int64_t index) const { return data[index] != std::byte{0} ? 1 : 0; }
};
struct BfloatLoader {
  const std::byte* data;
  double operator()(std::int64_t index) const {
    std::uint32_t bits = std::uint32_t{load_plain<std::uint16_t>(data, index)} << 16;
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return static_cast<double>(out);
  }
};
struct NarrowFloatLoader {
  const std::byte* data;
  DType dtype;
  double operator()(std::int64_t index) const { return decode_float(dtype, load_bits(dtype, data, index)); }
};
struct PackedIntLoader {
  const std::byte* data;
  DType dtype;
  std::int64_t operator()(std::int64_t index) const { return decode_int(dtype, load_bits(dtype, data, index)); }
};
// The address of the element.
template <class T>
struct AddressLoader {
  const T* data;
  std::size_t size;
  std::int64_t operator()(std::int64_t index) const {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data + static_cast<std::size_t>(index) * size));
  }
};

// Calls visit(loader); loader(index) is element `index` as a double or an i64.
template <class Visit>
void with_loader(const Source& s, Visit&& visit) {
  switch (s.dtype) {
    case DType::f32:
      return visit(PlainLoader<float, double>{s.data});
    case DType::f64:
      return visit(PlainLoader<double, double>{s.data});
    case DType::u8:
      return visit(PlainLoader<std::uint8_t, std::int64_t>{s.data});
    case DType::i8:
      return visit(PlainLoader<std::int8_t, std::int64_t>{s.data});
    case DType::u16:
      return visit(PlainLoader<std::uint16_t, std::int64_t>{s.data});
    case DType::i16:
      return visit(PlainLoader<std::int16_t, std::int64_t>{s.data});
    case DType::u32:
      return visit(PlainLoader<std::uint32_t, std::int64_t>{s.data});
    case DType::i32:
      return visit(PlainLoader<std::int32_t, std::int64_t>{s.data});
    case DType::u64:
    case DType::i64:
      return visit(PlainLoader<std::int64_t, std::int64_t>{s.data});
    case DType::boolean:
      return visit(BoolLoader{s.data});
    case DType::bf16:
      return visit(BfloatLoader{s.data});
    case DType::f16:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f4e2m1:
    case DType::f8e8m0:
      return visit(NarrowFloatLoader{s.data, s.dtype});
    case DType::u4:
    case DType::i4:
    case DType::u2:
    case DType::i2:
      return visit(PackedIntLoader{s.data, s.dtype});
    case DType::str:
      return visit(AddressLoader<std::string>{s.strings, 1});
    case DType::c64:
      return visit(AddressLoader<std::byte>{s.data, 8});
    case DType::c128:
      return visit(AddressLoader<std::byte>{s.data, 16});
    case DType::none:
      break;
  }
  IT_CHECK(s.dtype != DType::none);
}

}  // namespace infini::expr
