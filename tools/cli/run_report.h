// What it-run did, as JSON ("it-run/1").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/exec/coverage.h"
#include "libcore/exec/planner.h"
#include "libcore/tensor/npz.h"
#include "tools/cli/output_report.h"

namespace infini::cli {

struct RunReport {
  std::string device;
  double read_ms = 0, optimise_ms = 0, load_ms = 0, run_ms = 0;  // run: planning and packing included
  std::size_t arena_bytes = 0;
  std::size_t copies = 0;                // between devices, in plans where nodes went past the first one
  std::vector<std::string> fallbacks;    // those nodes, as JSON

  void add(const Graph& graph, const Planned& planned, const Copies& between);
};

// With what --expect found, if it was given.
std::string to_json(const RunReport& report, const NamedValues& outputs, const std::optional<OutputReport>& found);

}  // namespace infini::cli
