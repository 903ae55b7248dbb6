// Steps by which old nodes of several operators come to their newest form.
#pragma once

#include <optional>

#include "libcore/ops/op.h"

namespace infini {

// Below opset 7, attribute `axis` (with broadcast=1) said where the second input's axes lie in the first's; they are padded with
// axes of size 1 by an Unsqueeze. Without it, NumPy's rule and the old one agree. unsupported if a rank is needed and not known.
Status upgrade_broadcast(Upgrade& node);

// Below `opset`, attribute `axes` of a reduction was no input yet.
template <int opset>
Status upgrade_axes(Upgrade& node) {
  if (node.opset() < opset) node.attribute_to_input("axes", 1, DType::i64);
  return {};
}

// Below opset 13, Softmax and its kin worked on the matrix that flattening at `axis` (by default 1) gives: a Flatten before the
// node and a Reshape behind it, unless that is the last axis anyway.
Status upgrade_flattened(Upgrade& node);

// Takes integer attribute `name` off the node; `otherwise` if it is left out. bad_input if it is of another kind.
Result<std::int64_t> take_integer(Upgrade& node, std::string_view name, std::int64_t otherwise);

// The rank of a value on its way in, if known.
std::optional<std::size_t> rank_of(const Upgrade& node, int value);
// A constant i64 vector.
int constant_ints(Upgrade& node, const std::vector<std::int64_t>& values);
// Number `value` as a scalar of the element type of `like`.
int constant_like(Upgrade& node, int like, float value);
// With `count` axes of size 1 behind its `rank` axes.
int append_axes(Upgrade& node, int value, std::size_t rank, std::size_t count);

}  // namespace infini
