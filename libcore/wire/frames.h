// Frames of a stream, one after another: lengths checked, ancillary ones set aside, error frames turned into errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/wire/source.h"

namespace infini::wire {

enum class FrameKind : std::uint32_t { header = 1, graph = 2, chunk = 3, test_vector = 4, ledger = 5, contents = 6, end = 7, error = 8 };
std::string_view name(FrameKind kind);

struct FrameHead {
  FrameKind kind;
  std::uint64_t offset = 0;  // of the frame, from the stream's start
  std::uint64_t length = 0;  // of its content
  Hash128 before;            // digest of all frames before it
};

struct ChunkHead {
  std::uint64_t number = 0, offset = 0;
  std::uint64_t payload = 0;  // bytes, which come next
};

// A frame that this version does not know and passes on.
struct Ancillary {
  std::uint32_t number = 0;
  std::string content;
};

class FrameReader {
 public:
  explicit FrameReader(Source source) : source_(std::move(source)) {}

  Source& source() { return source_; }
  // The head of the next frame of a known kind. An error frame is returned as the error it reports.
  Result<FrameHead> next();
  // As next, and the frame must be of that kind.
  Result<FrameHead> expect(FrameKind kind);
  // The content, to be parsed.
  Result<std::string> content(const FrameHead& head) { return source_.take(head.length); }
  // What stands before the payload in a chunk frame.
  Result<ChunkHead> chunk(const FrameHead& head);
  const std::vector<Ancillary>& ancillary() const { return ancillary_; }

 private:
  struct RawHead {
    std::uint32_t number = 0;
    FrameHead head;
  };
  Result<std::uint64_t> varint();
  Result<RawHead> raw_head();
  Status keep_ancillary(const RawHead& raw);
  Error reported_error(const FrameHead& head);

  Source source_;
  std::vector<Ancillary> ancillary_;
  std::uint64_t ancillary_bytes_ = 0;
};

// "graph frame at byte 37", for messages.
std::string place(const FrameHead& head);

}  // namespace infini::wire
