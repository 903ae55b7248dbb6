// Memory for payloads: fresh pages, and pieces of a file side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "libcore/base/result.h"
#include "libcore/wire/source.h"

namespace infini::wire {

// `size` bytes that take no memory until they are written. run_failed if the system refuses.
Result<std::shared_ptr<std::byte>> fresh_memory(std::uint64_t size);

// The pieces of a mapped file, one after another: in place if there is one, mapped side by side if all of them start at page boundaries and all
// but the last are whole pages; else nothing.
struct MappedRange {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
std::optional<MappedRange> map_pieces(const std::shared_ptr<const Mapping>& mapping, std::span<const std::span<const std::byte>> pieces);

// Tells the system that these bytes of a read-only file mapping will not be read soon, so that they stop counting as this process's memory.
void release_mapped(std::span<const std::byte> bytes);

}  // namespace infini::wire
