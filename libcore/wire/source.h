// The bytes of a stream, in order: a regular file is mapped whole, anything else is read as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/hash.h"
#include "libcore/base/result.h"

namespace infini::wire {

// A regular file in memory, read-only; keeps a descriptor of its own.
class Mapping {
 public:
  static Result<std::shared_ptr<const Mapping>> make(int fd, std::uint64_t size);
  // Takes over both; use make.
  Mapping(int fd, std::span<const std::byte> bytes) : fd_(fd), bytes_(bytes) {}
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  int fd() const { return fd_; }

 private:
  int fd_;
  std::span<const std::byte> bytes_;
};

class Source {
 public:
  // Starts at fd's position, after `prefix`, which was read from it before. fd stays the caller's. io: the system refuses.
  static Result<Source> open(int fd, std::string prefix);

  // The file behind it, or null.
  const std::shared_ptr<const Mapping>& mapping() const { return mapping_; }
  std::uint64_t offset() const { return offset_; }  // bytes given out so far
  Hash128 digest() const { return hasher_.finish(); }  // of those, without payloads

  // io if the system refuses; bad_input where the stream ends too early.
  Result<bool> at_end();
  Result<std::uint8_t> byte();
  Status read(std::span<std::byte> out);
  Status read_payload(std::span<std::byte> out);
  // Of a mapped source: the next `count` bytes, in place.
  Result<std::span<const std::byte>> view_payload(std::uint64_t count);
  // The next `count` bytes; memory grows with what arrives.
  Result<std::string> take(std::uint64_t count);

 private:
  Status refill();
  Status copy(std::span<std::byte> out);
  Error truncated() const;

  int fd_ = -1;
  std::shared_ptr<const Mapping> mapping_;
  std::vector<std::byte> buffer_;              // of what is not mapped
  std::span<const std::byte> window_;          // at hand, not given out
  std::uint64_t offset_ = 0;
  Hasher hasher_;
};

}  // namespace infini::wire
