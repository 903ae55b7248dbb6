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

// An index of either index type as i64, counted from the end where negative.
expr::Expr from_either_end(expr::Expr i, const Dim& extent);
// Every element of `indices` must lie in [-extent, extent); `extent` is given the element's own indices.
void require_in_range(Meaning& m, const expr::TensorRef& indices, const std::function<Dim(const expr::Indices&)>& extent);

}  // namespace infini
