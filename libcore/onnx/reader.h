// Bytes of a model in order, from a file, a pipe or memory. Nothing is mapped, so a file that shrinks meanwhile is an error, not a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/file.h"
#include "libcore/base/result.h"
#include "libcore/ir/constant.h"

namespace infini::onnx_files {

// A file's size and time of modification as a range of it: the whole file. bad_input if it is not a regular file that can be read.
Result<FileRange> whole_file(const std::string& path);
// The bytes of `range`, which is small enough to be held. bad_input if the file ends before.
Result<std::vector<std::byte>> read_range(const FileRange& range);

// A stretch of the model that was cut out: in memory, or (bytes null) where it stands in the file.
struct Cut {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

class ByteReader {
 public:
  // "-": standard input, read up to pipe_limit bytes.
  static Result<ByteReader> open(const std::string& path);
  static ByteReader of(std::span<const std::byte> bytes);
  ByteReader(ByteReader&&) = default;
  ~ByteReader();

  // The file, where there is one that payloads can stay in.
  const FileRange* file() const { return file_.path.empty() ? nullptr : &file_; }
  // Bytes from the start to the end; UINT64_MAX for a pipe.
  std::uint64_t size() const { return in_memory_ ? window_.size() : file() ? file_.file_size : UINT64_MAX; }
  std::uint64_t position() const { return window_start_ + at_; }
  Result<bool> at_end();
  Result<std::uint64_t> varint();
  Status append_to(std::string& out, std::uint64_t length);
  Status skip(std::uint64_t length);
  // The next `length` bytes: owned, or left in the file.
  Result<Cut> cut(std::uint64_t length);

  static constexpr std::uint64_t pipe_limit = std::uint64_t{2} << 30;  // a protobuf message is smaller

 private:
  ByteReader() = default;
  Result<std::size_t> refill();
  // Hands the next `length` bytes to `take`, piece by piece.
  template <class Take>
  Status pieces(std::uint64_t length, Take take);
  Error truncated() const;

  bool in_memory_ = false;
  Descriptor descriptor_;
  std::string name_;
  FileRange file_;                         // an empty path: memory or a pipe
  std::vector<std::byte> buffer_;
  std::span<const std::byte> window_;      // bytes at hand: the buffer's, or all of them
  std::uint64_t window_start_ = 0;         // position of the window in the model
  std::size_t at_ = 0;                     // next byte in the window
};

}  // namespace infini::onnx_files
