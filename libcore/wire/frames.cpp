#include "libcore/wire/frames.h"

#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "libcore/wire/messages.h"

namespace infini::wire {
namespace {

std::uint64_t limit_of(std::uint32_t number) {
  if (number == static_cast<std::uint32_t>(FrameKind::chunk)) return chunk_limit + chunk_head_limit;
  return frame_limit;
}

}  // namespace

std::string_view name(FrameKind kind) {
  switch (kind) {
    case FrameKind::header: return "header";
    case FrameKind::graph: return "graph";
    case FrameKind::chunk: return "chunk";
    case FrameKind::test_vector: return "test vector";
    case FrameKind::ledger: return "ledger";
    case FrameKind::contents: return "contents";
    case FrameKind::end: return "end";
    case FrameKind::error: return "error";
  }
  return "unknown";
}

std::string place(const FrameHead& head) { return text(name(head.kind), " frame at byte ", head.offset); }

Result<std::uint64_t> FrameReader::varint() {
  std::uint64_t start = source_.offset(), value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    IT_TRY(std::uint8_t byte, source_.byte());
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return bad_input(text("a number at byte ", start, " is longer than 64 bits"));
}

Result<FrameReader::RawHead> FrameReader::raw_head() {
  RawHead raw;
  raw.head.offset = source_.offset();
  raw.head.before = source_.digest();
  IT_TRY(std::uint64_t frame_length, varint());
  std::uint64_t begin = source_.offset();
  IT_TRY(std::uint64_t tag, varint());
  IT_TRY(raw.head.length, varint());
  std::uint64_t head_length = source_.offset() - begin;
  if (tag > UINT32_MAX || (tag & 7) != 2 || frame_length < head_length || frame_length - head_length != raw.head.length) {
    return bad_input(text("no frame at byte ", raw.head.offset, ": expected a message of one length-delimited field"));
  }
  raw.number = static_cast<std::uint32_t>(tag >> 3);
  if (raw.head.length > limit_of(raw.number)) {
    return bad_input(text("frame ", raw.number, " at byte ", raw.head.offset, " has ", raw.head.length, " bytes; at most ", limit_of(raw.number),
                          " are allowed"));
  }
  return raw;
}

Status FrameReader::keep_ancillary(const RawHead& raw) {
  ancillary_bytes_ += raw.head.length;
  if (ancillary_bytes_ > ancillary_limit) {
    return bad_input(text("the ancillary frames up to byte ", raw.head.offset, " exceed ", human_bytes(ancillary_limit)));
  }
  IT_TRY(std::string content, source_.take(raw.head.length));
  ancillary_.push_back({raw.number, std::move(content)});
  return {};
}

Error FrameReader::reported_error(const FrameHead& head) {
  Result<std::string> bytes = content(head);
  if (!bytes) return bytes.error();
  v1::Error message;
  if (!message.ParseFromString(*bytes)) return within(place(head), bad_input("malformed"));
  return decode_error(message);
}

Result<FrameHead> FrameReader::next() {
  while (true) {
    IT_TRY(RawHead raw, raw_head());
    if (raw.number >= first_ancillary) {
      IT_TRY_VOID(keep_ancillary(raw));
      continue;
    }
    if (raw.number < static_cast<std::uint32_t>(FrameKind::header) || raw.number > static_cast<std::uint32_t>(FrameKind::error)) {
      return bad_input(text("frame ", raw.number, " at byte ", raw.head.offset, " is unknown to format version ", format_version,
                            "; only frames from ", first_ancillary, " on may be"));
    }
    raw.head.kind = static_cast<FrameKind>(raw.number);
    if (raw.head.kind == FrameKind::error) return reported_error(raw.head);
    return raw.head;
  }
}

Result<FrameHead> FrameReader::expect(FrameKind kind) {
  IT_TRY(FrameHead head, next());
  if (head.kind != kind) return bad_input(text("found the ", place(head), ", expected a ", name(kind), " frame"));
  return head;
}

Result<ChunkHead> FrameReader::chunk(const FrameHead& head) {
  ChunkHead chunk;
  std::uint64_t end = source_.offset() + head.length;
  while (source_.offset() < end) {
    IT_TRY(std::uint64_t tag, varint());
    IT_TRY(std::uint64_t value, varint());
    if (tag == (v1::Chunk::kNumberFieldNumber << 3)) {
      chunk.number = value;
    } else if (tag == (v1::Chunk::kOffsetFieldNumber << 3)) {
      chunk.offset = value;
    } else if (tag == bytes_tag(v1::Chunk::kPaddingFieldNumber) && value <= chunk_head_limit) {
      IT_TRY_VOID(source_.take(value));
    } else if (tag == bytes_tag(v1::Chunk::kPayloadFieldNumber) && value > 0 && value <= chunk_limit && source_.offset() <= end &&
               value == end - source_.offset()) {
      chunk.payload = value;
      return chunk;
    } else {
      break;
    }
  }
  return within(place(head), bad_input(text("expected number, offset, padding and last a payload of 1 to ", chunk_limit, " bytes")));
}

}  // namespace infini::wire
