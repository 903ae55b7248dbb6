#include "libcore/tensor/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/tensor/element.h"
#include "libcore/tensor/npy_header.h"
#include "libcore/tensor/npy_text.h"

namespace infini {
namespace {

constexpr std::size_t piece_size = std::size_t{1} << 16;

bool is_packed(DType dtype) { return info(dtype).bits > 0 && info(dtype).bits < 8; }

// Types whose bytes NumPy understands, by kind and size.
struct Known {
  char kind;
  std::size_t size;
  DType dtype;
};
constexpr Known known[] = {
    {'f', 2, DType::f16}, {'f', 4, DType::f32}, {'f', 8, DType::f64}, {'i', 1, DType::i8},      {'i', 2, DType::i16},
    {'i', 4, DType::i32}, {'i', 8, DType::i64}, {'u', 1, DType::u8},  {'u', 2, DType::u16},     {'u', 4, DType::u32},
    {'u', 8, DType::u64}, {'c', 8, DType::c64}, {'c', 16, DType::c128}, {'b', 1, DType::boolean},
};

// Bytes of one element in the file.
std::size_t raw_size(DType dtype) { return dtype == DType::bf16 ? 2 : 1; }

Result<DType> dtype_of(const NpyDescr& descr, const NpyLimits& limits) {
  if (descr.kind == 'U' || descr.kind == 'S') return DType::str;
  for (const Known& k : known) {
    if (k.kind == descr.kind && k.size == descr.size) return k.dtype;
  }
  std::string what = text("npy: elements are raw, of ", descr.size, " bytes each");
  if (!limits.dtype) return unsupported(what + "; which type they hold must be said (bf16, i4, ...)");
  if (!travels_raw(*limits.dtype) || raw_size(*limits.dtype) != descr.size) {
    return bad_input(text(what, ", which does not suit ", name(*limits.dtype)));
  }
  return *limits.dtype;
}

struct Source {
  NpyHeader header;
  DType dtype = DType::none;
  std::int64_t count = 0;
  std::span<const std::byte> data;
};

// Bytes of the file, by its header. begin: the header whole, and any of the data.
Result<std::uint64_t> announced_bytes(std::span<const std::byte> begin) {
  IT_TRY(NpyHeader header, parse_npy_header(begin));
  std::optional<std::int64_t> count = element_count(header.shape);
  std::uint64_t bytes = 0;
  bool over = !count || __builtin_mul_overflow(static_cast<std::uint64_t>(*count), header.descr.size, &bytes) || __builtin_add_overflow(bytes, header.data_offset, &bytes);
  return over ? UINT64_MAX : bytes;
}

Result<Source> examine(std::span<const std::byte> bytes, const NpyLimits& limits) {
  Source out;
  IT_TRY(out.header, parse_npy_header(bytes));
  const NpyHeader& header = out.header;
  IT_TRY(out.dtype, dtype_of(header.descr, limits));
  std::optional<std::int64_t> count = element_count(header.shape);
  std::uint64_t expected = 0;
  if (!count || __builtin_mul_overflow(static_cast<std::uint64_t>(*count), header.descr.size, &expected)) {
    return bad_input(text("npy: the shape ", to_string(header.shape), " has too many elements"));
  }
  out.count = *count;
  out.data = bytes.subspan(header.data_offset);
  if (out.data.size() != expected) {
    return bad_input(text("npy: ", name(out.dtype), to_string(header.shape), " takes ", expected, " bytes of data, found ", out.data.size()));
  }
  std::uint64_t memory = byte_size(out.dtype, out.count);
  // Every string takes room of its own, also where its element in the file has none.
  if (out.dtype == DType::str && __builtin_mul_overflow(static_cast<std::uint64_t>(out.count), sizeof(std::string) + header.descr.size, &memory)) {
    memory = UINT64_MAX;
  }
  if (memory > limits.bytes || (header.descr.size == 0 && out.count > static_cast<std::int64_t>(piece_size))) {
    return bad_input(text("npy: ", name(out.dtype), to_string(header.shape), " is larger than the limit of ", limits.bytes, " bytes"));
  }
  return out;
}

// Calls take(i, j) for each element i in row-major order, j being its place in the file.
template <class Take>
void for_each_element(const NpyHeader& header, std::int64_t count, const Take& take) {
  std::size_t rank = header.shape.size();
  if (!header.fortran_order || rank < 2) {
    for (std::int64_t i = 0; i < count; ++i) take(i, i);
    return;
  }
  std::array<std::int64_t, most_npy_axes> strides{1};
  for (std::size_t axis = 1; axis < rank; ++axis) strides[axis] = strides[axis - 1] * header.shape[axis - 1];
  std::array<std::int64_t, most_npy_axes> at{};
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    take(i, place);
    for (std::size_t axis = rank; axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < header.shape[axis]) break;
      place -= strides[axis] * header.shape[axis];
      at[axis] = 0;
    }
  }
}

