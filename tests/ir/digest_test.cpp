#include "libcore/ir/emit.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

constexpr std::string_view base = R"(graph "g" (%x: f32[n,2]) -> (%y) {
  symbol n in 1..8
  %w = constant f32[2,2] {1, 2, 3, 4}
  %big = constant u8[3] file "m" offset 0 length 3 size 3 modified 0
  %m = MatMul(%x, %w) @ "fc"
  %e = Elu(%m) {alpha = 0.5}
  %y = Apply version 1 (%e, %big) {b = graph "b" () captures (%e) -> (%e) {}} : f32[n,2]
})";

Hash128 structure_of(std::string source) { return structure_digest(graph_of(source)); }

// `base` with one stretch replaced.
std::string with(std::string_view old, std::string_view now) {
  std::string out(base);
  std::size_t at = out.find(old);
  REQUIRE(at != std::string::npos);
  return out.replace(at, old.size(), now);
}

std::string renamed(std::string text, std::string_view old, std::string_view now) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size())) text.replace(at, old.size(), now);
  return text;
}

}  // namespace

TEST_CASE("what does not decide results is not in the digest") {
  Hash128 plain = structure_of(std::string(base));
  CHECK(structure_of(renamed(std::string(base), "%m", "%other")) == plain);
  CHECK(structure_of(renamed(std::string(base), "%w", "%weight")) == plain);  // small, so by content
  CHECK(structure_of(with(" @ \"fc\"", "")) == plain);
  CHECK(structure_of(with("graph \"g\"", "graph \"h\"")) == plain);
  CHECK(structure_of(with("symbol n in 1..8", "symbol n in 1..8 metadata \"a\" = \"b\"")) == plain);
}

TEST_CASE("what decides results is in the digest") {
  Hash128 plain = structure_of(std::string(base));
  CHECK(structure_of(renamed(std::string(base), "%x", "%in")) != plain);
  CHECK(structure_of(renamed(std::string(base), "%y", "%out")) != plain);
  CHECK(structure_of(renamed(std::string(base), "%big", "%weights")) != plain);  // large, so by name
  CHECK(structure_of(with("alpha = 0.5", "alpha = 0.25")) != plain);
  CHECK(structure_of(with("{1, 2, 3, 4}", "{1, 2, 3, 5}")) != plain);
  CHECK(structure_of(with("1..8", "1..9")) != plain);
  CHECK(structure_of(with("f32[n,2]) ->", "f32[5,2]) ->").replace(std::string(base).find(": f32[n,2]\n"), 0, "")) != plain);
  CHECK(structure_of(with("Elu(%m) {alpha = 0.5}", "Relu(%m)")) != plain);
  CHECK(structure_of(with("captures (%e)", "captures (%e = %m)")) != plain);
  CHECK(structure_of(with("version 1", "version 2")) != plain);
}

TEST_CASE("by content, weights count by their bytes and not by their names") {
  auto content = [](std::string_view constant) {
    return value_of(content_digest(graph_of(text("graph \"\" () -> (%y) { ", constant, " %y = Identity(%w) }"))));
  };
  Hash128 plain = content("%w = constant f32[2] {1, 2}");
  CHECK(content("%w = constant f32[2] owned {1, 2}") == plain);
  CHECK(content("%w = constant f32[2] {1, 3}") != plain);
  CHECK(content("%w = constant f32[1,2] {1, 2}") != plain);
  CHECK(content("%w = constant f32[2] absent digest " + to_hex(content_digest(Tensor::of<float>(DType::f32, {2}, {1, 2})))) == plain);
  CHECK(failure(content_digest(graph_of("graph \"\" () -> (%y) { %w = constant f32[2] absent %y = Identity(%w) }"))) ==
        "Identity (of 'y'): constant 'w': the bytes of a constant of type f32[2] are absent: the graph was imported without weights or read from text");
  CHECK(content("%w = constant str[2] {\"ab\", \"c\"}") != content("%w = constant str[2] {\"a\", \"bc\"}"));
}

