// Payloads into chunks, wherever they come from, a chunk's worth of memory at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/ir/constant.h"
#include "libcore/wire/frame_writer.h"
#include "libcore/wire/payloads.h"

namespace infini::wire {

class PayloadWriter {
 public:
  // source: the stream whose payloads are passed on, or null.
  PayloadWriter(FrameWriter& frames, Payloads* source, std::uint64_t chunk_bytes) : frames_(frames), source_(source), chunk_bytes_(chunk_bytes) {}

  // Writes the next payload. io, bad_input: it cannot be read or written; what was written ends with a whole frame.
  Status write(const Constant& constant, std::uint64_t length);
  Status write(const Tensor& tensor, bool mapped = false);
  // Of all payloads so far.
  const std::vector<Hash128>& digests() const { return digests_; }

 private:
  void begin(std::uint64_t length);
  Status append(std::span<const std::byte> bytes);
  Status pass_on(std::size_t index, std::uint64_t length);
  Status copy_file(const FileRange& range);

  FrameWriter& frames_;
  Payloads* source_;
  std::uint64_t chunk_bytes_;
  std::vector<std::byte> buffer_;           // of the chunk that is being filled
  std::uint64_t written_ = 0, length_ = 0;  // of the payload that is being written
  std::vector<Hash128> digests_;
};

}  // namespace infini::wire
