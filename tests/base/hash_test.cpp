#include "libcore/base/hash.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

using namespace infini;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 131 + i / 251);
  return bytes;
}

}  // namespace

// Published vectors of MurmurHash3_x64_128, seed 0 (those of the Guava and mmh3 libraries' tests).
TEST_CASE("digests are those of MurmurHash3 x64 128") {
  CHECK(to_hex(hash_bytes({})) == "00000000000000000000000000000000");
  CHECK(to_hex(hash_bytes(bytes_of("hello"))) == "cbd8a7b341bd9b025b1e906a48ae1d19");
  CHECK(to_hex(hash_bytes(bytes_of("The quick brown fox jumps over the lazy dog"))) == "e34bbc7bbc071b6c7a433ca9c49a9347");
  CHECK(to_hex(hash_bytes(bytes_of("The quick brown fox jumps over the lazy cog"))) == "658ca970ff85269a43fee3eaa68e5c3e");
}

TEST_CASE("digests do not depend on how the bytes are cut") {
  std::vector<std::byte> bytes = counted(1000);
  Hash128 whole = hash_bytes(bytes);
  for (std::size_t piece : std::vector<std::size_t>{1, 3, 7, 15, 16, 17, 31, 64, 999}) {
    Hasher hasher;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      hasher.add(std::span<const std::byte>(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    CHECK(hasher.finish() == whole);
  }
}

TEST_CASE("text is added with its length, numbers little endian") {
  Hasher a, b;
  a.add("ab");
  a.add("c");
  b.add("a");
  b.add("bc");
  CHECK(a.finish() != b.finish());
  Hasher number;
  number.add(std::uint64_t{0x0807060504030201});
  CHECK(number.finish() == hash_bytes(bytes_of("\x01\x02\x03\x04\x05\x06\x07\x08")));
}

TEST_CASE("content is hashed as the digest of the digests of its blocks of 1 MiB") {
  std::vector<std::byte> bytes = counted((std::size_t{5} << 19) + 3);  // two blocks and a half
  std::span<const std::byte> all(bytes);
  Hasher blocks;
  for (std::size_t at = 0; at < bytes.size(); at += std::size_t{1} << 20) {
    Hash128 digest = hash_bytes(all.subspan(at, std::min(std::size_t{1} << 20, bytes.size() - at)));
    blocks.add(digest.high);
    blocks.add(digest.low);
  }
  CHECK(content_hash(all) == blocks.finish());
  ContentHasher pieces;
  pieces.add(all.first(700001));
  pieces.add(all.subspan(700001));
  CHECK(pieces.finish() == content_hash(all));
  CHECK(content_hash({}) == hash_bytes({}));
  CHECK(content_hash(all.first(5)) != hash_bytes(all.first(5)));
}

TEST_CASE("hexadecimal and back") {
  Hash128 hash{0x0123456789abcdef, 0xfedcba9876543210};
  CHECK(to_hex(hash) == "0123456789abcdeffedcba9876543210");
  CHECK(hash_from_hex(to_hex(hash)) == hash);
  CHECK_FALSE(hash_from_hex("0123").has_value());
  CHECK_FALSE(hash_from_hex("0123456789abcdeffedcba987654321g").has_value());
  CHECK_FALSE(hash_from_hex("-123456789abcdeffedcba9876543210x").has_value());
}
