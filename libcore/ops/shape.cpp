// Sizes as values: Shape and Size.
#include <algorithm>
#include <array>

#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// The axes from start to end, counted from the back where negative and clamped.
std::pair<std::size_t, std::size_t> range_of(const OpContext& context, std::size_t rank) {
  auto r = static_cast<std::int64_t>(rank);
  auto position = [&](std::int64_t at) { return std::clamp(at < 0 ? at + r : at, std::int64_t{0}, r); };
  std::int64_t start = position(context.attributes().integer("start", 0)), end = position(context.attributes().integer("end", r));
  return {static_cast<std::size_t>(start), static_cast<std::size_t>(std::max(start, end))};
}

Result<std::vector<Type>> infer_shape(const OpContext& context) {
  if (!context.shape(0)) return one(fresh_tensor(context, DType::i64, 1));
  auto [start, end] = range_of(context, context.shape(0)->size());
  return one(Type::tensor(DType::i64, Shape{Dim(static_cast<std::int64_t>(end - start))}));
}

Result<Program> shape_meaning(const OpContext& context) {
  const Shape& shape = *context.shape(0);
  auto [start, end] = range_of(context, shape.size());
  Shape chosen(shape.begin() + static_cast<std::ptrdiff_t>(start), shape.begin() + static_cast<std::ptrdiff_t>(end));
  return elementwise_meaning(context, DType::i64, {Dim(static_cast<std::int64_t>(chosen.size()))}, [&](Meaning&, const Indices& at) {
    Expr value = index(std::int64_t{0});
    for (std::size_t i = chosen.size(); i-- > 0;) value = select(equal(at[0], index(static_cast<std::int64_t>(i))), index(chosen[i]), value);
    return value;
  });
}

Result<std::vector<Type>> infer_size(const OpContext&) { return one(Type::tensor(DType::i64, Shape{})); }

Result<Program> size_meaning(const OpContext& context) {
  return elementwise_meaning(context, DType::i64, {}, [&](Meaning&, const Indices&) { return index(element_count(*context.shape(0))); });
}

constexpr std::array<int, 8> shape_versions = {1, 13, 15, 19, 21, 23, 24, 25};
constexpr std::array<int, 7> size_versions = {1, 13, 19, 21, 23, 24, 25};
constexpr std::array<Param, 1> inputs = {Param{"data", dtypes::any, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"shape", DType::i64}};
constexpr std::array<AttributeDef, 2> attributes = {int_attribute("start", 0), optional_attribute("end", AttributeKind::integer)};

const std::array table = {
    OpDef{"Shape", "Extents of the input as a vector", shape_versions, inputs, outputs, attributes, infer_shape, shape_meaning},
    OpDef{"Size", "Count of the input's elements", size_versions, inputs, outputs, {}, infer_size, size_meaning},
};

}  // namespace

std::span<const OpDef> shape_ops() { return table; }

}  // namespace infini
