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

// 128 bits over what decides results: inputs, outputs (with their names), symbols, nodes and attributes in order, bodies; not the names of
// inner values and nodes, origins, metadata. Weights by type and name only (those of at most inline_limit bytes at hand by content as well).
Hash128 structure_digest(const Graph& graph);
// The same with every constant by content instead, which loads what is not at hand; a constant's stated digest is believed.
Result<Hash128> content_digest(const Graph& graph);

// Of a tensor's bytes in blocks of 1 MiB (content_hash), or of its strings.
Hash128 content_digest(const Tensor& tensor);
Result<Hash128> content_digest(const Constant& constant);

}  // namespace infini
