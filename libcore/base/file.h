// Files and descriptors: read whole, mapped, and written under another name until they are complete.
// The path "-" is standard input or output. Errors name the path: bad_input where it cannot be read, io where it cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/result.h"

namespace infini {

// What tells whether a file is still the one it was.
struct FileFacts {
  std::uint64_t size = 0;       // bytes
  std::int64_t modified = 0;    // nanoseconds since 1970
  bool regular = false;
  friend bool operator==(const FileFacts&, const FileFacts&) = default;
};
Result<FileFacts> file_facts(const std::string& path);

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};
Result<Descriptor> open_for_reading(const std::string& path);

// Fills `out`, or less if the end comes first; the count of bytes read. `name` is for the message.
Result<std::size_t> read_fully(int descriptor, std::span<std::byte> out, std::string_view name);
// The same from byte `offset` on.
Result<std::size_t> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out, std::string_view name);
// io; with status 141 if nobody reads any more (SIGPIPE must be ignored for that).
Status write_fully(int descriptor, std::span<const std::byte> bytes, std::string_view name);

// The whole file, pipe or "-"; bad_input if it holds more than `limit` bytes. `announced` is asked once, with the first 128 KiB (or all there is):
// so many bytes there should be; a pipe or device that gives more is read no further than a byte beyond.
using Announced = std::function<Result<std::uint64_t>(std::span<const std::byte> begin)>;
Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t limit, const Announced& announced = {});

// A regular file mapped for reading. The bytes stay as long as a copy of `owner` does. A file truncated under the mapping
// faults on access beyond its new end: ask is_unchanged first where that matters.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  const FileFacts& facts() const { return facts_; }
  bool is_unchanged() const;

 private:
  std::string path_;
  FileFacts facts_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

// Writes a file that gets its name in commit, when it is complete; without commit nothing of it stays.
// Devices, pipes and "-" are written directly.
class FileWriter {
 public:
  static Result<FileWriter> open(const std::string& path);
  FileWriter(FileWriter&& other) noexcept { *this = std::move(other); }
  FileWriter& operator=(FileWriter&& other) noexcept;
  ~FileWriter() { abandon(); }
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  std::uint64_t written() const { return written_; }
  Status commit();

 private:
  FileWriter() = default;
  bool take_name(const std::function<bool(const char*)>& make);
  void abandon();

  std::string path_;       // as the caller wrote it
  std::string target_;     // where it goes, links followed
  std::string temporary_;  // its name until it is complete; empty: it has none yet, or is written directly
  Descriptor descriptor_;
  bool standard_output_ = false;
  bool unnamed_ = false;  // complete or not, it gets its name in commit
  std::uint64_t written_ = 0;
};

}  // namespace infini
