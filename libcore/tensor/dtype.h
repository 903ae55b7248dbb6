// Element types: every one of ONNX IR 13 and what each is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace infini {

// Numbers are those of TensorProto.DataType, so that files and streams need no table.
enum class DType : std::uint8_t {
  none = 0,
  f32 = 1, u8 = 2, i8 = 3, u16 = 4, i16 = 5, i32 = 6, i64 = 7, str = 8, boolean = 9, f16 = 10, f64 = 11, u32 = 12, u64 = 13,
  c64 = 14, c128 = 15, bf16 = 16, f8e4m3fn = 17, f8e4m3fnuz = 18, f8e5m2 = 19, f8e5m2fnuz = 20, u4 = 21, i4 = 22, f4e2m1 = 23,
  f8e8m0 = 24, u2 = 25, i2 = 26,
};
inline constexpr int dtype_count = 27;

enum class DTypeClass : std::uint8_t { none, floating, signed_int, unsigned_int, boolean, text, complex };

struct DTypeInfo {
  std::string_view name;       // "f32", "bf16", "i4", ...
  std::string_view onnx_name;  // "FLOAT", ...
  DTypeClass kind;
  int bits;                    // storage of one element; 0 for str, whose elements are not plain bytes
};

// Facts of `dtype`; those of DType::none for a number outside the enumeration.
const DTypeInfo& info(DType dtype);
inline std::string_view name(DType dtype) { return info(dtype).name; }

// The type of that name ("f32"; also "float32", "int64", "FLOAT", "bool"), if there is one.
std::optional<DType> parse_dtype(std::string_view name);
// The type with that TensorProto.DataType number, if there is one.
std::optional<DType> dtype_from_onnx(std::int64_t number);

inline bool is_floating(DType d) { return info(d).kind == DTypeClass::floating; }
inline bool is_signed_int(DType d) { return info(d).kind == DTypeClass::signed_int; }
inline bool is_unsigned_int(DType d) { return info(d).kind == DTypeClass::unsigned_int; }
inline bool is_integer(DType d) { return is_signed_int(d) || is_unsigned_int(d); }
inline bool is_complex(DType d) { return info(d).kind == DTypeClass::complex; }

// Bytes of `count` elements, the last byte of packed types padded; 0 for str.
std::size_t byte_size(DType dtype, std::int64_t count);

// A set of element types, for signatures.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(DType d) : bits_(std::uint32_t{1} << static_cast<int>(d)) {}
  constexpr bool contains(DType d) const { return (bits_ >> static_cast<int>(d)) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) { return DTypeSet(a.bits_ | b.bits_, 0); }
  friend constexpr DTypeSet operator-(DTypeSet a, DTypeSet b) { return DTypeSet(a.bits_ & ~b.bits_, 0); }
  friend constexpr bool operator==(DTypeSet, DTypeSet) = default;

 private:
  constexpr DTypeSet(std::uint32_t bits, int) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

namespace dtypes {
inline constexpr DTypeSet ieee = DTypeSet(DType::f16) | DType::f32 | DType::f64;
inline constexpr DTypeSet floats = ieee | DType::bf16;
inline constexpr DTypeSet float8 = DTypeSet(DType::f8e4m3fn) | DType::f8e4m3fnuz | DType::f8e5m2 | DType::f8e5m2fnuz;
inline constexpr DTypeSet narrow_floats = float8 | DType::f4e2m1 | DType::f8e8m0;
inline constexpr DTypeSet signed_ints = DTypeSet(DType::i8) | DType::i16 | DType::i32 | DType::i64;
inline constexpr DTypeSet unsigned_ints = DTypeSet(DType::u8) | DType::u16 | DType::u32 | DType::u64;
inline constexpr DTypeSet ints = signed_ints | unsigned_ints;
inline constexpr DTypeSet packed_ints = DTypeSet(DType::u4) | DType::i4 | DType::u2 | DType::i2;
inline constexpr DTypeSet numeric = ints | floats;
inline constexpr DTypeSet complexes = DTypeSet(DType::c64) | DType::c128;
inline constexpr DTypeSet index_types = DTypeSet(DType::i32) | DType::i64;
inline constexpr DTypeSet basic = numeric | complexes | DType::boolean | DType::str;   // all types of opset 13
inline constexpr DTypeSet any = basic | narrow_floats | packed_ints;                    // all types of IR 13
}  // namespace dtypes

}  // namespace infini
