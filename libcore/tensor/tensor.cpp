#include "libcore/tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "libcore/base/text.h"
#include "libcore/tensor/element.h"

namespace infini {
namespace {

// A cache line, and the widest vector register.
constexpr std::size_t alignment = 64;

// Strings are made one by one, so that the operating system would not refuse in time; 2^28 of them take 8 GiB empty.
constexpr std::int64_t most_strings = std::int64_t{1} << 28;

struct Block {
  std::shared_ptr<const void> owner;
  std::byte* bytes = nullptr;
};

// `size` zero bytes. calloc gets large blocks from the system untouched, so that zeros cost nothing until written.
Block allocate(std::size_t size) {
  void* base = std::calloc(1, size + alignment);
  if (base == nullptr) return {};
  auto address = reinterpret_cast<std::uintptr_t>(base);
  auto aligned = (address + alignment - 1) / alignment * alignment;
  return {std::shared_ptr<const void>(base, [](const void* p) { std::free(const_cast<void*>(p)); }),
          static_cast<std::byte*>(base) + (aligned - address)};
}

Error too_large(DType dtype, const Extents& extents) {
  return run_failed(text("a tensor ", name(dtype), to_string(extents), " cannot be made: negative or too many elements"));
}

// Sizes of more than 2^62 bits are not those of any memory; keeps byte_size from overflowing.
bool fits(DType dtype, std::int64_t count) {
  int bits = info(dtype).bits;
  return bits == 0 || count <= dim_limit / bits;
}

}  // namespace

std::optional<std::int64_t> element_count(const Extents& extents) {
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t extent : extents) {
    if (extent < 0 || extent >= dim_limit) return std::nullopt;
    empty = empty || extent == 0;
  }
  if (empty) return 0;
  for (std::int64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

Result<Tensor> Tensor::zeros(DType dtype, Extents extents) {
  IT_TRY(TensorWriter writer, TensorWriter::make(dtype, std::move(extents)));
  return std::move(writer).finish();
}

Result<Tensor> Tensor::owning(DType dtype, Extents extents, std::vector<std::byte> bytes) {
  std::optional<std::int64_t> count = element_count(extents);
  if (!count || !fits(dtype, *count)) return too_large(dtype, extents);
  std::size_t expected = byte_size(dtype, *count);
  if (dtype == DType::str || bytes.size() != expected) {
    return bad_input(text(name(dtype), to_string(extents), " takes ", expected, " bytes, found ", bytes.size()));
  }
  auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  std::span<const std::byte> span(*held);
  return view(dtype, std::move(extents), span, std::move(held));
}

Tensor Tensor::view(DType dtype, Extents extents, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  std::optional<std::int64_t> count = element_count(extents);
  IT_CHECK(count.has_value() && fits(dtype, *count) && dtype != DType::str && bytes.size() == byte_size(dtype, *count));
  Tensor out;
  out.dtype_ = dtype;
  out.extents_ = std::move(extents);
  out.count_ = *count;
  out.bytes_ = bytes;
  out.owner_ = std::move(owner);
  return out;
}

Tensor Tensor::of_strings(Extents extents, std::vector<std::string> strings) {
  std::optional<std::int64_t> count = element_count(extents);
  IT_CHECK(count.has_value() && static_cast<std::size_t>(*count) == strings.size());
  Tensor out;
  out.dtype_ = DType::str;
  out.extents_ = std::move(extents);
  out.count_ = *count;
  out.strings_ = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return out;
}

Tensor Tensor::scalar_i64(std::int64_t value) { return of<std::int64_t>(DType::i64, {}, {value}); }

Tensor Tensor::vector_i64(const std::vector<std::int64_t>& values) {
  return of(DType::i64, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor Tensor::reshaped(Extents extents) const {
  IT_CHECK(element_count(extents) == count_);
  Tensor out = *this;
  out.extents_ = std::move(extents);
  return out;
}

double Tensor::as_double(std::int64_t index) const {
  auto at = static_cast<std::size_t>(index);
  if (dtype_ == DType::f32) {
    float value = 0;
    std::memcpy(&value, bytes_.data() + at * sizeof value, sizeof value);
    return value;
  }
  if (dtype_ == DType::c64) return decode_float(DType::f32, load_bits(DType::f32, bytes_.data(), 2 * index));
  if (dtype_ == DType::c128) return decode_float(DType::f64, load_bits(DType::f64, bytes_.data(), 2 * index));
  return decode_float(dtype_, load_bits(dtype_, bytes_.data(), index));
}

std::int64_t Tensor::as_int(std::int64_t index) const {
  auto at = static_cast<std::size_t>(index);
  if (dtype_ == DType::i64) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes_.data() + at * sizeof value, sizeof value);
    return value;
  }
  if (is_integer(dtype_) || dtype_ == DType::boolean) return decode_int(dtype_, load_bits(dtype_, bytes_.data(), index));
  return truncate_to_int(as_double(index));
}

std::vector<std::int64_t> Tensor::to_ints() const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) out[static_cast<std::size_t>(i)] = as_int(i);
  return out;
}

