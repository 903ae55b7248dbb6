#include "libcore/onnx/payload.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "libcore/base/text.h"
#include "libcore/onnx/external_data.h"
#include "libcore/onnx/scan.h"
#include "libcore/tensor/element.h"

namespace infini::onnx_files {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little endian");

struct Header {
  DType dtype = DType::none;
  Extents extents;
  std::int64_t count = 0;
  std::size_t bytes = 0;
};

std::string describe(const Header& header) { return text(name(header.dtype), to_string(header.extents)); }

Result<Header> header_of(const onnx::TensorProto& tensor) {
  Header header;
  std::optional<DType> dtype = dtype_from_onnx(tensor.data_type());
  if (!dtype) return bad_input(text("has element type ", tensor.data_type(), "; known are 1 to ", dtype_count - 1));
  header.dtype = *dtype;
  header.extents.assign(tensor.dims().begin(), tensor.dims().end());
  std::optional<std::int64_t> count = element_count(header.extents);
  if (!count || *count > (INT64_MAX >> 5)) return bad_input(text("has the shape ", to_string(header.extents), ", which no tensor can have"));
  if (tensor.has_segment()) return bad_input("is stored in segments, which nothing has ever used");
  header.count = *count;
  header.bytes = byte_size(header.dtype, header.count);
  return header;
}

Error wrong_size(const Header& header, std::uint64_t found, std::string_view unit, std::uint64_t expected) {
  return bad_input(text("is ", describe(header), ", which takes ", expected, " ", unit, ", but has ", found));
}

// One entry of a typed field per element, stored as `Stored`.
template <class Stored, class Field>
std::vector<std::byte> narrowed(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(Stored));
  std::byte* out = bytes.data();
  for (auto entry : field) {
    Stored stored = static_cast<Stored>(entry);
    std::memcpy(out, &stored, sizeof stored);
    out += sizeof stored;
  }
  return bytes;
}

// int32_data holds the bits of everything of at most 32 of them; packed types one byte per entry.
template <class Stored>
Result<std::vector<std::byte>> from_int32_data(const onnx::TensorProto& tensor) {
  constexpr std::int64_t end = std::int64_t{1} << (8 * sizeof(Stored)), begin = -end / 2;
  for (std::int32_t entry : tensor.int32_data()) {
    if (entry < begin || entry >= end) return bad_input(text("has ", entry, " in int32_data, which does not fit into ", 8 * sizeof(Stored), " bits"));
  }
  return narrowed<Stored>(tensor.int32_data());
}

Result<std::vector<std::byte>> from_typed_field(const onnx::TensorProto& tensor, DType dtype) {
  if (dtype == DType::f32 || dtype == DType::c64) return narrowed<float>(tensor.float_data());
  if (dtype == DType::f64 || dtype == DType::c128) return narrowed<double>(tensor.double_data());
  if (dtype == DType::i64) return narrowed<std::int64_t>(tensor.int64_data());
  if (dtype == DType::u64) return narrowed<std::uint64_t>(tensor.uint64_data());
  if (dtype == DType::u32) return narrowed<std::uint32_t>(tensor.uint64_data());
  if (dtype == DType::boolean) {
    std::vector<std::byte> bytes;
    for (std::int32_t entry : tensor.int32_data()) bytes.push_back(std::byte{entry != 0});
    return bytes;
  }
  int bits = info(dtype).bits;
  if (bits == 32) return from_int32_data<std::int32_t>(tensor);
  return bits == 16 ? from_int32_data<std::uint16_t>(tensor) : from_int32_data<std::uint8_t>(tensor);
}

bool has_typed_field(const onnx::TensorProto& t) {
  return t.float_data_size() + t.int32_data_size() + t.int64_data_size() + t.double_data_size() + t.uint64_data_size() + t.string_data_size() > 0;
}

Result<Tensor> strings_of(const onnx::TensorProto& tensor, const Header& header) {
  if (tensor.string_data_size() != header.count) {
    return wrong_size(header, static_cast<std::uint64_t>(tensor.string_data_size()), "strings", static_cast<std::uint64_t>(header.count));
  }
  return Tensor::of_strings(header.extents, {tensor.string_data().begin(), tensor.string_data().end()});
}

// Where the bytes of a tensor are: in the message or owned already (bytes), or in a file (range).
struct Found {
  std::vector<std::byte> bytes;
  std::shared_ptr<const std::vector<std::byte>> shared;
  std::optional<FileRange> range;
  std::uint64_t size() const { return range ? range->length : shared ? shared->size() : bytes.size(); }
};

Result<Found> find_bytes(const onnx::TensorProto& tensor, const Header& header, const Payloads& payloads) {
  Found found;
  std::optional<std::size_t> number = cut_number(tensor);
  bool external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if ((number || external || tensor.has_raw_data()) && has_typed_field(tensor)) return bad_input("has its elements in two places, one of them a typed field");
  if (external) {
    IT_TRY(found.range, external_range(tensor, payloads.folder));
  } else if (number) {
    if (*number >= payloads.cuts.size()) return bad_input("has a field that no tensor has");
    const Cut& cut = payloads.cuts[*number];
    found.shared = cut.bytes;
    if (!cut.bytes) {
      found.range = payloads.file;
      found.range->offset = cut.offset;
      found.range->length = cut.length;
    }
  } else if (tensor.has_raw_data()) {
    const auto* raw = reinterpret_cast<const std::byte*>(tensor.raw_data().data());
    found.bytes.assign(raw, raw + tensor.raw_data().size());
  } else {
    IT_TRY(found.bytes, from_typed_field(tensor, header.dtype));
  }
  if (found.size() != header.bytes) return wrong_size(header, found.size(), "bytes", header.bytes);
  return found;
}

