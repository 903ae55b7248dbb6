// Zip containers in memory: stored and deflated members, zip64, checksums (PKWARE APPNOTE 6.3.10). No paths: names are names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "libcore/base/result.h"

namespace infini {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint32_t crc = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;    // as declared; checked when the member is read
  std::uint64_t offset = 0;  // of its local header
};

// A member's bytes and what keeps them alive.
struct ZipBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Members in the order of the central directory. bad_input: truncated, malformed, or a name twice.
Result<std::vector<ZipMember>> list_zip(std::span<const std::byte> file);

// The bytes of `member`: a part of `file` (kept alive by `owner`) if stored, else inflated. Allocates member.size bytes at most.
// bad_input: truncated, another size or checksum than declared. unsupported: encrypted, another method.
Result<ZipBytes> read_zip_member(std::span<const std::byte> file, const std::shared_ptr<const void>& owner, const ZipMember& member);

using ByteSink = std::function<Status(std::span<const std::byte>)>;

// Writes members one after another without seeking. The same members give the same bytes.
class ZipWriter {
 public:
  // Takes a member's content piece by piece; called twice, first for its size and checksum, and must give the same each time.
  using Content = std::function<Status(const ByteSink&)>;

  ZipWriter(ByteSink sink, bool deflate) : sink_(std::move(sink)), deflate_(deflate) {}
  Status add(std::string name, const Content& content);
  // The central directory. Nothing may be added after it.
  Status finish();

 private:
  Status put(std::span<const std::byte> bytes);
  Status put(const std::string& bytes);

  ByteSink sink_;
  bool deflate_;
  std::uint64_t written_ = 0;
  std::vector<ZipMember> members_;
  std::unordered_set<std::string> names_;
};

}  // namespace infini
