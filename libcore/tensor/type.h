// Types of values: tensors and what is built of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/tensor/dim.h"
#include "libcore/tensor/dtype.h"

namespace infini {

enum class TypeKind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map };

// tensor: dtype and shape (nothing: the rank is not known). sequence, optional: element. map: dtype of the key, element.
struct Type {
  TypeKind kind = TypeKind::unknown;
  DType dtype = DType::none;
  std::optional<Shape> shape;
  std::shared_ptr<const Type> element;

  static Type tensor(DType dtype, std::optional<Shape> shape = std::nullopt) { return {TypeKind::tensor, dtype, std::move(shape), nullptr}; }
  static Type sequence(Type of) { return {TypeKind::sequence, DType::none, std::nullopt, std::make_shared<const Type>(std::move(of))}; }
  static Type optional(Type of) { return {TypeKind::optional, DType::none, std::nullopt, std::make_shared<const Type>(std::move(of))}; }
  static Type map(DType key, Type of) { return {TypeKind::map, key, std::nullopt, std::make_shared<const Type>(std::move(of))}; }

  bool is_tensor() const { return kind == TypeKind::tensor; }
  // True if it is a tensor whose rank is known.
  bool has_shape() const { return is_tensor() && shape.has_value(); }
  std::size_t rank() const { return shape->size(); }
};

bool operator==(const Type& a, const Type& b);

// "f32[1,batch,3]", "f32[?]" for an unknown rank, "seq(i64[2])", "optional(...)", "map(i64,f32[])", "sparse(f32[4,n])",
// "unknown".
std::string to_string(const Type& type);
// Reads what to_string prints.
Result<Type> parse_type(std::string_view text);
// The same for the type at the start of `rest`, which then begins behind it.
Result<Type> parse_type_prefix(std::string_view& rest);

}  // namespace infini
