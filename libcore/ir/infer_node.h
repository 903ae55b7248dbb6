// Types of one node's outputs: what its operator infers, with declared types as hints for what inference leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ops/op.h"

namespace infini {

// The number N of a fresh dimension's symbol "#N", if `symbol` has that form.
std::optional<std::uint64_t> fresh_number(std::string_view symbol);
// Those of all symbols of that form in `type`, in its dimensions' order.
std::vector<std::uint64_t> fresh_numbers(const Type& type);

struct InferredOutputs {
  std::vector<Type> types;                              // one per output
  std::vector<std::optional<expr::DimTensor>> dims;     // one per output
  std::vector<std::string> conflicts;                   // "output 0 is f32[2], declared f32[3]"
};

// `first_fresh`: "#N" from this number on is free. A declared number, symbol, rank or type takes the place of what inference does not
// know; everywhere else inference stands, and a contradiction becomes a conflict. Errors: as infer_types.
Result<InferredOutputs> infer_node(const OpDef& op, const Attributes& attributes, std::span<const InputFact> inputs, std::size_t output_count,
                                   std::span<const Type> declared, std::uint64_t first_fresh);

}  // namespace infini