Result<std::string> decoded_text(std::span<const std::byte> element, const NpyDescr& descr) {
  if (descr.kind == 'S') {
    std::string out(reinterpret_cast<const char*>(element.data()), element.size());
    out.erase(out.find_last_not_of('\0') + 1);
    return out;
  }
  std::u32string points(element.size() / 4, U'\0');
  if (!points.empty()) std::memcpy(points.data(), element.data(), element.size());
  if (descr.swapped) {
    for (char32_t& point : points) point = __builtin_bswap32(point);
  }
  points.erase(points.find_last_not_of(U'\0') + 1);
  std::optional<std::string> out = to_utf8(points);
  if (!out) return bad_input("npy: a string holds a number that is no Unicode character");
  return *out;
}

Result<Tensor> read_strings(const Source& source) {
  IT_TRY(TensorWriter writer, TensorWriter::make(DType::str, source.header.shape));
  Status status;
  std::size_t size = source.header.descr.size;
  for_each_element(source.header, source.count, [&](std::int64_t i, std::int64_t place) {
    if (!status) return;
    Result<std::string> element = decoded_text(source.data.subspan(static_cast<std::size_t>(place) * size, size), source.header.descr);
    if (element) {
      writer.strings()[static_cast<std::size_t>(i)] = std::move(*element);
    } else {
      status = std::move(element.error());
    }
  });
  if (!status) return std::move(status.error());
  return std::move(writer).finish();
}

// Turns each run of `size` bytes around.
void reverse_each(std::byte* bytes, std::size_t total, std::size_t size) {
  for (std::size_t at = 0; at < total; at += size) std::reverse(bytes + at, bytes + at + size);
}

