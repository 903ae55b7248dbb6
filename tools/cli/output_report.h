// Outputs held against what is expected of them, as text and as JSON ("it-outputs/1").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ir/graph.h"
#include "libcore/tensor/compare.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/options.h"

namespace infini::cli {

// One run.
struct OutputReport {
  std::string name;                                        // of the test vector, or the file of --expect
  Tolerance tolerance;
  std::vector<std::pair<std::string, Comparison>> compared;
  std::vector<std::string> skipped;                        // outputs that nothing is expected of
  std::vector<std::string> absent = {};                    // expected ones that the graph does not have
  std::string first = {};                                  // of several values of one graph: the first that differs, and what made it
  bool equal() const;
};

// Compares each expected value with the output of that name, under --rtol and --atol or else `standard`.
// bad_input: nothing is expected, or an output that the graph does not have (with --dump: none of those expected).
Result<OutputReport> compare_outputs(std::string name, const NamedValues& outputs, const NamedValues& expected, const Arguments& arguments, const Tolerance& standard);
// The same with the file of --expect, in the order in which the graph computes.
Result<OutputReport> compare_with_file(const Graph& graph, const NamedValues& outputs, const Arguments& arguments);

// A line each.
std::string to_text(const OutputReport& report);
std::string to_json(std::span<const OutputReport> reports, std::string_view device);

}  // namespace infini::cli
