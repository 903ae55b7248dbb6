#include "libcore/wire/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"

namespace infini::wire {
namespace {

std::shared_ptr<std::byte> owned_range(void* base, std::size_t size) {
  return {static_cast<std::byte*>(base), [size](std::byte* p) { ::munmap(p, size); }};
}

bool can_stand_side_by_side(const Mapping& mapping, std::span<const std::span<const std::byte>> pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    auto offset = static_cast<std::uint64_t>(pieces[i].data() - mapping.bytes().data());
    if (offset % page != 0 || (i + 1 < pieces.size() && pieces[i].size() % page != 0)) return false;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<std::byte>> fresh_memory(std::uint64_t size) {
  constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
  std::size_t bytes = std::max<std::size_t>(static_cast<std::size_t>(size), 1);
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return run_failed(text("no memory for a payload of ", human_bytes(size), ": ", std::system_category().message(errno)));
  }
  if (bytes >= huge_page) (void)::madvise(base, bytes, MADV_HUGEPAGE);
  return owned_range(base, bytes);
}

std::optional<MappedRange> map_pieces(const std::shared_ptr<const Mapping>& mapping, std::span<const std::span<const std::byte>> pieces) {
  if (pieces.size() == 1) return MappedRange{pieces[0], mapping};
  if (pieces.empty() || !can_stand_side_by_side(*mapping, pieces)) return std::nullopt;
  std::size_t size = 0;
  for (std::span<const std::byte> piece : pieces) size += piece.size();
  void* base = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return std::nullopt;
  std::shared_ptr<std::byte> owner = owned_range(base, size);
  std::size_t done = 0;
  for (std::span<const std::byte> piece : pieces) {
    void* at = owner.get() + done;
    auto offset = static_cast<off_t>(piece.data() - mapping->bytes().data());
    if (::mmap(at, piece.size(), PROT_READ, MAP_PRIVATE | MAP_FIXED, mapping->fd(), offset) == MAP_FAILED) return std::nullopt;
    done += piece.size();
  }
  return MappedRange{{owner.get(), size}, owner};
}

void release_mapped(std::span<const std::byte> bytes) {
  auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  std::uintptr_t first = (begin + page - 1) / page * page;
  std::uintptr_t last = (begin + bytes.size()) / page * page;
  if (last > first) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace infini::wire
