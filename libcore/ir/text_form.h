// The text form: for people, tests and reviews; parsed back by every tool.
//
//   graph "main" (
//     %x: f32[batch,3,224,224]
//   ) -> (%y) {
//     symbol batch in 1..512
//     metadata "producer" = "pytorch 2.1"
//     %w = constant f32[64,3,7,7] file "model.onnx" offset 1234 length 37632 size 99000 modified 1700000000000000000
//     %b = constant f32[2] {0.5, -1}
//     %0 = Conv(%x, %w, _) {strides = [2, 2], pads = [3, 3, 3, 3]} : f32[batch,64,112,112] @ "conv1" from 0
//     %y, _, %z = com.example::Three version 1 overload "o" (%0) : f32[2], f32[?]      // carried: it names its version
//     %r = If(%c) {
//       else_branch = graph "else" () captures (%x, %inner = %outer) -> (%inner) { ... }
//     } : f32[batch]
//   }
//   sources {
//     0 = [0] Conv "conv1"
//   }
//   ledger {
//     "it-import" "0.1.0" "--dim batch=8" before <32 hexadecimal digits> after <32 hexadecimal digits>
//   }
//
// Names of values are bare if they hold letters, digits and _ . / $ ::, else in quotes: %"a b". Comments run from // to the end of a line.
// _ stands for an input that is left out and a result that is not wanted. Attributes at their default are not printed. Types after ":" are
// one per wanted result; they may be left out, and must agree with inference where they stand.
// Payloads: {elements}, owned {...} (small, but not for the Graph frame), inline {...} and mapped {...}, file ..., absent, ... (elided: read as
// absent), stream N (read as absent); each may end in `digest <32 hexadecimal digits>`.
// Attributes: 3, 0.5, "text", [1, 2], [0.5, 1.0], ["a"], ints [], reals [], texts [], real 0x7fc00001 (bits), type f32[2], tensor f32[2] {1, 2},
// tensors [f32[] {1}], graph ..., graphs [graph ..., graph ...].
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/ir/module.h"

namespace infini {

struct PrintOptions {
  std::size_t constant_elements = 16;  // larger constants are printed by reference or elided ("...": parse gives an absent payload)
  bool all_constants = false;          // print every element, so that parse gives the same graph
  bool origins = true;
};

// All of it but test vectors.
std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Graph& graph, const PrintOptions& options = {});

// A value of an attribute alone, as it stands there.
std::string print(const Graph& graph, const AttributeValue& value);

// bad_input with line and column. The text may come from anyone: limits on nesting and sizes.
Result<Module> parse_text(std::string_view text, const OpTable& ops);

}  // namespace infini
