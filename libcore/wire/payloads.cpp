#include "libcore/wire/payloads.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "libcore/wire/memory.h"

namespace infini::wire {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t element_alignment = 16;  // of the widest element type

Result<Tensor> as_tensor(const PayloadInfo& info, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (info.dtype == DType::str) return decode_strings(info.extents, bytes);
  return Tensor::view(info.dtype, info.extents, bytes, std::move(owner));
}

}  // namespace

void Payloads::announce(std::vector<PayloadInfo> more) {
  for (PayloadInfo& info : more) infos_.push_back(std::move(info));
  held_.resize(infos_.size());
}

// The payload bytes of the next chunk, which must go on at byte `done` of payload next_.
Result<std::uint64_t> Payloads::next_chunk(std::uint64_t done) {
  std::uint64_t length = infos_[next_].length;
  IT_TRY(FrameHead head, frames_.next());
  if (head.kind != FrameKind::chunk) {
    return bad_input(text("found the ", place(head), " where payload ", next_, " goes on at byte ", done, " of ", length));
  }
  IT_TRY(ChunkHead chunk, frames_.chunk(head));
  if (chunk.number != next_ || chunk.offset != done || chunk.payload > length - done) {
    return within(place(head), bad_input(text("bytes ", chunk.offset, " to ", chunk.offset + chunk.payload, " of payload ", chunk.number,
                                              "; expected payload ", next_, " from ", done, " up to ", length)));
  }
  return chunk.payload;
}

// Reads payload next_ to `into` (or through it piece by piece where that is null) and gives the pieces to `take`.
Status Payloads::read_next(std::byte* into, const Take& take) {
  std::vector<std::byte> scratch(into ? 0 : std::min<std::uint64_t>(piece_bytes, infos_[next_].length));
  ContentHasher hash;
  for (std::uint64_t done = 0; done < infos_[next_].length;) {
    IT_TRY(std::uint64_t left, next_chunk(done));
    while (left > 0) {
      std::size_t size = std::min<std::uint64_t>(left, piece_bytes);
      std::span<std::byte> piece(into ? into + done : scratch.data(), size);
      IT_TRY_VOID(frames_.source().read_payload(piece));
      hash.add(std::span<const std::byte>(piece));
      if (take) IT_TRY_VOID(take(piece));
      done += size;
      left -= size;
    }
  }
  held_[next_].digest = hash.finish();
  ++next_;
  return {};
}

Result<Payloads::Held> Payloads::map_next() {
  const PayloadInfo& info = infos_[next_];
  std::vector<std::span<const std::byte>> pieces;
  for (std::uint64_t done = 0; done < info.length; done += pieces.back().size()) {
    IT_TRY(std::uint64_t size, next_chunk(done));
    IT_TRY(std::span<const std::byte> piece, frames_.source().view_payload(size));
    pieces.push_back(piece);
  }
  std::optional<MappedRange> range = map_pieces(frames_.source().mapping(), pieces);
  bool aligned = range && reinterpret_cast<std::uintptr_t>(range->bytes.data()) % element_alignment == 0;
  if (info.dtype == DType::str && range) aligned = true;
  Held held;
  if (!aligned) {
    IT_TRY(std::shared_ptr<std::byte> memory, fresh_memory(info.length));
    range = MappedRange{{memory.get(), static_cast<std::size_t>(info.length)}, memory};
    std::size_t done = 0;
    for (std::span<const std::byte> piece : pieces) {
      std::memcpy(memory.get() + done, piece.data(), piece.size());
      done += piece.size();
    }
  }
  IT_TRY(held.tensor, as_tensor(info, range->bytes, range->owner));
  held.mapped = aligned && info.dtype != DType::str;
  return held;
}

Status Payloads::map_all() {
  while (next_ < infos_.size()) {
    IT_TRY(held_[next_], map_next());
    ++next_;
  }
  return {};
}

Status Payloads::keep_next() {
  const PayloadInfo& info = infos_[next_];
  IT_TRY(std::shared_ptr<std::byte> memory, fresh_memory(info.length));
  Held& held = held_[next_];
  IT_TRY_VOID(read_next(memory.get(), nullptr));
  IT_TRY(held.tensor, as_tensor(info, {memory.get(), static_cast<std::size_t>(info.length)}, memory));
  return {};
}

Status Payloads::require_next(std::size_t index) const {
  if (failure_) return *failure_;
  if (index >= next_ && index < infos_.size()) return {};
  return internal_error(text("payload ", index, " of ", infos_.size(), " was passed on or dropped before it was asked for"));
}

Result<Tensor> Payloads::pull(std::size_t index) {
  if (const Tensor* tensor = held(index)) return *tensor;
  IT_TRY_VOID(require_next(index));
  while (next_ <= index) {
    if (Status status = keep_next(); !status) {
      failure_ = status.error();
      return *failure_;
    }
  }
  return *held_[index].tensor;
}

const Tensor* Payloads::held(std::size_t index) const {
  return index < held_.size() && held_[index].tensor ? &*held_[index].tensor : nullptr;
}

Result<Hash128> Payloads::pass_on(std::size_t index, const Take& take) {
  IT_TRY_VOID(require_next(index));
  while (next_ <= index) {
    if (Status status = read_next(nullptr, next_ == index ? take : nullptr); !status) {
      failure_ = status.error();
      return *failure_;
    }
  }
  return *held_[index].digest;
}

Status Payloads::finish(bool keep) {
  if (next_ == infos_.size()) return failure_ ? Status(*failure_) : Status();
  if (keep) {
    IT_TRY_VOID(pull(infos_.size() - 1));
  } else {
    IT_TRY_VOID(pass_on(infos_.size() - 1, nullptr));
  }
  return {};
}

Status Payloads::check(const std::vector<Hash128>& contents) const {
  if (contents.size() != infos_.size()) {
    return bad_input(text("the stream has ", infos_.size(), " payloads and digests of ", contents.size()));
  }
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (held_[i].digest && *held_[i].digest != contents[i]) {
      return bad_input(text("payload ", i, " is damaged: its digest is ", to_hex(*held_[i].digest), ", the stream says ", to_hex(contents[i])));
    }
  }
  return {};
}

std::string encode_strings(const std::vector<std::string>& strings) {
  std::string out;
  for (const std::string& item : strings) {
    append_varint(out, bytes_tag(1));
    append_varint(out, item.size());
    out += item;
  }
  return out;
}

Result<Tensor> decode_strings(const Extents& extents, std::span<const std::byte> content) {
  std::vector<std::string> strings;
  std::string_view left(reinterpret_cast<const char*>(content.data()), content.size());
  while (!left.empty()) {
    std::uint64_t length = 0;
    std::size_t at = 1;
    for (int shift = 0; shift < 63 && at < left.size(); shift += 7) {
      auto byte = static_cast<unsigned char>(left[at++]);
      length |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (static_cast<unsigned char>(left[0]) != bytes_tag(1) || length > left.size() - at || at == 1) {
      return bad_input(text("string ", strings.size(), " of a tensor is malformed"));
    }
    strings.emplace_back(left.substr(at, length));
    left.remove_prefix(at + length);
  }
  if (element_count(extents) != static_cast<std::int64_t>(strings.size())) {
    return bad_input(text("a tensor ", to_string(extents), " of strings holds ", strings.size()));
  }
  return Tensor::of_strings(extents, std::move(strings));
}

}  // namespace infini::wire
