// Pipelines: readable lists of passes, and the driver that runs them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace infini {

// One entry: a pass with its options, or fix(...): its list again and again until nothing changes, at most `max` rounds.
struct PipelineEntry {
  const Pass* pass = nullptr;                   // null: fix
  std::map<std::string, std::string> options;   // all of the pass's, standard values filled in; fix has "max"
  std::vector<PipelineEntry> fix;
};
using Pipeline = std::vector<PipelineEntry>;

// "fold{max=1MiB},fix(canon,cse,dce){max=8},fuse-conv-bn". usage error naming what is not known, with the closest name.
Result<Pipeline> parse_pipeline(std::string_view text);
// YAML: a list whose items are names, {name: {option: value}} or {fix: [..], max: 8}.
Result<Pipeline> parse_pipeline_yaml(const std::string& yaml);
// Of -O0 .. -O3.
Pipeline level_pipeline(int level);
// Parses to the same pipeline.
std::string to_string(const Pipeline& pipeline);
// The highest class among its passes.
Safety safety(const Pipeline& pipeline);

struct PassReport {
  const Pass* pass;
  double ms = 0;
  std::size_t rewrites = 0;
  std::size_t nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

struct PipelineOptions {
  std::string stop_after_pass;        // empty: run all
  std::size_t stop_after = SIZE_MAX;  // rewrites in all
  bool assume_finite = false;
  std::string explain;                // name of a pass whose near misses are wanted
  // After each pass, with the graph before and after; an Error stops the pipeline (--verify-each=numeric).
  std::function<Status(const PassReport&, const Graph& before, const Graph& after)> after_pass;
};

struct PipelineResult {
  Graph graph;
  std::vector<PassReport> reports;
  std::vector<std::string> near_misses;
};

// Runs the pipeline; the graph is verified after every pass, and a violation is an internal error naming the pass.
Result<PipelineResult> run_pipeline(const Graph& graph, const Pipeline& pipeline, const OpTable& ops, const PipelineOptions& options);

}  // namespace infini
