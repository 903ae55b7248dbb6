// What is different between two graphs. The graphs are small enough to see by eye what should be said.
#include <algorithm>

#include "libcore/ir/diff.h"
#include "tests/graphs/random_graph.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

// A line per difference, sorted; "" if there is none.
std::string differences(const Graph& a, const Graph& b) {
  GraphDiff found = value_of(diff(a, b));
  std::vector<std::string> lines;
  for (const Difference& d : found.differences) lines.push_back(d.kind + " | " + d.where + " | " + d.what + "\n");
  std::sort(lines.begin(), lines.end());
  if (found.shapes_that_follow > 0) lines.push_back(text(found.shapes_that_follow, " follow\n"));
  return join(lines, "");
}
std::string differences(std::string_view a, std::string_view b) { return differences(graph_of(a), graph_of(b)); }

std::string with(std::string source, std::string_view old, std::string_view fresh) {
  std::size_t at = source.find(old);
  REQUIRE(at != std::string::npos);
  return source.replace(at, old.size(), fresh);
}

const std::string base = R"(graph "g" (%x: f32[n,4], %z: f32[n,2]) -> (%y, %u) {
  symbol n in 1..8
  %w = constant f32[4,2] {1, 2, 3, 4, 5, 6, 7, 8}
  %m = MatMul(%x, %w) @ "fc"
  %t = Tanh(%m) @ "t"
  %s = Softmax(%t) {axis = 1} @ "s"
  %y = Add(%s, %z) @ "add"
  %u = Relu(%t) @ "r"
})";

}  // namespace

TEST_CASE("diff: names inside, the order of nodes and metadata do not count") {
  CHECK(differences(base, base) == "");
  CHECK(differences(base, R"(graph "other" (%x: f32[n,4], %z: f32[n,2]) -> (%y, %u) {
  symbol n in 1..8
  metadata "producer" = "hand"
  %weight = constant f32[4,2] {1, 2, 3, 4, 5, 6, 7, 8}
  %0 = MatMul(%x, %weight)
  %1 = Tanh(%0)
  %u = Relu(%1) @ "last"
  %2 = Softmax(%1) {axis = 1}
  %y = Add(%2, %z) @ "t"
})") == "");
}

TEST_CASE("diff: one change, one line") {
  CHECK(differences(base, with(base, "axis = 1", "axis = 0")) == "attribute | Softmax 's' | axis: 1 became 0\n");
  CHECK(differences(base, with(base, "{1, 2, 3, 4, 5, 6, 7, 8}", "{1, 2, 3, 4, 5, 6, 7, 10}")) ==
        "weight | MatMul 'fc' | input 1 \"w\": 1 of 8 elements differ, largest difference 2, relative L2 0.14002800840280097\n");  // 2 / sqrt(204)
  CHECK(differences(base, with(base, "Add(%s, %z)", "Add(%z, %s)")) == "wiring | Add 'add' | input 0 Softmax's \"s\" became \"z\"\nwiring | Add 'add' | input 1 \"z\" became Softmax's \"s\"\n");
  CHECK(differences(base, with(base, "Relu(%t)", "Relu(%m)")) == "wiring | Relu 'r' | input 0 Tanh's \"t\" became MatMul's \"m\"\n");
  CHECK(differences(base, with(base, "in 1..8", "in 1..9")) == "symbol |  | \"n\": 1..8 became 1..9\n");
  CHECK(differences(base, with(base, "symbol n in 1..8", "")) == "symbol |  | \"n\": 1..8 became any\n");
  CHECK(differences(base, with(base, "(%y, %u)", "(%u, %y)")) == "output |  | the order changed\n");
  CHECK(differences(base, with(base, "%u = Relu(%t)", "%u = Abs(%t)")) ==
        "added | Abs 'r' | \noutput |  | \"u\": Relu's \"u\" became Abs's \"u\"\nremoved | Relu 'r' | \n");
}

TEST_CASE("diff: nodes that came and went") {
  std::string more = with(with(base, "Softmax(%t)", "Softmax(%c)"), "  %s = ", "  %c = Cos(%t) @ \"c\"\n  %s = ");
  CHECK(differences(base, more) == "added | Cos 'c' | \nwiring | Softmax 's' | input 0 Tanh's \"t\" became Cos's \"c\"\n");
  CHECK(differences(more, base) == "removed | Cos 'c' | \nwiring | Softmax 's' | input 0 Cos's \"c\" became Tanh's \"t\"\n");
}

