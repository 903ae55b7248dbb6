#include "libcore/onnx/attributes.h"

#include "libcore/base/text.h"

namespace infini::onnx_files {
namespace {

using Proto = onnx::AttributeProto;

Result<Tensor> dense_tensor(const onnx::SparseTensorProto& sparse, const Payloads& payloads) {
  IT_TRY(ConstantRef constant, constant_of(sparse, payloads));
  return load(*constant);
}

template <class Field>
auto copied(const Field& field) {
  return std::vector<typename Field::value_type>(field.begin(), field.end());
}

template <class T>
Result<AttributeValue> value_of(Result<T> result) {
  if (!result) return std::move(result.error());
  return AttributeValue(std::move(*result));
}

Result<AttributeValue> tensors_of(const Proto& attribute, const Payloads& payloads) {
  std::vector<Tensor> tensors;
  for (const auto& proto : attribute.tensors()) {
    IT_TRY(Tensor tensor, tensor_of(proto, payloads));
    tensors.push_back(std::move(tensor));
  }
  for (const auto& proto : attribute.sparse_tensors()) {
    IT_TRY(Tensor tensor, dense_tensor(proto, payloads));
    tensors.push_back(std::move(tensor));
  }
  return AttributeValue(std::move(tensors));
}

}  // namespace

Proto::AttributeType kind_of(const Proto& attribute) {
  if (attribute.has_type() && attribute.type() != Proto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Proto::FLOAT;
  if (attribute.has_i()) return Proto::INT;
  if (attribute.has_s()) return Proto::STRING;
  if (attribute.has_t()) return Proto::TENSOR;
  if (attribute.has_g()) return Proto::GRAPH;
  if (attribute.has_tp()) return Proto::TYPE_PROTO;
  if (attribute.has_sparse_tensor()) return Proto::SPARSE_TENSOR;
  if (attribute.floats_size() > 0) return Proto::FLOATS;
  if (attribute.ints_size() > 0) return Proto::INTS;
  if (attribute.strings_size() > 0) return Proto::STRINGS;
  if (attribute.tensors_size() > 0) return Proto::TENSORS;
  if (attribute.graphs_size() > 0) return Proto::GRAPHS;
  return Proto::UNDEFINED;
}

Result<AttributeValue> plain_value(const Proto& attribute, const Payloads& payloads, Dimensions& dimensions) {
  switch (kind_of(attribute)) {
    case Proto::FLOAT: return AttributeValue(attribute.f());
    case Proto::INT: return AttributeValue(std::int64_t{attribute.i()});
    case Proto::STRING: return AttributeValue(attribute.s());
    case Proto::TENSOR: return value_of(tensor_of(attribute.t(), payloads));
    case Proto::SPARSE_TENSOR: return value_of(dense_tensor(attribute.sparse_tensor(), payloads));
    case Proto::TYPE_PROTO: return value_of(type_of(attribute.tp(), attribute.name(), dimensions));
    case Proto::FLOATS: return AttributeValue(copied(attribute.floats()));
    case Proto::INTS: return AttributeValue(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
    case Proto::STRINGS: return AttributeValue(copied(attribute.strings()));
    case Proto::TENSORS:
    case Proto::SPARSE_TENSORS: return tensors_of(attribute, payloads);
    case Proto::TYPE_PROTOS: return unsupported(text("attribute '", attribute.name(), "' is a list of types, which no operator takes"));
    case Proto::GRAPH:
    case Proto::GRAPHS: return internal_error(text("attribute '", attribute.name(), "' is a graph"));
    case Proto::UNDEFINED: break;
  }
  return bad_input(text("attribute '", attribute.name(), "' holds no value and does not say its type"));
}

}  // namespace infini::onnx_files
