// The writing half of zip.h.
#include <algorithm>
#include <array>

#include <zlib.h>

#include "libcore/base/text.h"
#include "libcore/tensor/zip.h"
#include "libcore/tensor/zip_format.h"

namespace infini {
namespace {

constexpr std::uint64_t first_of_january_1980 = 0x21;  // one date for all, so that equal members give equal bytes
constexpr std::uint64_t utf8_names = 1U << 11;
constexpr std::size_t piece_size = std::size_t{1} << 18;

void put_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

std::uint64_t narrow(std::uint64_t number, std::uint64_t wide) { return std::min(number, wide); }

bool is_wide(std::uint64_t number) { return number >= zip::wide32; }

// The part that local headers and directory entries share: version, flags, method, time, date, crc, sizes, lengths.
std::string common_fields(const ZipMember& member, bool wide, std::uint64_t extra_size) {
  std::string out;
  put_number(out, wide ? 45 : 20, 2);
  put_number(out, utf8_names, 2);
  put_number(out, member.method, 2);
  put_number(out, 0, 2);
  put_number(out, first_of_january_1980, 2);
  put_number(out, member.crc, 4);
  put_number(out, wide ? zip::wide32 : member.stored_size, 4);
  put_number(out, wide ? zip::wide32 : member.size, 4);
  put_number(out, member.name.size(), 2);
  put_number(out, extra_size, 2);
  return out;
}

std::string zip64_field(const ZipMember& member, bool with_offset) {
  std::string out;
  put_number(out, zip::zip64_extra, 2);
  put_number(out, with_offset ? 24 : 16, 2);
  put_number(out, member.size, 8);
  put_number(out, member.stored_size, 8);
  if (with_offset) put_number(out, member.offset, 8);
  return out;
}

std::string local_header(const ZipMember& member) {
  bool wide = is_wide(member.size) || is_wide(member.stored_size);
  std::string extra = wide ? zip64_field(member, false) : "";
  std::string out;
  put_number(out, zip::local_signature, 4);
  return out + common_fields(member, wide, extra.size()) + member.name + extra;
}

std::string directory_entry(const ZipMember& member) {
  bool wide = is_wide(member.size) || is_wide(member.stored_size) || is_wide(member.offset);
  std::string extra = wide ? zip64_field(member, true) : "";
  std::string out;
  put_number(out, zip::entry_signature, 4);
  put_number(out, 45, 2);
  out += common_fields(member, wide, extra.size());
  out.append(10, '\0');  // no comment, first disk, no attributes
  put_number(out, wide ? zip::wide32 : member.offset, 4);
  return out + member.name + extra;
}

std::string end_records(std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  std::string out;
  if (count >= zip::wide16 || is_wide(offset) || is_wide(size)) {
    put_number(out, zip::end64_signature, 4);
    put_number(out, zip::end64_size - 12, 8);
    put_number(out, 45, 2);
    put_number(out, 45, 2);
    put_number(out, 0, 8);  // disk numbers
    for (std::uint64_t number : {count, count, size, offset}) put_number(out, number, 8);
    put_number(out, zip::locator_signature, 4);
    put_number(out, 0, 4);
    put_number(out, offset + size, 8);
    put_number(out, 1, 4);
  }
  put_number(out, zip::end_signature, 4);
  put_number(out, 0, 4);
  put_number(out, narrow(count, zip::wide16), 2);
  put_number(out, narrow(count, zip::wide16), 2);
  put_number(out, narrow(size, zip::wide32), 4);
  put_number(out, narrow(offset, zip::wide32), 4);
  put_number(out, 0, 2);
  return out;
}

class Deflater {
 public:
  explicit Deflater(const ByteSink& sink) : sink_(sink), buffer_(piece_size) {
    ready_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  Status add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      std::size_t taken = std::min(bytes.size(), piece_size);
      IT_TRY_VOID(run(bytes.first(taken), Z_NO_FLUSH));
      bytes = bytes.subspan(taken);
    }
    return {};
  }
  Status finish() { return run({}, Z_FINISH); }

 private:
  Status run(std::span<const std::byte> bytes, int flush) {
    if (!ready_) return run_failed("zip: no memory to deflate");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      std::size_t made = buffer_.size() - stream_.avail_out;
      if (made > 0) IT_TRY_VOID(sink_(std::span<const std::byte>(buffer_).first(made)));
    } while (stream_.avail_out == 0);
    return {};
  }

  const ByteSink& sink_;
  std::vector<std::byte> buffer_;
  z_stream stream_{};
  bool ready_ = false;
};

// Sends the content on as it will be stored.
Status emit(const ZipWriter::Content& content, bool deflated, const ByteSink& sink) {
  if (!deflated) return content(sink);
  Deflater deflater(sink);
  IT_TRY_VOID(content([&](std::span<const std::byte> bytes) { return deflater.add(bytes); }));
  return deflater.finish();
}

}  // namespace

Status ZipWriter::put(std::span<const std::byte> bytes) {
  written_ += bytes.size();
  return sink_(bytes);
}

Status ZipWriter::put(const std::string& bytes) { return put(std::as_bytes(std::span(bytes))); }

Status ZipWriter::add(std::string name, const Content& content) {
  if (name.size() >= zip::wide16) return unsupported(text("zip: a name of ", name.size(), " bytes is longer than 65534"));
  if (!names_.insert(name).second) return bad_input(text("zip: two members are called ", quoted(name)));
  ZipMember member;
  member.name = std::move(name);
  member.method = deflate_ ? 8 : 0;
  member.offset = written_;
  uLong crc = 0;
  IT_TRY_VOID(content([&](std::span<const std::byte> bytes) {
    if (bytes.empty()) return Status();  // to zlib, no bytes may mean: start anew
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    member.size += bytes.size();
    return Status();
  }));
  member.crc = static_cast<std::uint32_t>(crc);
  member.stored_size = member.size;
  if (deflate_) {
    member.stored_size = 0;
    IT_TRY_VOID(emit(content, true, [&](std::span<const std::byte> bytes) {
      member.stored_size += bytes.size();
      return Status();
    }));
  }
  IT_TRY_VOID(put(local_header(member)));
  std::uint64_t begin = written_;
  IT_TRY_VOID(emit(content, deflate_, [&](std::span<const std::byte> bytes) { return put(bytes); }));
  IT_CHECK(written_ - begin == member.stored_size);
  members_.push_back(std::move(member));
  return {};
}

Status ZipWriter::finish() {
  std::uint64_t offset = written_;
  for (const ZipMember& member : members_) IT_TRY_VOID(put(directory_entry(member)));
  return put(end_records(members_.size(), offset, written_ - offset));
}

}  // namespace infini
