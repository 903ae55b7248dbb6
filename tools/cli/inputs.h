// Inputs of a graph from the command line: files, literals, generators, and values made up so that they fit.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// -i, --load-inputs, --save-inputs, --dim, --seed, --test.
std::span<const Option> input_options();

struct BoundInputs {
  std::vector<Value> values;              // in the order of the graph's inputs
  std::vector<std::string> made_up;       // "input_ids i64[1,128]: index below 30522 (it selects rows of 'table')", for the user
  const TestVector* test = nullptr;       // the stream's test vector, if that is where they come from
};

// Values for all inputs: what the options give; else the stream's test vector; else seeded values that fit (an integer that selects rows of a table stays
// inside it; masks are ones). usage, bad_input: names and shapes that do not fit the graph, with what it has.
Result<BoundInputs> bind_inputs(const Module& module, const Arguments& arguments);

// What is known of the inputs before any is made up.
struct KnownInputs {
  std::vector<Type> types;                   // in the order of the graph's inputs; exact as far as sizes can be told
  std::vector<std::optional<Value>> given;   // those that bind_inputs would not make up
  Bindings assumed;                          // symbols that nothing decides: their lowest bound, at least 1
};
// As bind_inputs, without making values up. A --dim that the graph has no symbol for is an error only if `strict`.
Result<KnownInputs> known_inputs(const Module& module, const Arguments& arguments, bool strict);

// "N=8" given as --dim.
Result<Bindings> dim_bindings(const Arguments& arguments);

// What the elements of an integer input select, as far as the graph says: one more than the largest, and where; nothing if they select nothing.
struct IndexUse {
  std::int64_t limit = 0;
  std::string why;
};
std::optional<IndexUse> index_use(const Graph& graph, ValueId input, const Bindings& bindings);

}  // namespace infini::cli