Result<TensorWriter> TensorWriter::make(DType dtype, Extents extents) {
  std::optional<std::int64_t> count = element_count(extents);
  if (!count || !fits(dtype, *count)) return too_large(dtype, extents);
  TensorWriter out;
  out.tensor_.dtype_ = dtype;
  out.tensor_.extents_ = std::move(extents);
  out.tensor_.count_ = *count;
  if (dtype == DType::str) {
    if (*count > most_strings) return too_large(dtype, out.tensor_.extents_);
    out.strings_ = std::make_shared<std::vector<std::string>>(static_cast<std::size_t>(*count));
    out.tensor_.strings_ = out.strings_;
    return out;
  }
  std::size_t size = byte_size(dtype, *count);
  Block block = allocate(size);
  if (block.bytes == nullptr) {
    return run_failed(text("no memory for a tensor ", name(dtype), to_string(out.tensor_.extents_), " of ", human_bytes(size)));
  }
  out.bytes_ = block.bytes;
  out.tensor_.bytes_ = {block.bytes, size};
  out.tensor_.owner_ = std::move(block.owner);
  return out;
}

void TensorWriter::set_double(std::int64_t index, double value) {
  DType dtype = tensor_.dtype_;
  if (is_floating(dtype)) {
    store_bits(dtype, bytes_, index, encode_float(dtype, value));
  } else if (dtype == DType::boolean) {
    store_bits(dtype, bytes_, index, value != 0 ? 1 : 0);
  } else if (is_complex(dtype)) {
    DType part = dtype == DType::c64 ? DType::f32 : DType::f64;
    store_bits(part, bytes_, 2 * index, encode_float(part, value));
    store_bits(part, bytes_, 2 * index + 1, 0);
  } else if (dtype == DType::u64 && value >= 0x1p63) {
    store_bits(dtype, bytes_, index, static_cast<std::uint64_t>(value < 0x1p64 ? value : 0x1.fffffffffffffp63));
  } else {
    store_bits(dtype, bytes_, index, encode_int(dtype, truncate_to_int(value)));
  }
}

void TensorWriter::set_int(std::int64_t index, std::int64_t value) {
  DType dtype = tensor_.dtype_;
  if (is_integer(dtype) || dtype == DType::boolean) {
    store_bits(dtype, bytes_, index, encode_int(dtype, value));
  } else {
    set_double(index, static_cast<double>(value));
  }
}

Type Value::type() const {
  if (const Tensor* held_tensor = tensor()) return held_tensor->type();
  if (const Sequence* held_sequence = sequence()) return Type::sequence(held_sequence->element);
  if (const Optional* held_optional = optional()) return Type::optional(held_optional->element);
  const Map& map = std::get<Map>(held);
  return Type::map(map.key, map.items.empty() ? Type{} : map.items.front().type());
}

}  // namespace infini
