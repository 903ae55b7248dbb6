// Single nodes without a graph: brought to the newest form, inferred and run.
#pragma once

#include <string>
#include <vector>

#include "case_file.h"
#include "libcore/ops/op.h"

namespace infini::tests {

// A node in its newest form. What its upgrade put before it has been run; what it put behind it waits.
struct ReadyNode {
  const OpDef* op = nullptr;
  Attributes attributes;
  std::vector<std::optional<Tensor>> inputs;
  std::vector<bool> wanted;                     // per output
  struct After {
    std::size_t output;
    const OpDef* op;
    std::vector<std::optional<Tensor>> further;
    Attributes attributes;
  };
  std::vector<After> after;
};

Result<ReadyNode> make_ready(const OpTable& ops, const Case& c);

// Fills in default attributes, infers, runs; the tensors of the wanted outputs.
Result<std::vector<Tensor>> run_node(const OpDef& op, Attributes attributes, const std::vector<std::optional<Tensor>>& inputs, std::size_t output_count);

Attributes with_defaults(const OpDef& op, Attributes attributes);

struct NumberedDims final : FreshDims {
  Dim next() override { return Dim::symbol("fresh" + std::to_string(++count)); }
  int count = 0;
};

}  // namespace infini::tests
