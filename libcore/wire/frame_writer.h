// Frames onto a sink: lengths, padding, and the digest of all but payloads.
#pragma once

#include <cstdint>
#include <string>

#include "schemas/graph.pb.h"

#include "libcore/base/hash.h"
#include "libcore/wire/wire.h"

namespace infini::wire {

class FrameWriter {
 public:
  explicit FrameWriter(ByteSink sink) : sink_(std::move(sink)) {}

  // unsupported if it exceeds frame_limit.
  Status frame(const v1::Frame& frame);
  // A frame of any number with content as it came.
  Status raw(std::uint32_t number, std::string_view content);
  // A stretch of payload `number`, with padding before it so that it starts at a multiple of `alignment`.
  Status chunk(std::uint64_t number, std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t alignment);
  Hash128 digest() const { return hasher_.finish(); }

 private:
  Status put(std::string_view bytes);

  ByteSink sink_;
  std::uint64_t offset_ = 0;
  Hasher hasher_;
};

}  // namespace infini::wire
