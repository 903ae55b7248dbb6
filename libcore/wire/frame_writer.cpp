#include "libcore/wire/frame_writer.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <utility>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/wire/format.h"

namespace infini {

ByteSink descriptor_sink(int descriptor, std::string name) {
  constexpr int pipe_bytes = 1 << 20;  // the most that Linux allows everyone; fewer turns between writer and reader
  (void)::fcntl(descriptor, F_SETPIPE_SZ, pipe_bytes);  // fails on what is no pipe
  return [descriptor, name = std::move(name)](std::span<const std::byte> bytes) { return write_fully(descriptor, bytes, name); };
}

namespace wire {
namespace {

std::string serialized(const v1::Frame& frame, std::size_t size) {
  std::string out;
  out.reserve(size + 5);
  append_varint(out, size);
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  frame.SerializeWithCachedSizes(&coded);
  coded.Trim();
  return out;
}

// All of a chunk frame that stands before its payload.
std::string chunk_head(std::uint64_t number, std::uint64_t offset, std::uint64_t payload, std::uint64_t padding) {
  std::string fields;
  if (number != 0) {
    append_varint(fields, v1::Chunk::kNumberFieldNumber << 3);
    append_varint(fields, number);
  }
  if (offset != 0) {
    append_varint(fields, v1::Chunk::kOffsetFieldNumber << 3);
    append_varint(fields, offset);
  }
  if (padding != 0) {
    append_varint(fields, bytes_tag(v1::Chunk::kPaddingFieldNumber));
    append_varint(fields, padding);
    fields.append(padding, '\0');
  }
  append_varint(fields, bytes_tag(v1::Chunk::kPayloadFieldNumber));
  append_varint(fields, payload);

  std::uint64_t chunk = fields.size() + payload;
  std::string head;
  append_varint(head, varint_size(bytes_tag(v1::Frame::kChunkFieldNumber)) + varint_size(chunk) + chunk);
  append_varint(head, bytes_tag(v1::Frame::kChunkFieldNumber));
  append_varint(head, chunk);
  return head + fields;
}

// With the least padding after which the payload starts at a multiple of `alignment`.
std::string aligned_chunk_head(std::uint64_t start, std::uint64_t number, std::uint64_t offset, std::uint64_t payload, std::uint64_t alignment) {
  std::string head = chunk_head(number, offset, payload, 0);
  // A padding of p bytes makes the head longer by p and a few: its tag and its length, and perhaps longer lengths around it.
  constexpr std::uint64_t most_overhead = 8;
  std::uint64_t missing = alignment - (start + head.size()) % alignment;
  for (std::uint64_t padding = missing > most_overhead ? missing - most_overhead : 1; (start + head.size()) % alignment != 0; ++padding) {
    head = chunk_head(number, offset, payload, padding);
  }
  return head;
}

}  // namespace

Status FrameWriter::put(std::string_view bytes) {
  std::span<const std::byte> span = std::as_bytes(std::span(bytes));
  hasher_.add(span);
  offset_ += bytes.size();
  return sink_(span);
}

Status FrameWriter::frame(const v1::Frame& frame) {
  std::size_t size = frame.ByteSizeLong();
  if (size > frame_limit) {
    return unsupported(text("the graph without its large constants takes ", human_bytes(size), "; at most ", human_bytes(frame_limit), " can be written"));
  }
  return put(serialized(frame, size));
}

Status FrameWriter::raw(std::uint32_t number, std::string_view content) {
  std::string head;
  append_varint(head, varint_size(bytes_tag(number)) + varint_size(content.size()) + content.size());
  append_varint(head, bytes_tag(number));
  append_varint(head, content.size());
  IT_TRY_VOID(put(head));
  return put(content);
}

Status FrameWriter::chunk(std::uint64_t number, std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t alignment) {
  IT_TRY_VOID(put(aligned_chunk_head(offset_, number, offset, bytes.size(), alignment)));
  offset_ += bytes.size();
  return sink_(bytes);
}

}  // namespace wire
}  // namespace infini
