// The checks of it-check. Each prints its report to standard output and returns 0 (yes) or 1 (no).
#pragma once

#include <functional>

#include "tools/cli/module_io.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// Runs every test vector of the stream, or --load-inputs against --expect. usage: there is nothing to compare with.
Result<int> check_outputs(const Module& module, const Arguments& arguments, const Talk& talk);
// Summary, lint findings, digests, ledger. 1 if a finding is a warning.
Result<int> check_graph(const Module& module, const Arguments& arguments, const Talk& talk);
// What each node runs on, and why not, of the operand or of every model in that folder; 1 if a node runs nowhere. A model of a folder that `read` has
// an error for is a line of the report, and the status.
Result<int> check_coverage(const std::string& operand, const std::function<Result<Input>(const std::string&)>& read, const Arguments& arguments, const Talk& talk);
// What is different between two graphs; 1 if something is.
Result<int> check_diff(const Graph& a, const Graph& b, const Arguments& arguments, const Talk& talk);
// Versions, processor, devices with a known answer, memory, disk; 1 if something required is absent.
Result<int> check_environment(const Arguments& arguments, const Talk& talk);

}  // namespace infini::cli
