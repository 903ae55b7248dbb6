// What it-run, it-check and it-bench share: a graph made ready, an executor that says what it does, comparison of outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcore/exec/executor.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/module_io.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// The number of an option, from `least` to 1e9. usage: it is none.
Result<double> number_option(const Arguments& arguments, std::string_view key, double otherwise, double least = 0);

// An .onnx operand is optimised at -O2, a stream is taken as it is; -O says otherwise for both.
Status optimise_operand(Input& input, const OpTable& ops, const Arguments& arguments, const Talk& talk);

// An executor that says once on stderr which nodes went past the first device.
Result<std::unique_ptr<Executor>> make_executor(const Graph& graph, Devices devices, std::vector<std::string> observed, const Talk& talk);

Result<NamedValues> named_inputs(const Graph& graph, const std::vector<Value>& values);

// The value of that name; null: there is none.
const Value* value_named(const NamedValues& values, std::string_view name);

// Compares each expected value with the output of that name under --rtol and --atol; prints a line each to stdout, and returns 0 or 1.
Result<int> compare_outputs(const NamedValues& outputs, const NamedValues& expected, const Arguments& arguments, double rtol, double atol);
Result<int> compare_with_file(const NamedValues& outputs, const Arguments& arguments);

// Writes a page to standard output; the exit status.
int print_page(const std::string& page, const Talk& talk);

}  // namespace infini::cli
