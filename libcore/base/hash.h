// 128-bit digests, the same on every machine and for all time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace infini {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// 32 hexadecimal digits, high half first.
std::string to_hex(Hash128 hash);

// Takes pieces of any size; equal concatenations give equal digests.
class Hasher {
 public:
  Hasher();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);   // its length, then its bytes
  void add(std::uint64_t number);    // eight bytes, little endian
  Hash128 finish() const;

 private:
  void absorb(const std::byte* block);
  std::uint64_t state_[4];
  std::byte buffer_[32];
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;
};

Hash128 hash_bytes(std::span<const std::byte> bytes);
// Of a tensor's bytes in blocks of 1 MiB: the digest of the block digests.
Hash128 content_hash(std::span<const std::byte> bytes);

}  // namespace infini
