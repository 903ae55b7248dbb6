// Numbers of the zip format (PKWARE APPNOTE 6.3.10), shared by reader and writer.
#pragma once

#include <cstdint>

namespace infini::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t entry_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator_signature = 0x07064b50;

// Bytes of each record without its names, extra fields and comments.
inline constexpr std::uint64_t local_size = 30;
inline constexpr std::uint64_t entry_size = 46;
inline constexpr std::uint64_t end_size = 22;
inline constexpr std::uint64_t end64_size = 56;
inline constexpr std::uint64_t locator_size = 20;

inline constexpr std::uint16_t zip64_extra = 1;
inline constexpr std::uint64_t wide32 = 0xffffffff;  // in a field of 32 bits: see the zip64 field
inline constexpr std::uint64_t wide16 = 0xffff;

}  // namespace infini::zip
