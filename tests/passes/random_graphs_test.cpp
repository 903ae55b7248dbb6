// Over random graphs: every pass gives a valid graph with the same results, as its class promises, and so do the levels; what is exact comes back
// bit by bit. The failing graph is printed with its seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "libcore/base/text.h"
#include "libcore/ir/inline.h"
#include "libcore/ir/text_form.h"
#include "passes/pipeline.h"
#include "tests/graphs/random_graph.h"
#include "tests/graphs/runs.h"

namespace infini::tests {
namespace {

constexpr double rounding_limit = 1e-5;  // of f32 sums that cancel

std::vector<std::string> names_of_outputs(const Graph& graph) {
  std::vector<std::string> out;
  for (ValueId id : graph.outputs()) out.push_back(graph.value(id).name);
  return out;
}

bool holds_fused_in_fused(const Graph& graph) {
  auto holds = [](const Node& node, auto&& inside) { return std::ranges::any_of(bodies(node), [&](const Body* body) { return std::ranges::any_of(body->graph->nodes(), inside); }); };
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) { return is_fused(node) && holds(node, is_fused); });
}

struct Runner {
  OpTable ops;
  Devices reference = {device("reference")};
  std::size_t rewrites = 0, compared = 0;

  Status check(const Graph& graph, std::string_view passes, std::uint64_t seed) {
    IT_TRY(Pipeline pipeline, parse_pipeline(passes));
    return check(graph, pipeline, seed);
  }
  Status check(const Graph& graph, const Pipeline& pipeline, std::uint64_t seed) {
    IT_TRY(PipelineResult result, run_pipeline(graph, pipeline, ops, {}));
    if (std::ranges::any_of(result.graph.nodes(), is_fused)) {
      IT_TRY(PipelineResult again, run_pipeline(result.graph, pipeline, ops, {}));
      if (holds_fused_in_fused(again.graph)) return bad_input(text("a second time it fuses what is fused\n", print(again.graph)));
    }
    for (const PassReport& report : result.reports) rewrites += report.rewrites;
    if (names_of_outputs(result.graph) != names_of_outputs(graph)) return bad_input("outputs have other names");
    for (std::int64_t more : {0, 2}) {
      std::vector<Value> inputs = some_inputs(graph, some_sizes(graph, more), seed);
      Result<std::vector<Value>> expected = run(graph, reference, inputs);
      if (!expected && !some_sizes(graph).empty()) continue;  // these sizes do not fit each other
      if (!expected) return within("before", expected.error());
      IT_TRY(std::vector<Value> now, within("after", run(result.graph, reference, inputs)));
      ++compared;
      std::string found = difference(now, *expected, safety(pipeline) == Safety::exact ? 0 : rounding_limit);
      if (!found.empty()) return bad_input(text(found, "\n", print(result.graph, {.origins = false})));
      if (graph.inputs().empty() || some_sizes(graph).empty()) break;
    }
    return {};
  }
};

void sweep(std::string_view what, RandomGraph wish, std::uint64_t first, std::uint64_t count) {
  Runner runner;
  std::vector<std::string> pipelines = {to_string(level_pipeline(1)), to_string(level_pipeline(2))};
  for (const Pass* pass : all_passes()) pipelines.emplace_back(pass->name);
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < 3; ++seed) {
    wish.seed = seed;
    Graph graph = random_graph(runner.ops, wish);
    for (const std::string& passes : pipelines) {
      Status status = runner.check(graph, passes, seed);
      if (status) continue;
      ++shown;
      FAIL_CHECK(std::string(what), " seed ", seed, ", ", passes, ": ", status.error().text(), "\n", print(graph, {.origins = false}));
      break;
    }
  }
  MESSAGE(std::string(what), ": ", count, " graphs, ", runner.rewrites, " rewrites, ", runner.compared, " runs compared");
  CHECK(runner.rewrites > count);
  CHECK(runner.compared > count);
}

std::uint64_t count_of(std::uint64_t standard) {
  const char* given = std::getenv("IT_TEST_GRAPHS");  // for long runs
  return given ? std::strtoull(given, nullptr, 10) : standard;
}

}  // namespace

TEST_CASE("passes: random graphs of numbers") { sweep("numbers", {.tame = true}, 1, count_of(120)); }
TEST_CASE("passes: random graphs of open sizes") { sweep("open", {.symbolic = true, .tame = true}, 100001, count_of(80)); }
TEST_CASE("passes: large random graphs") { sweep("large", {.nodes = 40, .tame = true}, 200001, count_of(15)); }
TEST_CASE("passes: random elementwise graphs, bit by bit") {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32}) {
    sweep(name(dtype), {.dtype = dtype, .products = false}, 300001, count_of(30));
  }
}

}  // namespace infini::tests
