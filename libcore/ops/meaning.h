// What most meanings begin with: a program whose inputs are the node's, by their position in the signature.
#pragma once

#include <vector>

#include "libcore/ops/op.h"

namespace infini {

class Meaning : public expr::ProgramBuilder {
 public:
  explicit Meaning(const OpContext& context);
  // Input i of the node; must be present.
  const expr::TensorRef& in(std::size_t i) const { return inputs_[i]; }

 private:
  std::vector<expr::TensorRef> inputs_;
};

// A program whose only definition is output[i...] = element(i...), of the node's inferred output type.
Result<expr::Program> elementwise_meaning(const OpContext& context, DType dtype, const Shape& shape,
                                          const std::function<expr::Expr(Meaning&, const expr::Indices&)>& element);

// The type arithmetic on `dtype` is done in: f32 for the 16-bit and narrower floats, itself otherwise.
DType compute_type(DType dtype);

// `element` computed in compute_type(result) and rounded once to `result`: reads of narrower floats are widened by `wide`.
inline expr::Expr wide(const expr::Expr& a) { return expr::cast(compute_type(a.dtype()), a); }

}  // namespace infini
