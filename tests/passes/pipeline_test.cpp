// Pipelines: what is read, what is refused and in which words, and the driver's own options.
#include <doctest/doctest.h>

#include <array>

#include "libcore/ir/text_form.h"
#include "passes/pipeline.h"

namespace infini::tests {
namespace {

std::string read(std::string_view text) {
  Result<Pipeline> pipeline = parse_pipeline(text);
  return pipeline ? to_string(*pipeline) : "! " + pipeline.error().text();
}
std::string read_yaml(const std::string& yaml) {
  Result<Pipeline> pipeline = parse_pipeline_yaml(yaml);
  return pipeline ? to_string(*pipeline) : "! " + pipeline.error().text();
}

Graph graph_of(const OpTable& ops, std::string_view source) {
  Result<Module> module = parse_text(source, ops);
  REQUIRE_MESSAGE(module.has_value(), module.error().text());
  return module->graph;
}

constexpr std::string_view three_identities = R"(graph "main" (
  %x: f32[2]
) -> (%y) {
  %a = Identity(%x)
  %b = Identity(%a)
  %c = Relu(%b)
  %d = Relu(%b)
  %y = Add(%c, %d)
})";

}  // namespace

TEST_CASE("pipelines: read and written") {
  CHECK(read("") == "");
  CHECK(read("canon") == "canon");
  CHECK(read(" canon , dce ") == "canon,dce");
  CHECK(read("fold") == "fold{max=64MiB}");
  CHECK(read("fold{max=1KiB}") == "fold{max=1KiB}");
  CHECK(read("fold{ max = 1KiB }") == "fold{max=1KiB}");
  CHECK(read("fix(canon,cse)") == "fix(canon,cse){max=8}");
  CHECK(read("fix(canon, fix(cse,dce){max=2}){max=3}, fuse-elementwise{nodes=4}") ==
        "fix(canon,fix(cse,dce){max=2}){max=3},fuse-elementwise{inputs=8,nodes=4}");
  CHECK(read("fix()") == "fix(){max=8}");
}

TEST_CASE("pipelines: levels come back from their text") {
  CHECK(to_string(level_pipeline(0)) == "");
  for (int level : {1, 2, 3}) {
    std::string written = to_string(level_pipeline(level));
    CHECK(!written.empty());
    CHECK(read(written) == written);
  }
  CHECK(safety(level_pipeline(1)) == Safety::exact);
  CHECK(safety(level_pipeline(2)) == Safety::rounding);
  CHECK(safety(level_pipeline(3)) == Safety::rounding);
}

TEST_CASE("pipelines: refusals") {
  CHECK(read("cann") == "! there is no pass 'cann'; did you mean 'canon'?");
  CHECK(read("banana-split-99") == "! there is no pass 'banana-split-99'; see --list-passes");
  CHECK(read("canon,") == "! pipeline: a pass name is missing");
  CHECK(read(",canon") == "! pipeline: a pass name is missing");
  CHECK(read("fix(canon") == "! pipeline: fix( has no closing )");
  CHECK(read("fix(canon,)") == "! pipeline: a pass name is missing");
  CHECK(read("canon)") == "! pipeline: unexpected ')'");
  CHECK(read("canon(dce)") == "! pipeline: 'canon' takes no list; only fix(...) does");
  CHECK(read("fold{max}") == "! pipeline: option 'max' has no =value");
  CHECK(read("fold{max=1") == "! pipeline: { has no closing }");
  CHECK(read("fold{mx=1}") == "! pass fold has no option 'mx'; did you mean 'max'?");
  CHECK(read("canon{max=1}") == "! pass canon has no option 'max'");
  CHECK(read("fix(canon){rounds=2}") == "! fix has no option 'rounds'; it has max");
  CHECK(read("fix(canon){max=0}") == "! fix{max=0}: expected a number of rounds, 1 or more");
  CHECK(read("fix(canon){max=many}") == "! fix{max=many}: expected a number of rounds, 1 or more");
  CHECK(read("fix") == "! there is no pass 'fix'; see --list-passes");
  CHECK(read("fold{max=banana}") == "! fold{max=banana}: expected a number, perhaps with KiB, MiB or GiB");
  CHECK(read("fold{max=}") == "! fold{max=}: expected a number, perhaps with KiB, MiB or GiB");
  CHECK(read("fold{max=-1}") == "! fold{max=-1}: expected a number, perhaps with KiB, MiB or GiB");
  CHECK(read("fold{max=99999999999GiB}") == "! fold{max=99999999999GiB}: expected a number, perhaps with KiB, MiB or GiB");
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "fix(";
  CHECK(read(deep) == "! pipeline: fix nested deeper than 16");
}

