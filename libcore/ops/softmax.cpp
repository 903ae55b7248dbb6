// Softmax and LogSoftmax along one axis, shifted by the maximum so that nothing overflows. As in ONNX's function bodies, each of the maximum,
// difference, exponential, sum and quotient is rounded to the tensor's own type.
#include <array>

#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  if (context.shape(0)) IT_TRY_VOID(normalise_axis(context.attributes().integer("axis", -1), context.shape(0)->size()));
  return infer_same(context);
}

template <bool logarithm>
Result<Program> meaning(const OpContext& context) {
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis", -1), x.size()));
  DType dtype = context.dtype(0);
  Shape rows = x;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(axis));
  auto insert = [axis](Indices row, Expr k) {
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(axis), std::move(k));
    return row;
  };
  auto row_of = [axis](Indices at) {
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    return at;
  };
  Meaning m(context);
  TensorRef highest = m.define(dtype, rows, [&](const Indices& row) {
    return m.reduce(Op::max, x[axis], [&](Expr k) { return m.in(0)(insert(row, k)); });
  });
  TensorRef e = m.define(dtype, x, [&](const Indices& at) { return unary(Op::exp, m.in(0)(at) - highest(row_of(at))); });
  TensorRef sum = m.define(dtype, rows, [&](const Indices& row) { return m.sum(x[axis], [&](Expr k) { return e(insert(row, k)); }); });
  m.output(m.define(dtype, x, [&](const Indices& at) {
    if (logarithm) return m.in(0)(at) - highest(row_of(at)) - unary(Op::log, sum(row_of(at)));
    return e(at) / sum(row_of(at));
  }));
  return std::move(m).finish();
}

constexpr std::array<int, 3> versions = {1, 11, 13};
constexpr std::array<Param, 1> inputs = {Param{"input", dtypes::floats, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::floats, "T"}};
constexpr std::array<AttributeDef, 1> attributes = {int_attribute("axis", -1)};

const std::array table = {
    OpDef{.name = "LogSoftmax", .summary = "Logarithm of Softmax", .versions = versions, .inputs = inputs, .outputs = outputs,
          .attributes = attributes, .infer = infer, .meaning = meaning<true>, .upgrade = upgrade_flattened},
    OpDef{.name = "Softmax", .summary = "exp(x) over its sum along one axis", .versions = versions, .inputs = inputs, .outputs = outputs,
          .attributes = attributes, .infer = infer, .meaning = meaning<false>, .upgrade = upgrade_flattened},
};

}  // namespace

std::span<const OpDef> softmax_ops() { return table; }

}  // namespace infini