Result<Tensor> read_copied(const Source& source) {
  IT_TRY(TensorWriter writer, TensorWriter::make(source.dtype, source.header.shape));
  const std::byte* from = source.data.data();
  std::byte* to = writer.bytes();
  std::size_t size = source.header.descr.size;
  if (is_packed(source.dtype)) {
    for_each_element(source.header, source.count, [&](std::int64_t i, std::int64_t place) {
      store_bits(source.dtype, to, i, std::to_integer<std::uint64_t>(from[place]));
    });
  } else if (!source.header.fortran_order || source.header.shape.size() < 2) {
    if (source.count > 0) std::memcpy(to, from, source.data.size());
  } else {
    for_each_element(source.header, source.count, [&](std::int64_t i, std::int64_t place) {
      std::memcpy(to + static_cast<std::size_t>(i) * size, from + static_cast<std::size_t>(place) * size, size);
    });
  }
  std::size_t part = is_complex(source.dtype) ? size / 2 : size;
  if (source.header.descr.swapped && part > 1) reverse_each(to, source.data.size(), part);
  if (source.dtype == DType::boolean) {
    for (std::size_t i = 0; i < source.data.size(); ++i) to[i] = to[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return std::move(writer).finish();
}

bool lies_as_a_tensor(const Source& source) {
  bool turned = source.header.fortran_order && source.header.shape.size() > 1;
  std::size_t alignment = std::min<std::size_t>(source.header.descr.size, 8);
  bool aligned = reinterpret_cast<std::uintptr_t>(source.data.data()) % std::max<std::size_t>(alignment, 1) == 0;
  if (turned || source.header.descr.swapped || is_packed(source.dtype) || !aligned) return false;
  return source.dtype != DType::boolean || std::ranges::all_of(source.data, [](std::byte b) { return b <= std::byte{1}; });
}

std::string descr_of(DType dtype) {
  if (travels_raw(dtype)) return raw_size(dtype) == 2 ? "<V2" : "|V1";
  for (const Known& k : known) {
    if (k.dtype == dtype) return text(k.size == 1 ? '|' : '<', k.kind, k.size);
  }
  return {};
}

Status write_strings(const Tensor& tensor, const ByteSink& sink) {
  std::size_t longest = 1;  // NumPy has no strings of no character
  for (const std::string& s : tensor.strings()) longest = std::max(longest, to_utf32(s).size());
  std::string header = npy_header(text("<U", longest), tensor.extents());
  IT_TRY_VOID(sink(std::as_bytes(std::span(header))));
  for (const std::string& s : tensor.strings()) {
    std::u32string element = to_utf32(s);
    element.resize(longest, U'\0');
    IT_TRY_VOID(sink(std::as_bytes(std::span(element))));
  }
  return {};
}

Status write_unpacked(const Tensor& tensor, const ByteSink& sink) {
  std::vector<std::byte> piece;
  piece.reserve(piece_size);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    piece.push_back(static_cast<std::byte>(load_bits(tensor.dtype(), tensor.bytes().data(), i)));
    if (piece.size() == piece_size || i + 1 == tensor.count()) {
      IT_TRY_VOID(sink(piece));
      piece.clear();
    }
  }
  return {};
}

}  // namespace

bool travels_raw(DType dtype) { return dtype == DType::bf16 || (info(dtype).bits > 0 && (dtypes::narrow_floats | dtypes::packed_ints).contains(dtype)); }

Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const NpyLimits& limits) {
  IT_TRY(Source source, examine(bytes, limits));
  if (source.dtype == DType::str) return read_strings(source);
  if (owner && lies_as_a_tensor(source)) return Tensor::view(source.dtype, source.header.shape, source.data, std::move(owner));
  return read_copied(source);
}

Result<Tensor> load_npy(const std::string& path, const NpyLimits& limits) {
  if (Result<MappedFile> file = path == "-" ? io_error("not a file") : MappedFile::open(path)) {
    return within(path, read_npy(file->bytes(), file->owner(), limits));
  }
  // A file takes at most four times the memory (2-bit types travel one per byte), and its header.
  constexpr std::uint64_t header = 2 * piece_size;
  std::uint64_t most = limits.bytes > (UINT64_MAX - header) / 4 ? UINT64_MAX : limits.bytes * 4 + header;
  IT_TRY(std::vector<std::byte> bytes, read_file(path, most, announced_bytes));
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return within(path, read_npy(*owner, owner, limits));
}

Status write_npy(const Tensor& tensor, const ByteSink& sink) {
  if (tensor.dtype() == DType::none) return internal_error("npy: a tensor without a type");
  if (tensor.dtype() == DType::str) return write_strings(tensor, sink);
  std::string header = npy_header(descr_of(tensor.dtype()), tensor.extents());
  IT_TRY_VOID(sink(std::as_bytes(std::span(header))));
  if (is_packed(tensor.dtype())) return write_unpacked(tensor, sink);
  return tensor.bytes().empty() ? Status() : sink(tensor.bytes());
}

Status save_npy(const std::string& path, const Tensor& tensor) {
  IT_TRY(FileWriter file, FileWriter::open(path));
  IT_TRY_VOID(write_npy(tensor, [&](std::span<const std::byte> bytes) { return file.write(bytes); }));
  return file.commit();
}

}  // namespace infini
