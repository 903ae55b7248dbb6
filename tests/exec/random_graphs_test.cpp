// Over random graphs: the planner's views, in-place results, layouts and memory never show in the results. Each graph runs on `cpu` through one
// executor, several shapes in turn, every value observed in some runs, against `reference`; and in each plan, what lives together lies apart.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/tensor/compare.h"
#include "passes/pipeline.h"
#include "tests/graphs/random_graph.h"
#include "tests/graphs/runs.h"

namespace infini::tests {
namespace {

struct Stretch {
  int device;
  std::size_t begin, end, first, last;
};

// Memory of a plan's arenas: which bytes are needed from which step to which.
std::vector<Stretch> stretches(const Plan& plan) {
  std::vector<Stretch> out;
  std::vector<int> index(plan.places.size(), -1);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.workspace) out.push_back({step.device, step.workspace_offset, step.workspace_offset + step.workspace, s, s});
    std::vector<int> touched = step.inputs;
    touched.insert(touched.end(), step.outputs.begin(), step.outputs.end());
    for (int place : touched) {
      auto root = static_cast<std::size_t>(root_of(plan, place));
      const Place& p = plan.places[root];
      if (p.kind != Place::Kind::arena || p.bytes == 0) continue;
      if (index[root] < 0) {
        index[root] = static_cast<int>(out.size());
        out.push_back({p.device, p.offset, p.offset + p.bytes, s, s});
      }
      out[static_cast<std::size_t>(index[root])].last = s;
    }
  }
  return out;
}

std::string memory_fault(const Plan& plan) {
  std::vector<Stretch> all = stretches(plan);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Stretch& a = all[i];
    if (a.end > plan.arena_bytes[static_cast<std::size_t>(a.device)]) return text("bytes up to ", a.end, " lie outside of the arena");
    for (std::size_t j = 0; j < i; ++j) {
      const Stretch& b = all[j];
      bool together = a.device == b.device && a.first <= b.last && b.first <= a.last;
      if (together && a.begin < b.end && b.begin < a.end) return text("bytes ", a.begin, "..", a.end, " and ", b.begin, "..", b.end, " live together");
    }
  }
  for (const Place& place : plan.places) {
    if (place.alias < 0) continue;
    const Place& base = plan.places[static_cast<std::size_t>(place.alias)];
    if (place.bytes > base.bytes) return text("a view of ", place.bytes, " bytes on ", base.bytes);
  }
  return {};
}

bool close(std::span<const Value> now, std::span<const Value> expected, double limit) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    Comparison found = compare(now[i], expected[i], {.relative = limit, .absolute = limit});
    if (!found.equal && !difference(now.subspan(i, 1), expected.subspan(i, 1), limit).empty()) return false;
  }
  return now.size() == expected.size();
}

struct Counts {
  std::size_t runs = 0, plans = 0, arena = 0, needed = 0;
};

class Subject {
 public:
  Subject(Graph graph, bool observe) : graph_(std::make_shared<const Graph>(std::move(graph))) {
    if (!observe) return;
    for (const Node& node : graph_->nodes()) {
      for (ValueId id : node.outputs) {
        if (id) observed_.push_back(graph_->value(id).name);
      }
    }
  }

  Status check(std::uint64_t seed, double limit, Counts& counts) const {
    IT_TRY(std::unique_ptr<Executor> cpu, executor("cpu"));
    IT_TRY(std::unique_ptr<Executor> reference, executor("reference"));
    std::vector<std::vector<Value>> handed_out;
    for (std::int64_t more : {0, 3, 0, -1}) {
      if (more && some_sizes(*graph_).empty()) continue;
      std::vector<Value> inputs = some_inputs(*graph_, some_sizes(*graph_, more), seed + handed_out.size());
      Result<std::vector<Value>> expected = reference->run(inputs);
      if (!expected && !some_sizes(*graph_).empty()) continue;  // these sizes do not fit each other
      if (!expected) return within("reference", expected.error());
      IT_TRY(std::vector<Value> now, within("cpu", cpu->run(inputs)));
      if (!close(now, *expected, limit)) return bad_input(text("size ", 2 + more, ": ", difference(now, *expected, limit)));
      handed_out.push_back(std::move(now));
      handed_out.push_back(std::move(*expected));
      ++counts.runs;
    }
    for (std::size_t i = 0; i < handed_out.size(); i += 2) {
      if (!close(handed_out[i], handed_out[i + 1], limit)) return bad_input("a later run has changed what an earlier one handed out");
    }
    for (const Plan* plan : cpu->plans()) {
      std::string fault = memory_fault(*plan);
      if (!fault.empty()) return bad_input(fault);
      ++counts.plans;
      for (const Stretch& stretch : stretches(*plan)) counts.needed += stretch.end - stretch.begin;
      for (std::size_t bytes : plan->arena_bytes) counts.arena += bytes;
    }
    return {};
  }

 private:
  Result<std::unique_ptr<Executor>> executor(std::string_view name) const {
    ExecOptions options;
    options.devices = {device(name)};
    if (name == "cpu") options.devices.push_back(device("reference"));
    options.observe = observed_;
    return Executor::make(graph_, std::move(options));
  }

  std::shared_ptr<const Graph> graph_;
  std::vector<std::string> observed_;
};

void sweep(std::string_view what, RandomGraph wish, std::uint64_t first, std::uint64_t count, double limit) {
  if (const char* given = std::getenv("IT_TEST_GRAPHS")) count = std::strtoull(given, nullptr, 10);  // for long runs
  OpTable ops;
  Counts counts;
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < 3; ++seed) {
    wish.seed = seed;
    Graph graph = random_graph(ops, wish);
    Result<PipelineResult> fused = run_pipeline(graph, level_pipeline(2), ops, {});
    REQUIRE_MESSAGE(fused.has_value(), fused.error().text());
    for (int variant : {0, 1, 2}) {
      Subject subject(variant == 2 ? fused->graph : graph, variant == 1);
      Status status = subject.check(seed, limit, counts);
      if (status) continue;
      ++shown;
      FAIL_CHECK(std::string(what), " seed ", seed, " variant ", variant, ": ", status.error().text(), "\n",
                 print(variant == 2 ? fused->graph : graph, {.origins = false}));
      break;
    }
  }
  MESSAGE(std::string(what), ": ", counts.runs, " runs, ", counts.plans, " plans, arenas of ", counts.arena, " bytes for ", counts.needed);
  CHECK(counts.runs >= 3 * count);
  CHECK(counts.arena < counts.needed);  // memory is used again
}

}  // namespace

TEST_CASE("planner: random elementwise operators and moves") { sweep("moves", {.products = false, .tame = true}, 1, 300, 1e-4); }
TEST_CASE("planner: random graphs with products") { sweep("products", {.tame = true}, 400001, 150, 1e-4); }
TEST_CASE("planner: random graphs of open sizes") { sweep("open", {.symbolic = true, .tame = true}, 500001, 150, 1e-4); }
TEST_CASE("planner: large random graphs") { sweep("large", {.nodes = 40, .tame = true}, 600001, 20, 1e-3); }
TEST_CASE("planner: random graphs of other types") {
  sweep("i32", {.dtype = DType::i32, .products = false}, 700001, 60, 0);
  sweep("f64", {.dtype = DType::f64, .products = false, .tame = true}, 710001, 60, 1e-4);
  sweep("f16", {.dtype = DType::f16, .products = false, .tame = true}, 720001, 60, 2e-2);
}

}  // namespace infini::tests
