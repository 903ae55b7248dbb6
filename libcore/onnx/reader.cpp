#include "libcore/onnx/reader.h"

#include <unistd.h>

#include <algorithm>

#include "libcore/base/text.h"

namespace infini::onnx_files {
namespace {

constexpr std::size_t window_size = 64 << 10;
constexpr std::uint64_t growth = 16 << 20;  // memory for announced bytes is taken as they arrive

// A model that cannot be opened is a wrong model, not a failing system.
template <class T>
Result<T> as_input(Result<T> result) {
  if (!result) result.error().kind = ErrorKind::bad_input;
  return result;
}

}  // namespace

Result<FileRange> whole_file(const std::string& path) {
  IT_TRY(FileFacts facts, as_input(file_facts(path)));
  if (!facts.regular) return bad_input(text("'", path, "' is not a regular file"));
  return FileRange{path, 0, facts.size, facts.size, facts.modified};
}

Result<std::vector<std::byte>> read_range(const FileRange& range) {
  IT_TRY(Descriptor descriptor, as_input(open_for_reading(range.path)));
  std::vector<std::byte> bytes(range.length);
  IT_TRY(std::size_t got, read_at(descriptor.number(), range.offset, bytes, range.path));
  if (got < bytes.size()) return bad_input(text("'", range.path, "' ends before byte ", range.offset + range.length));
  return bytes;
}

Result<ByteReader> ByteReader::open(const std::string& path) {
  ByteReader reader;
  reader.name_ = path == "-" ? "standard input" : path;
  reader.buffer_.resize(window_size);
  if (path == "-") {
    reader.descriptor_ = Descriptor(STDIN_FILENO);
    return reader;
  }
  IT_TRY(FileFacts facts, as_input(file_facts(path)));
  if (facts.regular) {
    IT_TRY(reader.file_, whole_file(path));
  }
  IT_TRY(reader.descriptor_, as_input(open_for_reading(path)));
  return reader;
}

ByteReader ByteReader::of(std::span<const std::byte> bytes) {
  ByteReader reader;
  reader.in_memory_ = true;
  reader.window_ = bytes;
  return reader;
}

ByteReader::~ByteReader() {
  if (descriptor_.number() == STDIN_FILENO) descriptor_.release();
}

Error ByteReader::truncated() const { return bad_input(text("the model ends at byte ", position(), ", in the middle of a field")); }

// The next window; 0 bytes at the end.
Result<std::size_t> ByteReader::refill() {
  if (in_memory_) return std::size_t{0};
  window_start_ += at_;
  at_ = 0;
  window_ = {};
  IT_TRY(std::size_t got, file() ? read_at(descriptor_.number(), window_start_, buffer_, name_) : read_fully(descriptor_.number(), buffer_, name_));
  window_ = std::span<const std::byte>(buffer_).first(got);
  if (!file() && window_start_ + got > pipe_limit) {
    return bad_input(text("the model is larger than ", human_bytes(pipe_limit), "; give it as a file, with external data"));
  }
  return got;
}

Result<bool> ByteReader::at_end() {
  if (at_ < window_.size()) return false;
  IT_TRY(std::size_t got, refill());
  return got == 0;
}

Result<std::uint64_t> ByteReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    IT_TRY(bool ended, at_end());
    if (ended) return truncated();
    auto byte = static_cast<std::uint64_t>(window_[at_++]);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return bad_input(text("a number of more than 10 bytes ends at byte ", position()));
}

template <class Take>
Status ByteReader::pieces(std::uint64_t length, Take take) {
  while (length > 0) {
    IT_TRY(bool ended, at_end());
    if (ended) return truncated();
    std::size_t piece = static_cast<std::size_t>(std::min<std::uint64_t>(length, window_.size() - at_));
    take(window_.subspan(at_, piece));
    at_ += piece;
    length -= piece;
  }
  return {};
}

Status ByteReader::append_to(std::string& out, std::uint64_t length) {
  return pieces(length, [&out](std::span<const std::byte> piece) { out.append(reinterpret_cast<const char*>(piece.data()), piece.size()); });
}

Status ByteReader::skip(std::uint64_t length) {
  if (!file() || length <= window_.size() - at_) return pieces(length, [](std::span<const std::byte>) {});
  if (length > file_.file_size || position() > file_.file_size - length) return truncated();
  window_start_ = position() + length;
  window_ = {};
  at_ = 0;
  return {};
}

Result<Cut> ByteReader::cut(std::uint64_t length) {
  Cut cut{position(), length, nullptr};
  if (file()) {
    IT_TRY_VOID(skip(length));
    return cut;
  }
  if (in_memory_ && length > window_.size() - at_) return truncated();
  auto bytes = std::make_shared<std::vector<std::byte>>();
  while (bytes->size() < length) {
    std::size_t have = bytes->size();
    std::uint64_t piece = std::min<std::uint64_t>(length - have, std::max<std::uint64_t>(growth, have));
    bytes->resize(have + static_cast<std::size_t>(piece));
    std::byte* out = bytes->data() + have;
    IT_TRY_VOID(pieces(piece, [&out](std::span<const std::byte> from) { out = std::copy(from.begin(), from.end(), out); }));
  }
  cut.bytes = std::move(bytes);
  return cut;
}

}  // namespace infini::onnx_files
