#include "libcore/wire/payload_writer.h"

#include <algorithm>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/wire/encode.h"
#include "libcore/wire/format.h"
#include "libcore/wire/memory.h"

namespace infini::wire {
namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

}  // namespace

void PayloadWriter::begin(std::uint64_t length) {
  written_ = 0;
  length_ = length;
  buffer_.clear();
}

// Fills chunks of exactly chunk_bytes_; the last takes what is left.
Status PayloadWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::uint64_t chunk = std::min(chunk_bytes_, length_ - written_);
    if (buffer_.empty() && bytes.size() >= chunk) {
      IT_TRY_VOID(frames_.chunk(digests_.size(), written_, bytes.first(chunk), alignment_of(length_)));
      bytes = bytes.subspan(chunk);
      written_ += chunk;
      continue;
    }
    buffer_.reserve(chunk);
    std::size_t taken = std::min<std::size_t>(bytes.size(), chunk - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (buffer_.size() < chunk) continue;
    IT_TRY_VOID(frames_.chunk(digests_.size(), written_, buffer_, alignment_of(length_)));
    written_ += chunk;
    buffer_.clear();
  }
  return {};
}

Status PayloadWriter::write(const Tensor& tensor, bool mapped) {
  std::string strings;
  std::span<const std::byte> bytes = tensor.bytes();
  if (tensor.dtype() == DType::str) {
    strings = encode_strings(tensor.strings());
    bytes = std::as_bytes(std::span(strings));
  }
  begin(bytes.size());
  ContentHasher hash;
  for (std::size_t done = 0; done < bytes.size();) {
    std::span<const std::byte> window = bytes.subspan(done, std::min<std::size_t>(chunk_bytes_, bytes.size() - done));
    hash.add(window);
    IT_TRY_VOID(append(window));
    if (mapped) release_mapped(window);
    done += window.size();
  }
  digests_.push_back(hash.finish());
  return {};
}

Status PayloadWriter::pass_on(std::size_t index, std::uint64_t length) {
  begin(length);
  IT_TRY(Hash128 digest, source_->pass_on(index, [this](std::span<const std::byte> piece) { return append(piece); }));
  digests_.push_back(digest);
  return {};
}

Status PayloadWriter::copy_file(const FileRange& range) {
  IT_TRY(Descriptor file, open_for_reading(range.path));
  IT_TRY(FileFacts facts, file_facts(range.path));
  if (facts.size != range.file_size || facts.modified != range.modified_ns) return bad_input(text(range.path, " was changed after the import"));
  begin(range.length);
  ContentHasher hash;
  std::vector<std::byte> window(std::min(piece_bytes, range.length));
  for (std::uint64_t done = 0; done < range.length; done += window.size()) {
    window.resize(std::min(piece_bytes, range.length - done));
    IT_TRY(std::size_t got, read_at(file.number(), range.offset + done, window, range.path));
    if (got != window.size()) return bad_input(text(range.path, " was cut off while it was read"));
    hash.add(std::span<const std::byte>(window));
    IT_TRY_VOID(append(window));
  }
  digests_.push_back(hash.finish());
  return {};
}

Status PayloadWriter::write(const Constant& constant, std::uint64_t length) {
  if (const auto* file = std::get_if<FilePayload>(&constant.payload)) return copy_file(file->range);
  if (const auto* pending = std::get_if<StreamPayload>(&constant.payload)) {
    if (pending->source.get() == source_ && !source_->held(pending->index)) return pass_on(pending->index, length);
    IT_TRY(Tensor tensor, pending->source->pull(pending->index));
    return write(tensor);
  }
  return write(*constant.at_hand(), std::holds_alternative<MappedPayload>(constant.payload));
}

}  // namespace infini::wire