TEST_CASE("diff: a type that changed is said where it began") {
  std::string out = differences("graph \"g\" (%x: f32[2,3]) -> (%y) {\n %a = Neg(%x) @ \"a\"\n %b = Exp(%a) @ \"b\"\n %y = Relu(%b) @ \"c\"\n}",
                                "graph \"g\" (%x: f32[2,5]) -> (%y) {\n %a = Neg(%x) @ \"a\"\n %b = Exp(%a) @ \"b\"\n %y = Relu(%b) @ \"c\"\n}");
  CHECK(out == "input |  | \"x\": f32[2,3] became f32[2,5]\noutput |  | \"y\": f32[2,3] became f32[2,5]\n3 follow\n");
  out = differences("graph \"g\" (%x: f32[2,3]) -> (%y) {\n %a = Transpose(%x) {perm = [1, 0]} @ \"a\"\n %y = Relu(%a) @ \"c\"\n}",
                    "graph \"g\" (%x: f32[2,3]) -> (%y) {\n %a = Transpose(%x) {perm = [0, 1]} @ \"a\"\n %y = Relu(%a) @ \"c\"\n}");
  CHECK(out == "attribute | Transpose 'a' | perm: [1, 0] became [0, 1]\noutput |  | \"y\": f32[3,2] became f32[2,3]\nshape | Transpose 'a' | \"a\": f32[3,2] became f32[2,3]\n1 follow\n");
}

TEST_CASE("diff: interfaces") {
  CHECK(differences("graph \"g\" (%x: f32[2], %p: f32[2]) -> (%y) {\n %y = Add(%x, %p)\n}", "graph \"g\" (%x: f32[2], %q: f32[2]) -> (%v) {\n %v = Add(%x, %q)\n}") ==
        "input |  | \"p\" became \"q\"\noutput |  | \"y\" became \"v\"\n");
  CHECK(differences("graph \"g\" (%x: f32[2], %p: f32[2]) -> (%y) {\n %y = Neg(%x)\n}", "graph \"g\" (%x: f32[2]) -> (%y, %x) {\n %y = Neg(%x)\n}") ==
        "input |  | \"p\" is gone\noutput |  | \"x\" is new\n");
  CHECK(differences("graph \"g\" (%x: f32[2], %p: f32[2]) -> (%x) {\n}", "graph \"g\" (%x: f32[2], %p: f32[2]) -> (%p) {\n}") == "output |  | \"x\" became \"p\"\noutput |  | \"x\": \"x\" became \"p\"\n");
}

TEST_CASE("diff: what the optimiser made of some nodes is one line, by origin") {
  std::string sources = "\nsources {\n 0 = [0] Neg \"n\"\n 1 = [1] Exp \"e\"\n 2 = [2] Relu \"r\"\n}\n";
  CHECK(differences("graph \"g\" (%x: f32[2]) -> (%y) {\n %a = Neg(%x) @ \"n\" from 0\n %b = Exp(%a) @ \"e\" from 1\n %y = Relu(%b) @ \"r\" from 2\n}" + sources,
                    "graph \"g\" (%x: f32[2]) -> (%y) {\n %b = Sigmoid(%x) @ \"e\" from 0, 1\n %y = Relu(%b) @ \"r\" from 2\n}" + sources) ==
        "rewritten | Neg 'n', Exp 'e' | became Sigmoid 'e'\n");
}

TEST_CASE("diff: a weight that both sides of a rewrite read") {
  std::string sources = "\nsources {\n 0 = [0] Add \"n\"\n 1 = [1] Relu \"r\"\n}\n";
  auto after = [&](const std::string& elements) {
    return differences("graph \"g\" (%x: f32[2]) -> (%y) {\n %w = constant f32[2] {1, 2}\n %a = Add(%x, %w) @ \"n\" from 0\n %y = Relu(%a) @ \"r\" from 1\n}" + sources,
                       "graph \"g\" (%x: f32[2]) -> (%y) {\n %w = constant f32[2] {" + elements + "}\n %y = Max(%x, %w) @ \"r\" from 0, 1\n}" + sources);
  };
  std::string rewritten = "rewritten | Add 'n', Relu 'r' | became Max 'r'\n";
  CHECK(after("1, 2") == rewritten);
  CHECK(after("1, 4").starts_with(rewritten + "weight | Add 'n' | \"w\": 1 of 2 elements differ, largest difference 2, "));
}

