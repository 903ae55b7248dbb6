// 128-bit digests, the same on every machine and for all time. Fast; not for secrets.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace infini {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// 32 hexadecimal digits, high half first, and back.
std::string to_hex(Hash128 hash);
std::optional<Hash128> hash_from_hex(std::string_view hex);

// Takes pieces of any size; equal concatenations give equal digests.
// MurmurHash3, the x64 variant of 128 bits (A. Appleby, 2011, public domain), seed 0; high is its first word.
class Hasher {
 public:
  Hasher() = default;
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);   // its length, then its bytes
  void add(std::uint64_t number);    // eight bytes, little endian
  Hash128 finish() const;

 private:
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
  std::uint64_t length_ = 0;
  std::array<std::byte, 16> pending_{};
  std::size_t pending_size_ = 0;
};

Hash128 hash_bytes(std::span<const std::byte> bytes);

// The digest of the digests (high then low) of blocks of 1 MiB, the last of which may be shorter, so that blocks could be
// hashed side by side. No content has no block.
class ContentHasher {
 public:
  void add(std::span<const std::byte> bytes);
  Hash128 finish() const;

 private:
  Hasher block_;
  Hasher blocks_;
  std::size_t in_block_ = 0;
};

Hash128 content_hash(std::span<const std::byte> bytes);

}  // namespace infini
