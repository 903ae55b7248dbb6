// The geometry that convolutions and pools share: along each spatial axis, output o reads input o*stride - begin + k*dilation for k < kernel.
#pragma once

#include <string_view>
#include <vector>

#include "libcore/ops/op.h"

namespace infini {

struct Window {
  Dim input, kernel, output;
  Dim begin, end;             // padding before and behind the axis
  std::int64_t stride = 1, dilation = 1;
  bool inside = false;        // every tap of every output surely lies inside the input

  Dim reach() const { return (kernel - Dim(1)) * Dim(dilation) + Dim(1); }  // from the first to the last tap
  expr::Expr at(const expr::Expr& o, const expr::Expr& k) const;            // the input position of tap k of output o
};

// Attribute `name` with one integer >= `lowest` per spatial axis (`per_axis` of them: pads have two), `otherwise` where it is left out.
Result<std::vector<std::int64_t>> spatial_attribute(const OpContext& context, std::string_view name, std::size_t count, std::int64_t lowest,
                                                    std::int64_t otherwise);

// From attributes strides, dilations, pads, auto_pad and ceil_mode (false where the operator has none). With ceil_mode, windows that
// would start in the padding behind the axis are left out. `input` and `kernel` are the spatial dimensions.
Result<std::vector<Window>> windows(const OpContext& context, const Shape& input, const Shape& kernel);

}  // namespace infini