Result<Tensor> in_memory(const Header& header, Found found) {
  if (found.range) {
    IT_TRY(found.bytes, read_range(*found.range));
  } else if (found.shared) {
    return Tensor::view(header.dtype, header.extents, *found.shared, found.shared);
  }
  return Tensor::owning(header.dtype, header.extents, std::move(found.bytes));
}

Result<ConstantRef> make(const onnx::TensorProto& tensor, const Payloads& payloads) {
  IT_TRY(Header header, header_of(tensor));
  if (header.dtype == DType::str) {
    IT_TRY(Tensor strings, strings_of(tensor, header));
    return make_constant(std::move(strings));
  }
  bool large = header.bytes > inline_limit;
  bool external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  if (large && payloads.no_weights && external) return std::make_shared<const Constant>(Constant{header.dtype, header.extents, AbsentPayload{}, {}});
  IT_TRY(Found found, find_bytes(tensor, header, payloads));
  if (large && payloads.no_weights) return std::make_shared<const Constant>(Constant{header.dtype, header.extents, AbsentPayload{}, {}});
  if (large && found.range) return std::make_shared<const Constant>(Constant{header.dtype, header.extents, FilePayload{*found.range}, {}});
  IT_TRY(Tensor held, in_memory(header, std::move(found)));
  return make_constant(std::move(held));
}

Result<Tensor> make_tensor(const onnx::TensorProto& tensor, const Payloads& payloads) {
  IT_TRY(Header header, header_of(tensor));
  if (header.dtype == DType::str) return strings_of(tensor, header);
  IT_TRY(Found found, find_bytes(tensor, header, payloads));
  return in_memory(header, std::move(found));
}

// Where value number `k` of a sparse tensor goes: indices are flat [n], or one row of coordinates each [n,rank].
Result<std::int64_t> dense_position(const Tensor& indices, std::int64_t k, const Extents& extents) {
  auto rank = static_cast<std::int64_t>(extents.size());
  std::int64_t position = 0;
  if (indices.rank() == 1) {
    position = indices.as_int(k);
    if (position < 0 || position >= *element_count(extents)) return bad_input(text("has the index ", position, " outside ", to_string(extents)));
    return position;
  }
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    std::int64_t at = indices.as_int(k * rank + axis), extent = extents[static_cast<std::size_t>(axis)];
    if (at < 0 || at >= extent) return bad_input(text("has the index ", at, " on axis ", axis, ", outside ", to_string(extents)));
    position = position * extent + at;
  }
  return position;
}

Result<ConstantRef> make_dense(const onnx::SparseTensorProto& sparse, const Payloads& payloads) {
  IT_TRY(Tensor values, make_tensor(sparse.values(), payloads));
  IT_TRY(Tensor indices, make_tensor(sparse.indices(), payloads));
  Extents extents(sparse.dims().begin(), sparse.dims().end());
  std::optional<std::int64_t> count = element_count(extents);
  if (!count) return bad_input(text("has the shape ", to_string(extents), ", which no tensor can have"));
  if (values.dtype() == DType::str || info(values.dtype()).bits > 64) return unsupported(text("is a sparse tensor of ", name(values.dtype())));
  if (*count > (INT64_MAX >> 5) || byte_size(values.dtype(), *count) > dense_limit) {
    return unsupported(text("is ", name(values.dtype()), to_string(extents), " sparse; as a dense tensor it is larger than ", human_bytes(dense_limit)));
  }
  bool flat = indices.rank() == 1 && indices.extents()[0] == values.count();
  bool rows = indices.rank() == 2 && indices.extents() == Extents{values.count(), static_cast<std::int64_t>(extents.size())};
  if (indices.dtype() != DType::i64 || values.rank() != 1 || !(flat || rows)) {
    return bad_input(text("has values ", to_string(values.type()), " and indices ", to_string(indices.type()), "; expected [n] and i64[n] or i64[n,rank]"));
  }
  IT_TRY(TensorWriter dense, TensorWriter::make(values.dtype(), extents));
  for (std::int64_t k = 0; k < values.count(); ++k) {
    IT_TRY(std::int64_t position, dense_position(indices, k, extents));
    store_bits(values.dtype(), dense.bytes(), position, load_bits(values.dtype(), values.bytes().data(), k));
  }
  return make_constant(std::move(dense).finish());
}

// "tensor 'w' is f32[2], which takes ...": the messages above lack their subject.
template <class T>
Result<T> named(std::string_view subject, Result<T> result) {
  if (!result) result.error().message = text("tensor '", subject, "' ", result.error().message);
  return result;
}

}  // namespace

Result<ConstantRef> constant_of(const onnx::TensorProto& tensor, const Payloads& payloads) { return named(tensor.name(), make(tensor, payloads)); }

Result<Tensor> tensor_of(const onnx::TensorProto& tensor, const Payloads& payloads) { return named(tensor.name(), make_tensor(tensor, payloads)); }

Result<ConstantRef> constant_of(const onnx::SparseTensorProto& sparse, const Payloads& payloads) {
  return named(sparse.values().name(), make_dense(sparse, payloads));
}

}  // namespace infini::onnx_files
