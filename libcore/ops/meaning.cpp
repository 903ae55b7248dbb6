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

}  // namespace infini
