// ArgMax and ArgMin: where the extreme value along one axis stands, the first (or last) of equals; the first NaN, if there is one.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  const Shape* x = context.shape(0);
  if (!x) return one(Type::tensor(DType::i64));
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), x->size()));
  if ((*x)[axis] == Dim(0)) return bad_input(text("data is ", to_string(*x), "; axis ", axis, " is empty and has no extreme value"));
  Shape out = *x;
  if (context.attributes().integer("keepdims", 1) != 0) {
    out[axis] = Dim(1);
  } else {
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return one(Type::tensor(DType::i64, std::move(out)));
}

template <Op extreme>
Result<Program> meaning(const OpContext& context) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), x.size()));
  IT_TRY(std::vector<Type> types, infer(context));
  bool keep = context.attributes().integer("keepdims", 1) != 0, last = context.attributes().integer("select_last_index") != 0;
  Shape rows = x;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(axis));
  auto insert = [axis](Indices row, Expr k) {
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(axis), std::move(k));
    return row;
  };
  Meaning m(context);
  TensorRef best = m.define(context.dtype(0), rows, [&](const Indices& row) {
    return m.reduce(extreme, x[axis], [&](Expr k) { return m.in(0)(insert(row, k)); });
  });
  m.output(m.define(DType::i64, *types[0].shape, [&](const Indices& at) {
    Indices row = at;
    if (keep) row.erase(row.begin() + static_cast<std::ptrdiff_t>(axis));
    return m.reduce(last ? Op::max : Op::min, x[axis], [&](Expr k) {
      Expr element = m.in(0)(insert(row, k)), found = equal(element, best(row));
      if (is_floating(element.dtype())) found = either(found, unary(Op::is_nan, element));
      return select(found, k, last ? index(-1) : index(x[axis]));
    });
  }));
  return std::move(m).finish();
}

constexpr std::array<int, 4> versions = {1, 11, 12, 13};
constexpr std::array<Param, 1> inputs = {Param{"data", dtypes::numeric, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"reduced", DType::i64}};
constexpr std::array<AttributeDef, 3> attributes = {int_attribute("axis", 0), int_attribute("keepdims", 1), int_attribute("select_last_index", 0)};

const std::array table = {
    OpDef{"ArgMax", "Position of the maximum along one axis", versions, inputs, outputs, attributes, infer, meaning<Op::max>},
    OpDef{"ArgMin", "Position of the minimum along one axis", versions, inputs, outputs, attributes, infer, meaning<Op::min>},
};

}  // namespace

std::span<const OpDef> arg_reduce_ops() { return table; }

}  // namespace infini
