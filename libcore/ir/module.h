// What one stream carries: the graph, how it came to be, and data to test it with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/hash.h"
#include "libcore/ir/graph.h"

namespace infini {

// One stage of the pipe: which tool, which options changed the graph, and its digest before and after. No times, paths or thread counts.
struct LedgerEntry {
  std::string tool;
  std::string version;
  std::string options;                 // normalised: "-O2 --passes=..."
  std::optional<Hash128> before, after;
  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

// Inputs and expected outputs under the graph's own names.
struct TestVector {
  std::string name;
  std::vector<std::pair<std::string, Value>> inputs, outputs;
  double rtol = 1e-3, atol = 1e-7;
};

struct Module {
  Graph graph;
  std::vector<LedgerEntry> ledger;
  std::vector<TestVector> tests;
};

// 128 bits over everything that decides results, weights by type and name only (structure), or by content as well (loads them).
Hash128 structure_digest(const Graph& graph);
Result<Hash128> content_digest(const Graph& graph);

}  // namespace infini
