#include "libcore/wire/source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "libcore/base/text.h"

namespace infini::wire {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

Error cannot_read() { return bad_input(text("cannot read the stream: ", std::system_category().message(errno))); }

// Up to out.size() bytes; 0 at the end.
Result<std::size_t> read_some(int fd, std::span<std::byte> out) {
  while (true) {
    ssize_t got = ::read(fd, out.data(), out.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd waiting{fd, POLLIN, 0};
      if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) return cannot_read();
    } else if (errno != EINTR) {
      return cannot_read();
    }
  }
}

}  // namespace

Result<std::shared_ptr<const Mapping>> Mapping::make(int fd, std::uint64_t size) {
  int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) return cannot_read();
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, own, 0);
  if (data == MAP_FAILED) {
    Error error = bad_input(text("cannot map the stream: ", std::system_category().message(errno)));
    ::close(own);
    return error;
  }
  return std::make_shared<const Mapping>(own, std::span(static_cast<const std::byte*>(data), size));
}

Mapping::~Mapping() {
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  ::close(fd_);
}

Result<Source> Source::open(int fd, std::string prefix) {
  Source source;
  source.fd_ = fd;
  struct stat status {};
  if (::fstat(fd, &status) != 0) return cannot_read();
  off_t start = S_ISREG(status.st_mode) ? ::lseek(fd, 0, SEEK_CUR) : -1;
  auto held = static_cast<off_t>(prefix.size());
  if (start >= held && status.st_size > start - held) {
    IT_TRY(source.mapping_, Mapping::make(fd, static_cast<std::uint64_t>(status.st_size)));
    source.window_ = source.mapping_->bytes().subspan(static_cast<std::size_t>(start - held));
    return source;
  }
  source.buffer_.resize(std::max(prefix.size(), buffer_bytes));
  std::memcpy(source.buffer_.data(), prefix.data(), prefix.size());
  source.window_ = std::span(source.buffer_).first(prefix.size());
  return source;
}

Error Source::truncated() const {
  return bad_input(text("the stream stopped before its end mark, at byte ", offset_, ": ",
                        mapping_ ? "the file is incomplete" : "the stage before this one was probably killed"));
}

// Leaves window_ empty only at the end.
Status Source::refill() {
  if (!window_.empty() || mapping_) return {};
  IT_TRY(std::size_t got, read_some(fd_, buffer_));
  window_ = std::span(buffer_).first(got);
  return {};
}

Result<bool> Source::at_end() {
  IT_TRY_VOID(refill());
  return window_.empty();
}

Result<std::uint8_t> Source::byte() {
  std::byte value{};
  IT_TRY_VOID(read({&value, 1}));
  return static_cast<std::uint8_t>(value);
}

Status Source::copy(std::span<std::byte> out) {
  while (!out.empty()) {
    std::size_t count = 0;
    if (window_.empty() && !mapping_ && out.size() >= buffer_.size()) {
      IT_TRY(count, read_some(fd_, out));
    } else {
      IT_TRY_VOID(refill());
      count = std::min(window_.size(), out.size());
      std::memcpy(out.data(), window_.data(), count);
      window_ = window_.subspan(count);
    }
    if (count == 0) return truncated();
    offset_ += count;
    out = out.subspan(count);
  }
  return {};
}

Status Source::read(std::span<std::byte> out) {
  IT_TRY_VOID(copy(out));
  hasher_.add(std::span<const std::byte>(out));
  return {};
}

Status Source::read_payload(std::span<std::byte> out) { return copy(out); }

Result<std::span<const std::byte>> Source::view_payload(std::uint64_t count) {
  if (count > window_.size()) {
    offset_ += window_.size();
    window_ = {};
    return truncated();
  }
  std::span<const std::byte> view = window_.first(count);
  window_ = window_.subspan(count);
  offset_ += count;
  return view;
}

Result<std::string> Source::take(std::uint64_t count) {
  constexpr std::uint64_t step = std::uint64_t{1} << 20;
  std::string out;
  while (out.size() < count) {
    std::size_t old = out.size();
    out.resize(old + std::min(step, count - old));
    IT_TRY_VOID(read(std::as_writable_bytes(std::span(out).subspan(old))));
  }
  return out;
}

}  // namespace infini::wire
