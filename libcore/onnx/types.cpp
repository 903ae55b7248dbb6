#include "libcore/onnx/types.h"

#include "libcore/base/text.h"

namespace infini::onnx_files {
namespace {

constexpr int type_nesting_limit = 16;
constexpr int rank_limit = 64;

Result<DType> dtype_of(std::int32_t number) {
  if (auto dtype = dtype_from_onnx(number)) return *dtype;
  return bad_input(text("has element type ", number, "; known are 1 to ", dtype_count - 1));
}

// Exporters write "?" where they know nothing; two of them need not be the same size.
bool names_a_size(std::string_view dim_param) { return !dim_param.empty() && dim_param != "?"; }

class TypeReader {
 public:
  TypeReader(std::string_view name, Dimensions& dimensions) : name_(name), dimensions_(dimensions) {}

  Result<Type> read(const onnx::TypeProto& type, int depth) {
    if (depth > type_nesting_limit) return bad_input(text("has a type nested deeper than ", type_nesting_limit));
    if (type.has_tensor_type()) return tensor(type.tensor_type());
    if (type.has_sequence_type()) {
      IT_TRY(Type element, read(type.sequence_type().elem_type(), depth + 1));
      return Type::sequence(std::move(element));
    }
    if (type.has_optional_type()) {
      IT_TRY(Type element, read(type.optional_type().elem_type(), depth + 1));
      return Type::optional(std::move(element));
    }
    if (type.has_map_type()) {
      IT_TRY(DType key, dtype_of(type.map_type().key_type()));
      IT_TRY(Type element, read(type.map_type().value_type(), depth + 1));
      return Type::map(key, std::move(element));
    }
    if (type.has_sparse_tensor_type()) {
      IT_TRY(Type dense, tensor(type.sparse_tensor_type()));
      dense.kind = TypeKind::sparse_tensor;
      return dense;
    }
    return Type{};
  }

 private:
  template <class Message>  // TypeProto.Tensor or TypeProto.SparseTensor
  Result<Type> tensor(const Message& message) {
    if (message.elem_type() == 0 && !message.has_shape()) return Type{};
    IT_TRY(DType dtype, dtype_of(message.elem_type()));
    if (!message.has_shape()) return Type::tensor(dtype);
    if (message.shape().dim_size() > rank_limit) return bad_input(text("has ", message.shape().dim_size(), " axes; at most ", rank_limit, " are taken"));
    Shape shape;
    for (int axis = 0; axis < message.shape().dim_size(); ++axis) shape.push_back(dim(message.shape().dim(axis), static_cast<std::size_t>(axis)));
    return Type::tensor(dtype, std::move(shape));
  }

  Dim dim(const onnx::TensorShapeProto::Dimension& dim, std::size_t axis) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) return Dim(dim.dim_value());
    if (names_a_size(dim.dim_param())) return dimensions_.named(dim.dim_param());
    return dimensions_.unnamed(name_, axis);
  }

  std::string_view name_;
  Dimensions& dimensions_;
};

void reserve_type(const onnx::TypeProto& type, Dimensions& dimensions, int depth = 0) {
  if (depth > type_nesting_limit) return;
  if (type.has_tensor_type()) {
    for (const auto& dim : type.tensor_type().shape().dim()) {
      if (names_a_size(dim.dim_param())) dimensions.reserve(dim.dim_param());
    }
  }
  if (type.has_sequence_type()) reserve_type(type.sequence_type().elem_type(), dimensions, depth + 1);
  if (type.has_optional_type()) reserve_type(type.optional_type().elem_type(), dimensions, depth + 1);
  if (type.has_map_type()) reserve_type(type.map_type().value_type(), dimensions, depth + 1);
}

}  // namespace

void Dimensions::replace(std::string symbol, Dim by) { replacements_.emplace_back(std::move(symbol), std::move(by)); }

Dim Dimensions::named(const std::string& symbol) const {
  for (const auto& [from, to] : replacements_) {
    if (from == symbol) return to;
  }
  return Dim::symbol(symbol);
}

Dim Dimensions::unnamed(std::string_view value, std::size_t axis) {
  std::string stem = text(value, "_", axis), name = stem;
  for (std::size_t n = 1; !taken_.insert(name).second; ++n) name = text(stem, "_", n);
  return named(name);
}

Type Dimensions::substituted(Type type) const {
  if (type.element) type.element = std::make_shared<const Type>(substituted(*type.element));
  if (!type.shape) return type;
  for (Dim& dim : *type.shape) {
    for (const auto& [from, to] : replacements_) dim = dim.substitute(from, to);
  }
  return type;
}

Result<Type> type_of(const onnx::TypeProto& type, std::string_view name, Dimensions& dimensions) {
  Result<Type> read = TypeReader(name, dimensions).read(type, 0);
  if (!read) read.error().message = text("value '", name, "' ", read.error().message);
  return read;
}

std::unordered_set<std::string_view> initializer_names(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

Result<std::vector<Type>> input_types(const onnx::GraphProto& graph, Dimensions& dimensions) {
  std::unordered_set<std::string_view> initialized = initializer_names(graph);
  std::vector<Type> types;
  for (const auto& input : graph.input()) {
    if (initialized.contains(input.name())) continue;
    IT_TRY(Type type, type_of(input.type(), input.name(), dimensions));
    types.push_back(std::move(type));
  }
  return types;
}

void reserve_symbols(const onnx::GraphProto& graph, Dimensions& dimensions) {
  for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
    for (const auto& value : *list) reserve_type(value.type(), dimensions);
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) reserve_symbols(attribute.g(), dimensions);
      for (const auto& nested : attribute.graphs()) reserve_symbols(nested, dimensions);
    }
  }
}

}  // namespace infini::onnx_files
