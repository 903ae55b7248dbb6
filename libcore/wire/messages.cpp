#include "libcore/wire/messages.h"

#include <array>
#include <optional>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"

namespace infini::wire {
namespace {

constexpr std::array<std::pair<ErrorKind, std::string_view>, 6> error_kinds = {{
    {ErrorKind::usage, "usage"},
    {ErrorKind::bad_input, "bad_input"},
    {ErrorKind::unsupported, "unsupported"},
    {ErrorKind::run_failed, "run_failed"},
    {ErrorKind::io, "io"},
    {ErrorKind::internal, "internal"},
}};

v1::Dim encode_dim(const Dim& dim) {
  v1::Dim message;
  if (auto number = dim.constant()) {
    message.set_number(*number);
  } else {
    message.set_expression(dim.to_string());
  }
  return message;
}

Result<Dim> decode_dim(const v1::Dim& message) {
  switch (message.kind_case()) {
    case v1::Dim::kNumber: return Dim(message.number());
    case v1::Dim::kExpression: return within("dimension", Dim::parse(message.expression()));
    case v1::Dim::KIND_NOT_SET: break;
  }
  return bad_input("a dimension is neither a number nor an expression");
}

v1::TensorType encode_tensor_type(const Type& type) {
  v1::TensorType message;
  message.set_element_type(static_cast<std::uint32_t>(type.dtype));
  if (type.shape) {
    v1::Shape& shape = *message.mutable_shape();
    for (const Dim& dim : *type.shape) *shape.add_dims() = encode_dim(dim);
  }
  return message;
}

Result<Type> decode_tensor_type(const v1::TensorType& message, TypeKind kind) {
  Type type;
  type.kind = kind;
  IT_TRY(type.dtype, decode_dtype(message.element_type()));
  if (message.has_shape()) {
    type.shape.emplace();
    for (const v1::Dim& dim : message.shape().dims()) {
      IT_TRY(Dim decoded, decode_dim(dim));
      type.shape->push_back(std::move(decoded));
    }
  }
  return type;
}

Result<Type> decode_type(const v1::Type& message, int depth) {
  if (depth > nesting_limit) return bad_input(text("a type has more than ", nesting_limit, " levels"));
  switch (message.kind_case()) {
    case v1::Type::kTensor: return decode_tensor_type(message.tensor(), TypeKind::tensor);
    case v1::Type::kSparseTensor: return decode_tensor_type(message.sparse_tensor(), TypeKind::sparse_tensor);
    case v1::Type::kSequence: {
      IT_TRY(Type element, decode_type(message.sequence(), depth + 1));
      return Type::sequence(std::move(element));
    }
    case v1::Type::kOptional: {
      IT_TRY(Type element, decode_type(message.optional(), depth + 1));
      return Type::optional(std::move(element));
    }
    case v1::Type::kMap: {
      IT_TRY(DType key, decode_dtype(message.map().key_type()));
      IT_TRY(Type element, decode_type(message.map().value(), depth + 1));
      return Type::map(key, std::move(element));
    }
    case v1::Type::KIND_NOT_SET: break;
  }
  return Type{};
}

}  // namespace

v1::Digest encode_digest(Hash128 digest) {
  v1::Digest message;
  message.set_high(digest.high);
  message.set_low(digest.low);
  return message;
}

Hash128 decode_digest(const v1::Digest& message) { return {message.high(), message.low()}; }

v1::Error encode_error(const Error& error, int status) {
  v1::Error message;
  message.set_status(static_cast<std::uint32_t>(status));
  for (const auto& [kind, word] : error_kinds) {
    if (kind == error.kind) message.set_kind(std::string(word));
  }
  message.set_message(error.message);
  message.set_where(error.where);
  message.set_reported(error.reported);
  return message;
}

Error decode_error(const v1::Error& message) {
  Error error;
  for (const auto& [kind, word] : error_kinds) {
    if (word == message.kind()) error.kind = kind;
  }
  error.message = message.message();
  error.where = message.where();
  error.reported = message.reported();
  error.status = message.status() <= 255 ? static_cast<int>(message.status()) : 0;
  return error;
}

Result<DType> decode_dtype(std::uint32_t number) {
  if (number == 0) return DType::none;
  std::optional<DType> dtype = dtype_from_onnx(number);
  if (!dtype) return bad_input(text("element type ", number, " is unknown"));
  return *dtype;
}

v1::Type encode_type(const Type& type) {
  v1::Type message;
  switch (type.kind) {
    case TypeKind::unknown: break;
    case TypeKind::tensor: *message.mutable_tensor() = encode_tensor_type(type); break;
    case TypeKind::sparse_tensor: *message.mutable_sparse_tensor() = encode_tensor_type(type); break;
    case TypeKind::sequence: *message.mutable_sequence() = encode_type(*type.element); break;
    case TypeKind::optional: *message.mutable_optional() = encode_type(*type.element); break;
    case TypeKind::map:
      message.mutable_map()->set_key_type(static_cast<std::uint32_t>(type.dtype));
      *message.mutable_map()->mutable_value() = encode_type(*type.element);
      break;
  }
  return message;
}

Result<Type> decode_type(const v1::Type& message) { return decode_type(message, 0); }

v1::LedgerEntry encode_entry(const LedgerEntry& entry) {
  v1::LedgerEntry message;
  message.set_tool(entry.tool);
  message.set_version(entry.version);
  message.set_options(entry.options);
  if (entry.before) *message.mutable_before() = encode_digest(*entry.before);
  if (entry.after) *message.mutable_after() = encode_digest(*entry.after);
  return message;
}

LedgerEntry decode_entry(const v1::LedgerEntry& message) {
  LedgerEntry entry{message.tool(), message.version(), message.options(), std::nullopt, std::nullopt};
  if (message.has_before()) entry.before = decode_digest(message.before());
  if (message.has_after()) entry.after = decode_digest(message.after());
  return entry;
}

}  // namespace infini::wire