TEST_CASE("diff: origins tell nodes apart that look alike") {
  std::string sources = "\nsources {\n 0 = [0] Relu \"first\"\n 1 = [1] Relu \"second\"\n 2 = [2] Relu \"third\"\n}\n";
  CHECK(differences("graph \"g\" (%x: f32[2]) -> (%y) {\n %a = Relu(%x) from 0\n %b = Relu(%a) @ \"gone\" from 1\n %y = Relu(%b) from 2\n}" + sources,
                    "graph \"g\" (%x: f32[2]) -> (%y) {\n %a = Relu(%x) from 0\n %y = Relu(%a) from 2\n}" + sources) ==
        "removed | Relu 'gone' | \nwiring | Relu (of 'y') | input 0 Relu's \"b\" became Relu's \"a\"\n");
}

// Exporters number their nodes: two more at the front, and all names that follow mean another node.
TEST_CASE("diff: numbered names that moved on") {
  auto chain = [](int first, const std::string& front, const std::string& input) {
    std::string nodes = front, sources, value = input;
    for (int i = 0; i < first; ++i) sources += text(" ", i, " = [", i, "] ", i % 2 ? "Relu" : "MatMul", " \"n", i, "\"\n");
    for (int i = 0; i < 6; ++i) {
      std::string result = i == 5 ? "y" : text("v", first + i), name = text(" @ \"n", first + i, "\" from ", first + i, "\n");
      nodes += i % 2 ? text(" %", result, " = Relu(%", value, ")", name)
                     : text(" %w", i, " = constant f32[4,4] {", i, ", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}\n %", result, " = MatMul(%", value, ", %w", i, ")", name);
      sources += text(" ", first + i, " = [", first + i, "] ", i % 2 ? "Relu" : "MatMul", " \"n", first + i, "\"\n");
      value = result;
    }
    return "graph \"g\" (%x: f32[4,4]) -> (%y) {\n" + nodes + "}\nsources {\n" + sources + "}\n";
  };
  std::string front = " %p = MatMul(%x, %x) @ \"n0\" from 0\n %q = Relu(%p) @ \"n1\" from 1\n";
  CHECK(differences(chain(0, "", "x"), chain(2, front, "q")) == "added | MatMul 'n0' | \nadded | Relu 'n1' | \nwiring | MatMul 'n0' | input 0 \"x\" became Relu's \"q\"\n");
}

TEST_CASE("diff: inside of bodies") {
  auto source = [](std::string_view op, std::string_view outside) {
    return text("graph \"g\" (%x: f32[2], %p: f32[2], %q: f32[2]) -> (%y) {\n %y = a::Box version 1 (%x) {\n body = graph \"b\" (%i: f32[2]) captures (%c = %", outside,
                ") -> (%o) {\n %e = Add(%i, %c) @ \"sum\"\n %o = ", op, "(%e) @ \"inner\"\n }\n } : f32[2] @ \"box\"\n}");
  };
  CHECK(differences(source("Neg", "p"), source("Neg", "p")) == "");
  CHECK(differences(source("Neg", "p"), source("Exp", "p")) ==
        "added | Box 'box' body: Exp 'inner' | \noutput | Box 'box' body:  | \"o\": Neg's \"o\" became Exp's \"o\"\nremoved | Box 'box' body: Neg 'inner' | \n");
  CHECK(differences(source("Neg", "p"), source("Neg", "q")) == "wiring | Box 'box' body | captures \"p\" became \"q\"\n");
}

TEST_CASE("diff: what has no content is not compared, and said to be so") {
  std::string absent = with(base, "{1, 2, 3, 4, 5, 6, 7, 8}", "absent");
  GraphDiff found = value_of(diff(graph_of(base), graph_of(absent)));
  CHECK(found.same());
  CHECK(found.unknown == std::vector<std::string>{"w"});
  CHECK(found.alike == 5);
}

TEST_CASE("diff: random graphs are themselves, and any other operator or weight is found") {
  OpTable ops;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Graph graph = tests::random_graph(ops, {.seed = seed, .nodes = 20});
    CHECK(differences(graph, graph) == "");
    // Written, and read again with other names inside.
    std::string source = print(graph, {.all_constants = true, .origins = false});
    CHECK(differences(graph, graph_of(source)) == "");
    Graph broken = graph;
    bool done = false;
    for (ValueInfo& value : GraphAccess::values(broken)) {
      if (done || !value.constant || value.constant->dtype != DType::f32 || value.constant->count() == 0 || uses_of(graph).count(value_named(graph, value.name)) == 0) continue;
      const Tensor& tensor = *value.constant->at_hand();
      std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
      bytes[0] ^= std::byte{1};
      value.constant = make_constant(value_of(Tensor::owning(DType::f32, tensor.extents(), std::move(bytes))));
      done = true;
    }
    if (done) CHECK(differences(graph, broken) != "");
  }
}
