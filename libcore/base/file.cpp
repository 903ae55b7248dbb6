#include "libcore/base/file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/base/text.h"

namespace infini {
namespace {

// Linux moves at most 0x7ffff000 bytes in one call.
constexpr std::size_t most_per_call = std::size_t{1} << 30;
constexpr std::size_t piece_size = std::size_t{1} << 20;
constexpr std::size_t begin_size = std::size_t{1} << 17;

Error cannot_read(std::string_view name, std::string_view verb = "read") {
  bool exhausted = errno == ENOMEM || errno == EMFILE || errno == ENFILE;  // the machine's fault, not the file's
  std::string message = text("cannot ", verb, " ", name, ": ", std::generic_category().message(errno));
  return exhausted ? io_error(std::move(message)) : bad_input(std::move(message));
}
Error cannot_write(std::string_view name) {
  constexpr int sigpipe_status = 141;  // 128 + SIGPIPE, what a shell shows for a process that the signal ended
  Error error = io_error(text("cannot write ", name, ": ", std::generic_category().message(errno)));
  if (errno == EPIPE) error.status = sigpipe_status;
  return error;
}

std::string shown(const std::string& path, std::string_view standard) { return path == "-" ? std::string(standard) : path; }

FileFacts facts_of(const struct stat& status) {
  constexpr std::int64_t second = 1'000'000'000;
  return {static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec, S_ISREG(status.st_mode)};
}

Result<FileFacts> facts_of_descriptor(int descriptor, std::string_view name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return cannot_read(name, "examine");
  return facts_of(status);
}

// The file a path leads to, links followed, even if that does not exist yet.
std::string resolved(std::string path) {
  constexpr int most_links = 40;  // as many as Linux follows
  for (int link = 0; link < most_links; ++link) {
    std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
    if (real) return std::string(real.get());
    std::string to(PATH_MAX, '\0');
    ssize_t length = ::readlink(path.c_str(), to.data(), to.size());
    if (length <= 0) break;
    to.resize(static_cast<std::size_t>(length));
    path = to.starts_with("/") ? std::move(to) : path.substr(0, path.find_last_of('/') + 1) + to;
  }
  return path;
}

// The kernel's own name for an open file.
std::string own_link(const Descriptor& file) { return text("/proc/self/fd/", file.number()); }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<FileFacts> file_facts(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return cannot_read(path, "examine");
  return facts_of(status);
}

Result<Descriptor> open_for_reading(const std::string& path) {
  int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return cannot_read(path, "open");
  return Descriptor(number);
}

Result<std::size_t> read_fully(int descriptor, std::span<std::byte> out, std::string_view name) {
  std::size_t done = 0;
  while (done < out.size()) {
    ssize_t got = ::read(descriptor, out.data() + done, std::min(out.size() - done, most_per_call));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(name);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::size_t> read_at(int descriptor, std::uint64_t offset, std::span<std::byte> out, std::string_view name) {
  std::size_t done = 0;
  while (done < out.size()) {
    ssize_t got = ::pread(descriptor, out.data() + done, std::min(out.size() - done, most_per_call), static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(name);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status write_fully(int descriptor, std::span<const std::byte> bytes, std::string_view name) {
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor, bytes.data(), std::min(bytes.size(), most_per_call));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd waiting{descriptor, POLLOUT, 0};
      (void)::poll(&waiting, 1, -1);
      continue;
    }
    if (put < 0) return cannot_write(name);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::vector<std::byte>> read_file(const std::string& path, std::uint64_t limit, const Announced& announced) {
  std::string name = shown(path, "standard input");
  Descriptor file;
  if (path != "-") {
    IT_TRY(file, open_for_reading(path));
  }
  int number = path == "-" ? STDIN_FILENO : file.number();
  IT_TRY(FileFacts facts, facts_of_descriptor(number, name));
  Error too_long = bad_input(text(name, " is larger than the limit of ", limit, " bytes"));
  std::vector<std::byte> out;
  if (facts.regular) {
    if (facts.size > limit) return too_long;
    out.reserve(static_cast<std::size_t>(facts.size) + 1);
  }
  std::uint64_t most = UINT64_MAX;
  for (std::size_t room = begin_size; true; room = std::clamp(out.capacity() - out.size(), piece_size, piece_size * 64)) {
    std::size_t before = out.size();
    out.resize(before + room);
    IT_TRY(std::size_t got, read_fully(number, std::span(out).subspan(before), name));
    bool ended = got < room;
    out.resize(before + got);
    if (out.size() > limit) return too_long;
    if (before == 0 && announced) {
      IT_TRY(most, within(name, announced(out)));
    }
    if (out.size() > most) return bad_input(text(name, ": ", most, " bytes were announced, and there are more"));
    if (ended) return out;
  }
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  IT_TRY(Descriptor file, open_for_reading(path));
  MappedFile out;
  IT_TRY(out.facts_, facts_of_descriptor(file.number(), path));
  if (!out.facts_.regular) return bad_input(text("cannot map ", path, ": not a regular file"));
  out.path_ = path;
  auto size = static_cast<std::size_t>(out.facts_.size);
  if (size == 0) return out;
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (base == MAP_FAILED) return cannot_read(path, "map");
  out.bytes_ = {static_cast<const std::byte*>(base), size};
  out.owner_ = std::shared_ptr<const void>(base, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return out;
}

bool MappedFile::is_unchanged() const {
  Result<FileFacts> now = file_facts(path_);
  return now.has_value() && *now == facts_;
}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this != &other) {
    abandon();
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, {});
    descriptor_ = std::move(other.descriptor_);
    standard_output_ = other.standard_output_;
    unnamed_ = other.unnamed_;
    written_ = other.written_;
  }
  return *this;
}

Result<FileWriter> FileWriter::open(const std::string& path) {
  FileWriter out;
  out.path_ = shown(path, "standard output");
  if (path == "-") {
    out.standard_output_ = true;
    return out;
  }
  struct stat status {};
  bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {  // by its own path: /dev/stdout leads to a pipe that has no other
    out.descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.descriptor_.number() < 0) return cannot_write(path);
    return out;
  }
  out.target_ = resolved(path);
  // A file without a name, which a killed process leaves nothing of; where the file system has none, a temporary name.
  std::string folder = out.target_.substr(0, out.target_.find_last_of('/') + 1);
  out.descriptor_ = Descriptor(::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  out.unnamed_ = out.descriptor_.number() >= 0 && ::access(own_link(out.descriptor_).c_str(), F_OK) == 0;
  if (!out.unnamed_) {
    bool made = out.take_name([&out](const char* name) {
      out.descriptor_ = Descriptor(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      return out.descriptor_.number() >= 0;
    });
    if (!made) return cannot_write(path);
  }
  if (exists) (void)::fchmod(out.descriptor_.number(), status.st_mode & 07777);
  return out;
}

// Calls `make` with names beside the target until one is free; the process number makes the first try succeed but for leftovers.
bool FileWriter::take_name(const std::function<bool(const char*)>& make) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = text(target_, ".", ::getpid(), "-", attempt, ".part");
    if (make(temporary_.c_str())) return true;
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  return false;
}

Status FileWriter::write(std::span<const std::byte> bytes) {
  IT_TRY_VOID(write_fully(standard_output_ ? STDOUT_FILENO : descriptor_.number(), bytes, path_));
  written_ += bytes.size();
  return {};
}

Status FileWriter::commit() {
  if (standard_output_) return {};
  if (unnamed_) {
    std::string link = own_link(descriptor_);
    bool made = take_name([&link](const char* name) { return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0; });
    if (!made) return cannot_write(path_);
  }
  if (::close(descriptor_.release()) != 0) return cannot_write(path_);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return cannot_write(path_);
  temporary_.clear();
  return {};
}

void FileWriter::abandon() {
  if (!temporary_.empty()) (void)::unlink(temporary_.c_str());
  temporary_.clear();
}

}  // namespace infini
