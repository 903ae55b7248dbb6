// Numbers of the stream's format; schemas/README.md explains them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace infini::wire {

inline constexpr std::string_view magic = "infinitensor";
inline constexpr std::uint32_t format_version = 1;

inline constexpr std::uint64_t chunk_limit = std::uint64_t{32} << 20;       // payload bytes of one Chunk
inline constexpr std::uint64_t chunk_head_limit = std::uint64_t{64} << 10;  // its other bytes, padding included
inline constexpr std::uint64_t frame_limit = std::uint64_t{256} << 20;      // bytes of any other frame
inline constexpr std::uint64_t ancillary_limit = std::uint64_t{64} << 20;   // bytes of all ancillary frames together
inline constexpr std::uint64_t payload_limit = std::uint64_t{1} << 46;      // bytes of one payload
inline constexpr std::size_t tool_limit = 100;                              // bytes of Header.tool
inline constexpr int nesting_limit = 64;                                    // of graphs, types and items

inline constexpr std::uint64_t page = 4096;
inline constexpr std::uint64_t small_payload = std::uint64_t{64} << 10;
// Where the chunks of a payload of `length` bytes may start, from the stream's start: large ones can be mapped, small ones read as any element type.
constexpr std::uint64_t alignment_of(std::uint64_t length) { return length >= small_payload ? page : 64; }

inline constexpr std::uint32_t first_ancillary = 1000;

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}
constexpr std::uint64_t varint_size(std::uint64_t value) {
  std::uint64_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}
// The tag of a length-delimited field.
constexpr std::uint64_t bytes_tag(std::uint32_t field) { return (std::uint64_t{field} << 3) | 2; }

}  // namespace infini::wire
