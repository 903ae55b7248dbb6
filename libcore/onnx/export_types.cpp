#include "libcore/onnx/export_types.h"

namespace infini::onnx_files {
namespace {

void set_dim(onnx::TensorShapeProto::Dimension& out, const Dim& dim) {
  if (auto number = dim.constant()) {
    out.set_dim_value(*number);
    return;
  }
  std::string name = dim.symbol_name().value_or(dim.to_string());
  if (name.find('#') == std::string::npos) out.set_dim_param(name);  // fresh symbols of inference are "#N"
}

template <class Message>  // TypeProto.Tensor or TypeProto.SparseTensor
void set_tensor(Message& out, const Type& type) {
  out.set_elem_type(static_cast<int>(type.dtype));
  if (!type.shape) return;
  auto* shape = out.mutable_shape();
  for (const Dim& dim : *type.shape) set_dim(*shape->add_dim(), dim);
}

}  // namespace

void set_type(onnx::TypeProto& out, const Type& type) {
  switch (type.kind) {
    case TypeKind::unknown: break;
    case TypeKind::tensor: set_tensor(*out.mutable_tensor_type(), type); break;
    case TypeKind::sparse_tensor: set_tensor(*out.mutable_sparse_tensor_type(), type); break;
    case TypeKind::sequence: set_type(*out.mutable_sequence_type()->mutable_elem_type(), *type.element); break;
    case TypeKind::optional: set_type(*out.mutable_optional_type()->mutable_elem_type(), *type.element); break;
    case TypeKind::map:
      out.mutable_map_type()->set_key_type(static_cast<int>(type.dtype));
      set_type(*out.mutable_map_type()->mutable_value_type(), *type.element);
      break;
  }
}

void set_value(onnx::ValueInfoProto& out, std::string_view name, const Type& type) {
  out.set_name(std::string(name));
  if (type.kind != TypeKind::unknown) set_type(*out.mutable_type(), type);
}

}  // namespace infini::onnx_files
