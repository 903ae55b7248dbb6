// The pieces of protobuf's encoding.
#pragma once

#include <cstdint>
#include <string>

namespace infini::onnx_files {

enum Wire : std::uint32_t { wire_varint = 0, wire_fixed64 = 1, wire_bytes = 2, wire_fixed32 = 5 };

inline void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

inline void put_tag(std::string& out, std::uint32_t field, Wire wire) { put_varint(out, (std::uint64_t{field} << 3) | wire); }

// Bytes that put_varint adds.
inline std::uint64_t varint_size(std::uint64_t value) {
  std::uint64_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

}  // namespace infini::onnx_files
