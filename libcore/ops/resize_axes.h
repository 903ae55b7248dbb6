// Which axes Resize changes, and to what.
#pragma once

#include <vector>

#include "libcore/ops/op.h"

namespace infini {

namespace resize {
constexpr std::size_t roi_input = 1, scales_input = 2, sizes_input = 3;

// One resized axis. `scale` is output / input as asked for, where the output is its floor; nothing: the quotient of the extents.
struct Axis {
  std::size_t axis = 0, operand = 0;  // `operand`: its place in scales, sizes and roi
  Dim input, output;
  std::optional<double> scale;
  bool known = true;                  // the output is
};

// From attributes and operands; input 0 has a known rank. Attributes are checked by check_attributes before.
Result<std::vector<Axis>> geometry(const OpContext& context);
// Fresh dimensions where an output is not known.
Shape output_shape(const Shape& x, const std::vector<Axis>& axes, const OpContext& context);
Status check_attributes(const OpContext& context);
}  // namespace resize

}  // namespace infini
