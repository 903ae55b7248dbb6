// Text cases of operators: one node, its inputs and what it must give. Line by line, `#` begins a comment line:
//
//   case NAME                        begins a case
//   op TYPE [OPSET]                  the operator; with OPSET the node is first brought from there to the newest form
//   attr NAME = VALUE                1, 1.5, "text", [1,2], [1.5,2.0], f32[1] 5
//   in f32[2,3] 1 2 3 4 5 6          one line per input, in order; strings quoted; `in -` is left out
//   out f32[2] 1 2                   one line per output; `out -` is not wanted
//   near ABSOLUTE RELATIVE           tolerance of the outputs; without this line they must be equal
//   error TEXT                       instead of outputs: inference fails, and the message holds TEXT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ops/attribute.h"
#include "libcore/tensor/tensor.h"

namespace infini::tests {

struct Case {
  std::string name, op;
  int opset = 0;                                // 0: the newest form
  Attributes attributes;
  std::vector<std::optional<Tensor>> inputs, outputs;
  double absolute = 0, relative = 0;
  std::string error;
};

// The cases of one file. bad_input names the line.
Result<std::vector<Case>> read_cases(const std::string& path);

}  // namespace infini::tests