TEST_CASE("JSON of a graph") {
  Graph graph = graph_of(R"(graph "g\"" (%x: f32[n,2]) -> (%y) {
  symbol n in 1..
  metadata "k" = "v"
  %w = constant f32[2] {1.5, nan}
  %e = Elu(%x) {alpha = 0.5} @ "e\n" from 0
  _, %y = com.example::Apply version 1 (%e, _, %w) {b = graph "b" () captures (%in = %e) -> (%in) {}, l = [1, 2]} : f32[?]
}
sources { 0 = [3, 1] Elu "e" })");
  CHECK(emit_json(graph) ==
        R"({"schema":"it-graph/1","name":"g\"","symbols":[{"name":"n","lowest":1,"highest":null}],"metadata":[{"key":"k","value":"v"}],"inputs":["x"],)"
        R"("captures":[],"outputs":["y"],"values":[)"
        R"({"name":"x","type":"f32[n,2]","dtype":"f32","shape":["n",2],"producer":null,"output":null,"constant":null},)"
        R"({"name":"w","type":"f32[2]","dtype":"f32","shape":[2],"producer":null,"output":null,"constant":)"
        R"({"payload":"inline","bytes":8,"file":null,"offset":null,"elements":[1.5,"nan"]}},)"
        R"({"name":"e","type":"f32[n,2]","dtype":"f32","shape":["n",2],"producer":0,"output":0,"constant":null},)"
        R"({"name":"y","type":"f32[?]","dtype":"f32","shape":null,"producer":1,"output":1,"constant":null}],"nodes":[)"
        R"({"op":"Elu","domain":"","version":0,"name":"e\u000a","inputs":["x"],"outputs":["e"],"attributes":{"alpha":{"kind":"real","value":0.5}},"origin":[0]},)"
        R"({"op":"Apply","domain":"com.example","version":1,"name":"","inputs":["e",null,"w"],"outputs":[null,"y"],"attributes":{"b":{"kind":"body","value":)"
        R"({"name":"b","symbols":[],"metadata":[],"inputs":[],"captures":["in"],"from":["e"],"outputs":["in"],"values":[)"
        R"({"name":"in","type":"f32[n,2]","dtype":"f32","shape":["n",2],"producer":null,"output":null,"constant":null}],"nodes":[]}},)"
        R"("l":{"kind":"integers","value":[1,2]}},"origin":[]}],"sources":[{"path":[3,1],"op":"Elu","name":"e"}]})"
        "\n");
}

TEST_CASE("JSON is well-formed UTF-8 whatever names hold") {
  std::string json = emit_json(graph_of("graph \"\xff\xc3\xa9\xed\xa0\x80\\x01\" () -> () {}"));
  CHECK(json.starts_with("{\"schema\":\"it-graph/1\",\"name\":\"\\u00ff\xc3\xa9\\u00ed\\u00a0\\u0080\\u0001\","));
}

TEST_CASE("dot of a graph") {
  Graph graph = graph_of(R"(graph "g" (%x: f32[2]) -> (%y) {
  %e = Relu(%x) @ "act"
  %y = Apply version 1 (%e) {b = graph "b" () captures (%in = %e) -> (%in) {}} : f32[2]
})");
  CHECK(emit_dot(graph) == R"(digraph "g" {
  rankdir=TB;
  v0 [shape=ellipse, label="x\nf32[2]"];
  n0 [shape=box, label="Relu\nact"];
  v0 -> n0;
  n1 [shape=box, style=dashed, label="Apply"];
  n0 -> n1 [label="e\nf32[2]"];
  subgraph cluster_n1b0 {
  label="Apply : b";
  n1b0v0 [shape=diamond, label="in\nf32[2]"];
  n1b0out0 [shape=ellipse, label="in"];
  n1b0v0 -> n1b0out0;
  }
  n0 -> n1b0v0 [label="e\nf32[2]"];
  out0 [shape=ellipse, label="y"];
  n1 -> out0 [label="y\nf32[2]"];
}
)");
}