TEST_CASE("pipelines: YAML") {
  CHECK(read_yaml("[canon, dce]") == "canon,dce");
  CHECK(read_yaml("- canon\n- fold: {max: 1MiB}\n- fix: [cse, dce]\n  max: 4\n") == "canon,fold{max=1MiB},fix(cse,dce){max=4}");
  CHECK(read_yaml("[]") == "");
  CHECK(read_yaml("canon: 1") == "! a pipeline file holds a list of passes");
  CHECK(read_yaml("- [canon]") == "! an item of a pipeline file is a name or a map");
  CHECK(read_yaml("- {fold: {max: 1}, dce: {}}") == "! a pass with options is written {name: {option: value}}");
  CHECK(read_yaml("- cann") == "! there is no pass 'cann'; did you mean 'canon'?");
  CHECK(read_yaml("- fold: 3") == "! a pass with options is written {name: {option: value}}");
  CHECK(read_yaml("- fold: {max: [1]}").starts_with("! pipeline file: "));
  CHECK(read_yaml("[canon").starts_with("! pipeline file: "));
}

TEST_CASE("pipelines: stopping") {
  OpTable ops;
  Graph graph = graph_of(ops, three_identities);
  Pipeline pipeline = *parse_pipeline("canon,cse,dce");
  Result<PipelineResult> all = run_pipeline(graph, pipeline, ops, {});
  REQUIRE(all.has_value());
  CHECK(all->graph.nodes().size() == 2);
  CHECK(all->reports.size() == 3);

  PipelineOptions after_canon;
  after_canon.stop_after_pass = "canon";
  Result<PipelineResult> first = run_pipeline(graph, pipeline, ops, after_canon);
  REQUIRE(first.has_value());
  CHECK(first->graph.nodes().size() == 3);
  CHECK(first->reports.size() == 1);
  CHECK(first->reports[0].changed);
  CHECK(first->reports[0].rewrites == 2);

  constexpr std::array<std::size_t, 5> nodes = {5, 4, 3, 2, 2};
  for (std::size_t limit = 0; limit < nodes.size(); ++limit) {
    PipelineOptions options;
    options.stop_after = limit;
    Result<PipelineResult> some = run_pipeline(graph, pipeline, ops, options);
    REQUIRE(some.has_value());
    CHECK(some->graph.nodes().size() == nodes[limit]);
  }
}

TEST_CASE("pipelines: fix ends when nothing changes, or after its rounds") {
  OpTable ops;
  Graph graph = graph_of(ops, three_identities);
  Result<PipelineResult> settled = run_pipeline(graph, *parse_pipeline("fix(canon,cse,dce)"), ops, {});
  REQUIRE(settled.has_value());
  CHECK(settled->reports.size() == 6);  // the second round changes nothing
  Result<PipelineResult> once = run_pipeline(graph, *parse_pipeline("fix(canon,cse,dce){max=1}"), ops, {});
  REQUIRE(once.has_value());
  CHECK(once->reports.size() == 3);
}

TEST_CASE("pipelines: an error of after_pass names the pass") {
  OpTable ops;
  PipelineOptions options;
  options.after_pass = [](const PassReport& report, const Graph&, const Graph&) -> Status {
    if (report.pass->name == "cse") return internal_error("not so");
    return {};
  };
  Result<PipelineResult> result = run_pipeline(graph_of(ops, three_identities), *parse_pipeline("canon,cse,dce"), ops, options);
  REQUIRE(!result.has_value());
  CHECK(result.error().text() == "pass cse: not so");
}

}  // namespace infini::tests
