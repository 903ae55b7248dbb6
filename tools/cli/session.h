// What it-run, it-check and it-bench share: a graph made ready, an executor that says what it does, a clock, pages.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/exec/coverage.h"
#include "libcore/exec/executor.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/module_io.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// The number of an option, from `least` to 1e9. usage: it is none.
Result<double> number_option(const Arguments& arguments, std::string_view key, double otherwise, double least = 0);
Result<std::int64_t> count_option(const Arguments& arguments, std::string_view key, std::int64_t otherwise, std::int64_t least = 0);

// An .onnx operand is optimised at -O2, a stream is taken as it is; -O says otherwise for both.
Status optimise_operand(Input& input, const OpTable& ops, const Arguments& arguments, const Talk& talk);

using OnRefusals = std::function<void(const Graph&, const Planned&, const Copies&)>;
// An executor that says once on stderr which nodes went past the first device; `also` hears of it for every plan.
Result<std::unique_ptr<Executor>> make_executor(const Graph& graph, Devices devices, std::vector<std::string> observed, const Talk& talk, OnRefusals also = {});

class Clock {
 public:
  // Milliseconds since the last call, or since the start.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - last_).count();
    last_ = now;
    return ms;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Result<NamedValues> named_inputs(const Graph& graph, const std::vector<Value>& values);

// The value of that name; null: there is none.
const Value* value_named(const NamedValues& values, std::string_view name);

// Writes a page to a file, whole or not at all; "-" is standard output.
Status write_page(const std::string& path, const std::string& page);
// Writes a page to standard output; the exit status.
int print_page(const std::string& page, const Talk& talk);

}  // namespace infini::cli
