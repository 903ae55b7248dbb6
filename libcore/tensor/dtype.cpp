#include "libcore/tensor/dtype.h"

#include <array>
#include <utility>

namespace infini {
namespace {

using enum DTypeClass;

constexpr std::array<DTypeInfo, dtype_count> table = {{
    {"none", "UNDEFINED", none, 0},
    {"f32", "FLOAT", floating, 32},
    {"u8", "UINT8", unsigned_int, 8},
    {"i8", "INT8", signed_int, 8},
    {"u16", "UINT16", unsigned_int, 16},
    {"i16", "INT16", signed_int, 16},
    {"i32", "INT32", signed_int, 32},
    {"i64", "INT64", signed_int, 64},
    {"str", "STRING", text, 0},
    {"bool", "BOOL", boolean, 8},
    {"f16", "FLOAT16", floating, 16},
    {"f64", "DOUBLE", floating, 64},
    {"u32", "UINT32", unsigned_int, 32},
    {"u64", "UINT64", unsigned_int, 64},
    {"c64", "COMPLEX64", complex, 64},
    {"c128", "COMPLEX128", complex, 128},
    {"bf16", "BFLOAT16", floating, 16},
    {"f8e4m3fn", "FLOAT8E4M3FN", floating, 8},
    {"f8e4m3fnuz", "FLOAT8E4M3FNUZ", floating, 8},
    {"f8e5m2", "FLOAT8E5M2", floating, 8},
    {"f8e5m2fnuz", "FLOAT8E5M2FNUZ", floating, 8},
    {"u4", "UINT4", unsigned_int, 4},
    {"i4", "INT4", signed_int, 4},
    {"f4e2m1", "FLOAT4E2M1", floating, 4},
    {"f8e8m0", "FLOAT8E8M0", floating, 8},
    {"u2", "UINT2", unsigned_int, 2},
    {"i2", "INT2", signed_int, 2},
}};

constexpr std::array<std::pair<std::string_view, DType>, 22> aliases = {{
    {"float32", DType::f32}, {"float", DType::f32}, {"fp32", DType::f32}, {"float64", DType::f64}, {"double", DType::f64},
    {"float16", DType::f16}, {"half", DType::f16}, {"fp16", DType::f16}, {"bfloat16", DType::bf16}, {"int8", DType::i8},
    {"int16", DType::i16}, {"int32", DType::i32}, {"int64", DType::i64}, {"uint8", DType::u8}, {"uint16", DType::u16},
    {"uint32", DType::u32}, {"uint64", DType::u64}, {"string", DType::str}, {"boolean", DType::boolean}, {"int4", DType::i4},
    {"uint4", DType::u4}, {"complex64", DType::c64},
}};

}  // namespace

const DTypeInfo& info(DType dtype) {
  auto index = static_cast<std::size_t>(dtype);
  return table[index < table.size() ? index : 0];
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (table[i].name == name || table[i].onnx_name == name) return static_cast<DType>(i);
  }
  for (const auto& [alias, dtype] : aliases) {
    if (alias == name) return dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(std::int64_t number) {
  if (number < 1 || number >= dtype_count) return std::nullopt;
  return static_cast<DType>(number);
}

std::size_t byte_size(DType dtype, std::int64_t count) {
  auto bits = static_cast<std::size_t>(info(dtype).bits);
  auto elements = static_cast<std::size_t>(count);
  return bits >= 8 ? elements * (bits / 8) : (elements * bits + 7) / 8;
}

}  // namespace infini
