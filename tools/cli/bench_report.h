// What it-bench measured, as text and as JSON ("it-bench/1").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcore/exec/executor.h"

namespace infini::cli {

// All runs of one node, or of one conversion that serves it.
struct ProfileRow {
  std::string op, name, kernel, kind, device;  // op: as operator_label names it
  std::vector<std::string> origins;  // names of source nodes
  double ms = 0;                     // per run
};

struct BenchReport {
  double read_ms = 0, optimise_ms = 0, load_ms = 0, first_run_ms = 0;
  std::vector<double> times_ms;
  std::vector<double> percentiles;
  std::size_t arena_bytes = 0;
  std::size_t peak_bytes = 0;        // of memory that the process held at once
  std::string device;
  std::vector<ProfileRow> profile;   // longest first; empty: not asked for
};

// "50,90,99". usage error: no numbers in [0, 100].
Result<std::vector<double>> percentile_list(const std::string& written);

// Runs `iterations` times with every step timed.
Result<std::vector<ProfileRow>> profile(const Graph& graph, const Devices& devices, std::span<const Value> inputs, std::int64_t iterations);

// 3.14159 with two digits: "3.14".
std::string fixed(double value, int digits);

std::string to_text(const BenchReport& report);
std::string to_json(const BenchReport& report);

}  // namespace infini::cli
