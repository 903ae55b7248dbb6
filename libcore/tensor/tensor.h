// Tensors: an element type, extents and bytes in row-major order (packed types packed, first element in the low bits).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/tensor/dim.h"
#include "libcore/tensor/dtype.h"
#include "libcore/tensor/type.h"

namespace infini {

// Product of extents; negative ones, those from dim_limit up, and an overflow give nothing.
std::optional<std::int64_t> element_count(const Extents& extents);

// An immutable tensor; copying shares the bytes. Strings live in `strings` instead of bytes.
class Tensor {
 public:
  Tensor() = default;
  // Zeros. run_failed if the extents are negative, overflow, or memory is short.
  static Result<Tensor> zeros(DType dtype, Extents extents);
  // Owns `bytes`, whose size must be byte_size(dtype, count).
  static Result<Tensor> owning(DType dtype, Extents extents, std::vector<std::byte> bytes);
  // Shares bytes that `owner` keeps alive.
  static Tensor view(DType dtype, Extents extents, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  static Tensor of_strings(Extents extents, std::vector<std::string> strings);
  template <class T>
  static Tensor of(DType dtype, Extents extents, const std::vector<T>& elements);
  static Tensor scalar_i64(std::int64_t value);
  static Tensor vector_i64(const std::vector<std::int64_t>& values);

  DType dtype() const { return dtype_; }
  const Extents& extents() const { return extents_; }
  std::size_t rank() const { return extents_.size(); }
  std::int64_t count() const { return count_; }
  Type type() const { return Type::tensor(dtype_, to_shape(extents_)); }
  std::span<const std::byte> bytes() const { return bytes_; }
  template <class T>
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  const std::vector<std::string>& strings() const { return *strings_; }
  // Same bytes, other extents of the same count.
  Tensor reshaped(Extents extents) const;

  // Element `index` in row-major order: as double for floats, ints and bool (f64 is exact; i64 beyond 2^53 rounds),
  // as int64 (floats truncate; u64 keeps its bits).
  double as_double(std::int64_t index) const;
  std::int64_t as_int(std::int64_t index) const;
  // All elements as int64.
  std::vector<std::int64_t> to_ints() const;

 private:
  friend class TensorWriter;
  DType dtype_ = DType::none;
  Extents extents_;
  std::int64_t count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

// Fills a new tensor, then hands it out as immutable.
class TensorWriter {
 public:
  static Result<TensorWriter> make(DType dtype, Extents extents);
  template <class T>
  T* data() { return reinterpret_cast<T*>(bytes_); }
  std::byte* bytes() { return bytes_; }
  std::vector<std::string>& strings() { return *strings_; }
  const Tensor& tensor() const { return tensor_; }
  // Element `index` from a number, rounded to the element type (to nearest even; integers wrap).
  void set_double(std::int64_t index, double value);
  void set_int(std::int64_t index, std::int64_t value);
  Tensor finish() && { return std::move(tensor_); }

 private:
  Tensor tensor_;
  std::byte* bytes_ = nullptr;
  std::shared_ptr<std::vector<std::string>> strings_;
};

struct Value;
struct Sequence {
  Type element;
  std::vector<Value> items;
};
struct Optional {
  Type element;
  std::shared_ptr<const Value> item;  // null: empty
};
// Keys are i64 or strings, in the order of the entries.
struct Map {
  DType key = DType::i64;
  std::vector<std::string> string_keys;
  std::vector<std::int64_t> int_keys;
  std::vector<Value> items;
};

// Anything a graph computes.
struct Value {
  std::variant<Tensor, Sequence, Optional, Map> held;

  Value() = default;
  Value(Tensor tensor) : held(std::move(tensor)) {}
  Value(Sequence sequence) : held(std::move(sequence)) {}
  Value(Optional optional) : held(std::move(optional)) {}
  Value(Map map) : held(std::move(map)) {}

  const Tensor* tensor() const { return std::get_if<Tensor>(&held); }
  const Sequence* sequence() const { return std::get_if<Sequence>(&held); }
  const Optional* optional() const { return std::get_if<Optional>(&held); }
  Type type() const;
};

template <class T>
Tensor Tensor::of(DType dtype, Extents extents, const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  std::copy_n(reinterpret_cast<const std::byte*>(elements.data()), bytes.size(), bytes.data());
  Result<Tensor> made = owning(dtype, std::move(extents), std::move(bytes));
  IT_CHECK(made.has_value());
  return std::move(*made);
}

}  // namespace infini
