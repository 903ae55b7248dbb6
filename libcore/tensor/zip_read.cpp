// The reading half of zip.h.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <zlib.h>

#include "libcore/base/text.h"
#include "libcore/tensor/tensor.h"
#include "libcore/tensor/zip.h"
#include "libcore/tensor/zip_format.h"

namespace infini {
namespace {

constexpr std::uint64_t most_deflate_ratio = 1032;  // of the format: 258 bytes from 2 bits
constexpr std::size_t piece_size = std::size_t{1} << 30;  // zlib counts in 32 bits

// Little-endian numbers at places that are checked.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool holds(std::uint64_t at, std::uint64_t length) const { return at <= bytes_.size() && length <= bytes_.size() - at; }
  std::uint64_t number(std::uint64_t at, int length) const {
    std::uint64_t out = 0;
    for (int i = 0; i < length; ++i) out |= std::to_integer<std::uint64_t>(bytes_[static_cast<std::size_t>(at) + static_cast<std::size_t>(i)]) << (8 * i);
    return out;
  }
  std::uint64_t u16(std::uint64_t at) const { return number(at, 2); }
  std::uint64_t u32(std::uint64_t at) const { return number(at, 4); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  std::string text(std::uint64_t at, std::uint64_t length) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + at, static_cast<std::size_t>(length)};
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

Error truncated(std::string_view what) { return bad_input(text("zip: truncated: ", what, " lies beyond the end of the file")); }

// The end record is the last one whose comment reaches exactly to the end of the file.
std::optional<std::uint64_t> find_end(const Bytes& bytes, std::uint64_t size) {
  if (size < zip::end_size) return std::nullopt;
  std::uint64_t last = size - zip::end_size;
  std::uint64_t first = last > 65535 ? last - 65535 : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (bytes.u32(at) == zip::end_signature && at + zip::end_size + bytes.u16(at + 20) == size) return at;
  }
  return std::nullopt;
}

Result<Directory> find_directory(std::span<const std::byte> file) {
  Bytes bytes(file);
  std::optional<std::uint64_t> end = find_end(bytes, file.size());
  if (!end) return bad_input("zip: no end of central directory: the file is truncated or not a zip file");
  Directory out{bytes.u32(*end + 16), bytes.u32(*end + 12), bytes.u16(*end + 10)};
  bool has_locator = *end >= zip::locator_size && bytes.u32(*end - zip::locator_size) == zip::locator_signature;
  if (has_locator) {
    std::uint64_t at = bytes.u64(*end - zip::locator_size + 8);
    if (!bytes.holds(at, zip::end64_size) || bytes.u32(at) != zip::end64_signature) return bad_input("zip: the zip64 end record is not where the locator says");
    out = {bytes.u64(at + 48), bytes.u64(at + 40), bytes.u64(at + 32)};
  }
  if (!bytes.holds(out.offset, out.size)) return truncated("the central directory");
  if (out.count > out.size / zip::entry_size) return bad_input(text("zip: ", out.count, " members do not fit a directory of ", out.size, " bytes"));
  return out;
}

// Replaces the numbers that did not fit 32 bits by those of the zip64 extra field.
Status widen(const Bytes& bytes, std::uint64_t extra, std::uint64_t length, ZipMember& member) {
  std::uint64_t end = extra + length;
  while (end - extra >= 4) {
    std::uint64_t id = bytes.u16(extra);
    std::uint64_t size = bytes.u16(extra + 2);
    extra += 4;
    if (size > end - extra) break;
    if (id == zip::zip64_extra) {
      std::uint64_t field_end = extra + size;
      for (std::uint64_t* number : {&member.size, &member.stored_size, &member.offset}) {
        if (*number != zip::wide32) continue;
        if (field_end - extra < 8) return bad_input(text("zip: member ", quoted(member.name), ": the zip64 field is too short"));
        *number = bytes.u64(extra);
        extra += 8;
      }
      return {};
    }
    extra += size;
  }
  return {};
}

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // True if `in` is one whole deflate stream of exactly out.size() bytes.
  bool run(std::span<const std::byte> in, std::span<std::byte> out) {
    std::byte past_end{};
    int state = ready_ ? Z_OK : Z_MEM_ERROR;
    std::span<std::byte> spare(&past_end, 1);
    while (state == Z_OK) {
      std::size_t offered = std::min(in.size(), piece_size);
      std::span<std::byte>& room = out.empty() ? spare : out;
      std::size_t space = std::min(room.size(), piece_size);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(room.data());
      stream_.avail_out = static_cast<uInt>(space);
      state = inflate(&stream_, Z_NO_FLUSH);
      std::size_t taken = offered - stream_.avail_in;
      std::size_t made = space - stream_.avail_out;
      in = in.subspan(taken);
      room = room.subspan(made);
      if (state == Z_OK && (spare.empty() || (taken == 0 && made == 0))) return false;
    }
    return state == Z_STREAM_END && in.empty() && out.empty() && !spare.empty();
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

Result<std::vector<ZipMember>> list_zip(std::span<const std::byte> file) {
  IT_TRY(Directory directory, find_directory(file));
  Bytes bytes(file.first(static_cast<std::size_t>(directory.offset + directory.size)));
  std::vector<ZipMember> members;
  std::unordered_set<std::string> names;
  std::uint64_t at = directory.offset;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (!bytes.holds(at, zip::entry_size)) return truncated("the central directory");
    if (bytes.u32(at) != zip::entry_signature) return bad_input(text("zip: no entry at byte ", at, " of the central directory"));
    std::uint64_t name = bytes.u16(at + 28);
    std::uint64_t extra = bytes.u16(at + 30);
    std::uint64_t comment = bytes.u16(at + 32);
    if (!bytes.holds(at + zip::entry_size, name + extra + comment)) return truncated("the central directory");
    ZipMember member;
    member.name = bytes.text(at + zip::entry_size, name);
    if ((bytes.u16(at + 8) & 1) != 0) return unsupported(text("zip: member ", quoted(member.name), " is encrypted"));
    member.method = static_cast<std::uint16_t>(bytes.u16(at + 10));
    member.crc = static_cast<std::uint32_t>(bytes.u32(at + 16));
    member.stored_size = bytes.u32(at + 20);
    member.size = bytes.u32(at + 24);
    member.offset = bytes.u32(at + 42);
    IT_TRY_VOID(widen(bytes, at + zip::entry_size + name, extra, member));
    if (!names.insert(member.name).second) return bad_input(text("zip: two members are called ", quoted(member.name)));
    members.push_back(std::move(member));
    at += zip::entry_size + name + extra + comment;
  }
  return members;
}

Result<ZipBytes> read_zip_member(std::span<const std::byte> file, const std::shared_ptr<const void>& owner, const ZipMember& member) {
  std::string what = text("member ", quoted(member.name));
  Bytes bytes(file);
  if (!bytes.holds(member.offset, zip::local_size)) return truncated(what);
  if (bytes.u32(member.offset) != zip::local_signature) return bad_input(text("zip: ", what, ": no local header at byte ", member.offset));
  std::uint64_t begin = member.offset + zip::local_size + bytes.u16(member.offset + 26) + bytes.u16(member.offset + 28);
  if (!bytes.holds(begin, member.stored_size)) return truncated(what);
  std::span<const std::byte> stored = file.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(member.stored_size));
  ZipBytes out{stored, owner};
  if (member.method == 8) {
    if (member.size / most_deflate_ratio > member.stored_size) {
      return bad_input(text("zip: ", what, ": ", member.stored_size, " deflated bytes cannot hold the declared ", member.size));
    }
    IT_TRY(TensorWriter writer, TensorWriter::make(DType::u8, {static_cast<std::int64_t>(member.size)}));
    if (!Inflater().run(stored, {writer.bytes(), static_cast<std::size_t>(member.size)})) {
      return bad_input(text("zip: ", what, ": not a deflate stream of the declared ", member.size, " bytes"));
    }
    auto tensor = std::make_shared<const Tensor>(std::move(writer).finish());
    out = {tensor->bytes(), tensor};
  } else if (member.method != 0) {
    return unsupported(text("zip: ", what, ": compression method ", member.method, " is neither stored nor deflate"));
  }
  if (out.bytes.size() != member.size) return bad_input(text("zip: ", what, ": ", out.bytes.size(), " bytes, declared are ", member.size));
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(out.bytes.data()), out.bytes.size());
  if (crc != member.crc) return bad_input(text("zip: ", what, ": its checksum does not agree with its content"));
  return out;
}

}  // namespace infini
