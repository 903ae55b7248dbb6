// Values for inputs that a user describes in a few words; the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/tensor/tensor.h"

namespace infini {

enum class ValueKind : std::uint8_t { zeros, iota, literal, uniform, normal, randint, index, mask };

// literal: one element for all, or as many as there are, written as numbers, true, false or text.
struct ValueSpec {
  ValueKind kind = ValueKind::zeros;
  double first = 0, second = 0;    // uniform: from, below; normal: mean, deviation; mask: probability of 1
  std::int64_t low = 0, high = 0;  // randint: from, below
  std::vector<std::string> elements;
  Extents extents;                 // of the literal's brackets
  bool fills = false;              // the literal's one element is for all
};

// Reads `zeros`, `ones`, `iota`, `const(3)`, `uniform(0,1)`, `normal(0,1)`, `randint(0,10)` (upper bounds excluded),
// `mask(0.5)`, `index`, and literals: `3`, `[[1 2][3 4]]`, `[1.5, inf, -2]`, `["a" 'b c']`. usage: anything else.
Result<ValueSpec> parse_value_spec(std::string_view text);
// In a form that parse_value_spec reads.
std::string to_string(const ValueSpec& spec);

struct GenerateOptions {
  std::uint64_t seed = 0;
  std::string name;              // of the input: each has numbers of its own, whatever other inputs there are
  std::int64_t index_limit = 1;  // `index` draws from 0 to below this
};

// The tensor. Element i is drawn with counter i (of complex numbers 2i and 2i + 1), so it depends on seed, name and i alone.
// Integers take the floor of real numbers, strings their text; iota wraps around. A literal's brackets are `extents`, or flat.
// usage: a literal of another shape, a number the type cannot hold. run_failed: no memory.
Result<Tensor> generate(const ValueSpec& spec, DType dtype, const Extents& extents, const GenerateOptions& options = {});

}  // namespace infini
