// The text form: for people, tests and reviews; parsed back by every tool.
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

std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Graph& graph, const PrintOptions& options = {});

// bad_input with line and column. The text may come from anyone: limits on nesting and sizes.
Result<Module> parse_text(std::string_view text, const OpTable& ops);

}  // namespace infini
