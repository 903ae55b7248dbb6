// Text cases of passes, in the .txt files beside this one:
//
//   case NAME
//   pass PIPELINE          as --passes takes it
//   before
//   graph ...              the text form
//   after                  or `same`: the pass leaves the graph alone
//   graph ...
//   explain TEXT           the pass says so (--explain)
//
// Both graphs run on `reference` with the same inputs: the same bits after an exact pipeline, a relative L2 of at most 1e-6 otherwise.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "passes/pipeline.h"
#include "tests/graphs/runs.h"

namespace infini::tests {
namespace {

struct PassCase {
  std::string name, pipeline, before, after, explain;
  bool same = false;
};

std::vector<PassCase> read_pass_cases(const std::filesystem::path& path) {
  std::vector<PassCase> out;
  std::string* part = nullptr;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("case ")) {
      out.push_back({line.substr(5), {}, {}, {}, {}});
      part = nullptr;
    } else if (line.starts_with("pass ")) {
      out.back().pipeline = line.substr(5);
    } else if (line.starts_with("explain ")) {
      out.back().explain = line.substr(8);
    } else if (line == "before" || line == "after") {
      part = line == "before" ? &out.back().before : &out.back().after;
    } else if (line == "same") {
      out.back().same = true;
    } else if (part) {
      *part += line + "\n";
    }
  }
  return out;
}

std::string shown(const Graph& graph) { return print(graph, {.all_constants = true, .origins = false}); }

bool runs(const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [](const Node& node) { return node.op != nullptr; }) &&
         std::ranges::none_of(graph.values(), [](const ValueInfo& v) { return v.constant && std::holds_alternative<AbsentPayload>(v.constant->payload); });
}

Status same_results(const Graph& before, const Graph& after, Safety safety) {
  Devices reference = {device("reference")};
  for (std::int64_t more : {0, 3}) {
    std::vector<Value> inputs = some_inputs(before, some_sizes(before, more), static_cast<std::uint64_t>(more) + 1);
    IT_TRY(std::vector<Value> expected, within("before", run(before, reference, inputs)));
    IT_TRY(std::vector<Value> now, within("after", run(after, reference, inputs)));
    std::string found = difference(now, expected, safety == Safety::exact ? 0 : 1e-6);
    if (!found.empty()) return bad_input(found);
  }
  return {};
}

Status check(const OpTable& ops, const PassCase& c) {
  IT_TRY(Pipeline pipeline, parse_pipeline(c.pipeline));
  IT_TRY(Module before, within("before", parse_text(c.before, ops)));
  PipelineOptions options;
  options.explain = pipeline.front().pass ? std::string(pipeline.front().pass->name) : "";
  IT_TRY(PipelineResult result, run_pipeline(before.graph, pipeline, ops, options));
  IT_TRY(Module after, within("after", parse_text(c.same ? c.before : c.after, ops)));
  std::string found = shown(result.graph), expected = shown(after.graph);
  if (found != expected) return bad_input(text("gives\n", found, "instead of\n", expected));
  IT_TRY(Module again, within("printed", parse_text(found, ops)));
  if (shown(again.graph) != found) return bad_input("the text form does not come back");
  if (!c.explain.empty() && std::ranges::find(result.near_misses, c.explain) == result.near_misses.end()) {
    return bad_input(text("says \"", join(result.near_misses, "\", \""), "\" instead of \"", c.explain, "\""));
  }
  return runs(before.graph) ? same_results(before.graph, result.graph, safety(pipeline)) : Status();
}

}  // namespace

TEST_CASE("passes: text cases") {
  OpTable ops;
  std::set<std::string> fired, kept;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(IT_TEST_DATA)) {
    if (entry.path().extension() != ".txt") continue;
    for (const PassCase& c : read_pass_cases(entry.path())) {
      Status status = check(ops, c);
      std::string message = status ? "" : status.error().text();
      CHECK_MESSAGE(message.empty(), entry.path().filename().string(), ": ", c.name, ": ", message);
      (c.same ? kept : fired).insert(c.pipeline.substr(0, c.pipeline.find_first_of("{,")));
      ++count;
    }
  }
  MESSAGE(count, " cases");
  for (const Pass* pass : all_passes()) {
    CHECK_MESSAGE(fired.contains(std::string(pass->name)), "no case shows that ", pass->name, " does something");
    CHECK_MESSAGE(kept.contains(std::string(pass->name)), "no case shows where ", pass->name, " holds back");
  }
}

}  // namespace infini::tests
