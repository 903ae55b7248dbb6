#include "libcore/base/hash.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace infini {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20;
constexpr std::uint64_t factor_1 = 0x87c37b91114253d5;
constexpr std::uint64_t factor_2 = 0x4cf5ad432745937f;

std::uint64_t load(const std::byte* bytes) {
  std::uint64_t word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, sizeof word);
  } else {
    for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return word;
}

std::uint64_t scrambled_first(std::uint64_t word) { return std::rotl(word * factor_1, 31) * factor_2; }
std::uint64_t scrambled_second(std::uint64_t word) { return std::rotl(word * factor_2, 33) * factor_1; }

std::uint64_t avalanche(std::uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

// Takes in whole pieces of 16 bytes.
void mix(std::uint64_t& first, std::uint64_t& second, const std::byte* bytes, std::size_t pieces) {
  std::uint64_t h1 = first;
  std::uint64_t h2 = second;
  for (std::size_t i = 0; i < pieces; ++i, bytes += 16) {
    h1 = (std::rotl(h1 ^ scrambled_first(load(bytes)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ scrambled_second(load(bytes + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  first = h1;
  second = h2;
}

}  // namespace

std::string to_hex(Hash128 hash) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::uint64_t word : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(word >> shift) & 15];
  }
  return out;
}

std::optional<Hash128> hash_from_hex(std::string_view hex) {
  if (hex.size() != 32) return std::nullopt;
  Hash128 out;
  const char* middle = hex.data() + 16;
  auto [high_end, high_error] = std::from_chars(hex.data(), middle, out.high, 16);
  auto [low_end, low_error] = std::from_chars(middle, middle + 16, out.low, 16);
  if (high_error != std::errc() || low_error != std::errc() || high_end != middle || low_end != middle + 16) return std::nullopt;
  return out;
}

void Hasher::add(std::span<const std::byte> bytes) {
  length_ += bytes.size();
  if (pending_size_ > 0) {
    std::size_t taken = std::min(bytes.size(), pending_.size() - pending_size_);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
    pending_size_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_size_ < pending_.size()) return;
    mix(first_, second_, pending_.data(), 1);
    pending_size_ = 0;
  }
  std::size_t pieces = bytes.size() / 16;
  mix(first_, second_, bytes.data(), pieces);
  std::span<const std::byte> rest = bytes.subspan(pieces * 16);
  std::copy_n(rest.begin(), rest.size(), pending_.begin());
  pending_size_ = rest.size();
}

void Hasher::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  add(std::as_bytes(std::span(text)));
}

void Hasher::add(std::uint64_t number) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(number >> (8 * i));
  add(std::span<const std::byte>(bytes));
}

Hash128 Hasher::finish() const {
  std::array<std::byte, 16> tail{};
  std::copy_n(pending_.begin(), pending_size_, tail.begin());
  std::uint64_t h1 = first_ ^ scrambled_first(load(tail.data())) ^ length_;
  std::uint64_t h2 = second_ ^ scrambled_second(load(tail.data() + 8)) ^ length_;
  h1 += h2;
  h2 += h1;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

Hash128 hash_bytes(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

void ContentHasher::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t taken = std::min(bytes.size(), block_size - in_block_);
    block_.add(bytes.first(taken));
    bytes = bytes.subspan(taken);
    in_block_ += taken;
    if (in_block_ < block_size) return;
    Hash128 digest = block_.finish();
    blocks_.add(digest.high);
    blocks_.add(digest.low);
    block_ = Hasher();
    in_block_ = 0;
  }
}

Hash128 ContentHasher::finish() const {
  Hasher blocks = blocks_;
  if (in_block_ > 0) {
    Hash128 digest = block_.finish();
    blocks.add(digest.high);
    blocks.add(digest.low);
  }
  return blocks.finish();
}

Hash128 content_hash(std::span<const std::byte> bytes) {
  ContentHasher hasher;
  hasher.add(bytes);
  return hasher.finish();
}

}  // namespace infini
