// What a node costs by its definition, whatever runs it.
#pragma once

#include <span>

#include "libcore/ir/graph.h"

namespace infini {

struct Cost {
  double flops = 0;
  double bytes = 0;
  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// flops: 2 per multiply-add of the operators that are sums of products (convolutions, matrix products, Einsum, Attention, recurrent layers, and their
// quantised forms), 1 per output element of every other; a `fused` node's are those of its body. bytes: each operand and result once.
// Types are those of the node's inputs and outputs, null for one that is left out; one that is not exact counts as nothing.
Cost cost_of(const Node& node, std::span<const Type* const> inputs, std::span<const Type* const> outputs);

}  // namespace infini
