#include "libcore/ops/meaning.h"

namespace infini {

Meaning::Meaning(const OpContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs_.push_back(context.has(i) ? input(context.dtype(i), *context.shape(i)) : expr::TensorRef());
  }
}

Result<expr::Program> elementwise_meaning(const OpContext& context, DType dtype, const Shape& shape,
                                          const std::function<expr::Expr(Meaning&, const expr::Indices&)>& element) {
  Meaning m(context);
  m.output(m.define(dtype, shape, [&](const expr::Indices& at) { return element(m, at); }));
  return std::move(m).finish();
}

DType compute_type(DType dtype) { return is_floating(dtype) && dtype != DType::f64 ? DType::f32 : dtype; }

expr::Expr from_either_end(expr::Expr i, const Dim& extent) {
  expr::Expr wide_index = expr::cast(DType::i64, std::move(i));
  return expr::select(expr::less(wide_index, expr::index(0)), wide_index + expr::index(extent), wide_index);
}

void require_in_range(Meaning& m, const expr::TensorRef& indices, const std::function<Dim(const expr::Indices&)>& extent) {
  m.require(indices.shape(), [&](const expr::Indices& at) {
    expr::Expr i = expr::cast(DType::i64, indices(at)), size = expr::index(extent(at));
    return expr::both(expr::less(i, size), expr::less_equal(-size, i));
  }, "an index is outside the axis that it counts");
}

}  // namespace infini
