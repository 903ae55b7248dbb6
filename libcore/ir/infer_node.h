// Types of one node's outputs: what its operator infers, with declared types as hints for what inference leaves open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini {

// The number N of a fresh dimension's symbol "#N", if `symbol` has that form.
std::optional<std::uint64_t> fresh_number(std::string_view symbol);
// Those of all symbols of that form in `type`, in its dimensions' order.
std::vector<std::uint64_t> fresh_numbers(const Type& type);

// Hands out "#N", "#N+1", ...
class FreshNumbers final : public FreshDims {
 public:
  explicit FreshNumbers(std::uint64_t next) : next_(next) {}
  Dim next() override;
  // None of those in `type` from now on.
  void keep(const Type& type);
  std::uint64_t next_number() const { return next_; }

 private:
  std::uint64_t next_;
};

// True if the declared type says something else; another name for a dimension is no contradiction, nor is saying less.
bool contradicts(const Type& type, const Type& declared);

struct InferredOutputs {
  std::vector<Type> types;                              // one per output
  std::vector<std::optional<expr::DimTensor>> dims;     // one per output
  std::vector<std::string> conflicts;                   // "output 0 is f32[2], declared f32[3]"
};

// A declared number, symbol, rank or type takes the place of what inference does not know; everywhere else inference stands, and a
// contradiction becomes a conflict. Errors: as infer_types.
Result<InferredOutputs> infer_node(const OpDef& op, const Attributes& attributes, std::span<const InputFact> inputs, std::size_t output_count,
                                   std::span<const Type> declared, FreshNumbers& fresh);

}  // namespace infini
