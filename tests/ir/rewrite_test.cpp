#include "libcore/ir/rewrite.h"
#include "libcore/ir/verify.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

const OpTable ops;

GraphBuilder::NodeSpec spec(std::string_view op, std::vector<ValueId> inputs) {
  GraphBuilder::NodeSpec out;
  out.op = ops.find("", op);
  REQUIRE(out.op != nullptr);
  out.inputs = std::move(inputs);
  return out;
}

bool is(const Rewriter& rewriter, NodeId id, std::string_view type) { return rewriter.old().node(id).type == type; }

// The graph's text after `visit` for each node; verified.
std::string after(std::string_view source, const std::function<Result<bool>(Rewriter&, NodeId)>& visit) {
  Graph graph = value_of(rewrite(graph_of(source), visit));
  CHECK(failure(verify(graph)) == "");
  return print(graph);
}

constexpr std::string_view chain = R"(graph "g" (
  %x: f32[n,4]
) -> (%y) {
  symbol n in 1..8
  metadata "producer" = "hand"
  %w = constant f32[4,2] {1, 2, 3, 4, 5, 6, 7, 8}
  %m = MatMul(%x, %w) : f32[n,2] @ "fc" from 0
  %t = Tanh(%m) : f32[n,2] @ "t" from 1
  %y = Relu(%t) : f32[n,2] @ "r" from 2
}
sources {
  0 = [0] MatMul "fc"
  1 = [1] Tanh "t"
  2 = [2] Relu "r"
}
)";

}  // namespace

TEST_CASE("a rewrite that changes nothing copies everything") {
  CHECK(after(chain, [](Rewriter&, NodeId) -> Result<bool> { return false; }) == chain);
}

TEST_CASE("a node in place of two has both origins and the old name of the result") {
  std::string text = after(chain, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (is(r, id, "Tanh")) return true;
    if (!is(r, id, "Relu")) return false;
    const Node& relu = r.old().node(id);
    NodeId tanh = r.old().value(relu.inputs[0]).producer;
    std::array<NodeId, 2> from = {tanh, id};
    IT_TRY_VOID(r.emit(spec("Sigmoid", {r.map(r.old().node(tanh).inputs[0])}), from, relu.outputs));
    return true;
  });
  CHECK(text.find("  %y = Sigmoid(%m) : f32[n,2] @ \"t\" from 1, 2\n") != std::string::npos);
}

TEST_CASE("an output keeps its name when another value takes its place") {
  std::string text = after(chain, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (!is(r, id, "Relu")) return false;
    const Node& relu = r.old().node(id);
    CHECK(r.can_replace(relu.outputs[0], r.map(relu.inputs[0])));
    r.replace(relu.outputs[0], r.map(relu.inputs[0]));
    return true;
  });
  CHECK(text.find("  %y = Tanh(%m)") != std::string::npos);
  CHECK(text.find("%t") == std::string::npos);
}

TEST_CASE("an output that becomes an input, a constant or another output gets an Identity") {
  constexpr std::string_view two = R"(graph "g" (%x: f32[2]) -> (%a, %b) {
  %a = Relu(%x)
  %b = Relu(%x)
})";
  std::string text = after(two, [](Rewriter& r, NodeId id) -> Result<bool> {
    const Node& node = r.old().node(id);
    if (id == node_id(0)) {
      CHECK(!r.can_replace(node.outputs[0], r.map(node.inputs[0])));
      r.replace(node.outputs[0], r.map(node.inputs[0]));
    } else {
      r.replace(node.outputs[0], r.constant(Tensor::of<float>(DType::f32, {2}, {1, 2}), "one"));
    }
    return true;
  });
  CHECK(text == R"(graph "g" (
  %x: f32[2]
) -> (%a, %b) {
  %one = constant f32[2] {1, 2}
  %a = Identity(%x) : f32[2]
  %b = Identity(%one) : f32[2]
}
)");
  text = after(two, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (id == node_id(0)) return false;
    ValueId a = r.map(r.old().node(node_id(0)).outputs[0]);
    CHECK(!r.can_replace(r.old().node(id).outputs[0], a));
    r.replace(r.old().node(id).outputs[0], a);
    return true;
  });
  CHECK(text.find("  %a = Relu(%x) : f32[2]\n  %b = Identity(%a) : f32[2]\n") != std::string::npos);
}

TEST_CASE("what is left without a stand-in is an error that names it") {
  Result<Graph> made = rewrite(graph_of(chain), [](Rewriter& r, NodeId id) -> Result<bool> { return is(r, id, "Tanh"); });
  CHECK(failure(made) == "Relu 'r': reads 't', which nothing in the new graph stands for");
  made = rewrite(graph_of(chain), [](Rewriter& r, NodeId id) -> Result<bool> { return is(r, id, "Relu"); });
  CHECK(failure(made) == "nothing in the new graph stands for output 'y'");
}

TEST_CASE("new names avoid the old ones, and constants nobody reads any more go") {
  std::string text = after(chain, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (!is(r, id, "MatMul")) return false;
    ValueId zero = r.constant(Tensor::of<float>(DType::f32, {4, 2}, std::vector<float>(8)), "t");
    r.constant(Tensor::of<float>(DType::f32, {1}, {9}), "idle");
    IT_TRY(std::vector<ValueId> negative, r.emit(spec("Neg", {zero}), std::span<const NodeId>()));
    std::array<NodeId, 1> from = {id};
    IT_TRY_VOID(r.emit(spec("MatMul", {r.map(r.old().node(id).inputs[0]), negative[0]}), from, r.old().node(id).outputs));
    return true;
  });
  CHECK(text.find("  %t_1 = constant f32[4,2] {0, 0, 0, 0, 0, 0, 0, 0}\n  %Neg = Neg(%t_1)") != std::string::npos);
  CHECK(text.find("  %t = Tanh(%m)") != std::string::npos);
  CHECK(text.find("%w") == std::string::npos);
  CHECK(text.find("idle") == std::string::npos);
}

namespace {

constexpr std::string_view nested = R"(graph "g" (
  %x: f32[n],
  %z: f32[n]
) -> (%y) {
  %t = Tanh(%x) : f32[n]
  %y = com.example::Apply version 1 (%x) {
    body = graph "inner" (
      %a: f32[n]
    ) captures (%t, %c = %z) -> (%r) {
      %u = Relu(%c) : f32[n]
      %r = Relu(%t) : f32[n]
    }
  } : f32[n]
}
)";

}  // namespace

TEST_CASE("bodies are copied with their captures") {
  CHECK(after(nested, [](Rewriter&, NodeId) -> Result<bool> { return false; }) == nested);
  std::string text = after(nested, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (!is(r, id, "Tanh")) return false;
    r.replace(r.old().node(id).outputs[0], r.map(r.old().node(id).inputs[0]));
    return true;
  });
  CHECK(text.find("captures (%t = %x, %c = %z)") != std::string::npos);
}

TEST_CASE("bodies are inferred anew where a capture has another type") {
  std::string text = after(nested, [](Rewriter& r, NodeId id) -> Result<bool> {
    if (!is(r, id, "Tanh")) return false;
    r.replace(r.old().node(id).outputs[0], r.constant(Tensor::of<float>(DType::f32, {3}, {1, 2, 3}), "three"));
    return true;
  });
  CHECK(text.find("captures (%t = %three, %c = %z)") != std::string::npos);
  CHECK(text.find("%r = Relu(%t) : f32[3]") != std::string::npos);
}

TEST_CASE("map_bodies rewrites bodies, which may drop captures") {
  Graph graph = value_of(map_bodies(graph_of(nested), [](const Node&) { return true; }, [](const Graph& body) {
    return rewrite(body, [](Rewriter& r, NodeId id) -> Result<bool> { return r.old().value(r.old().node(id).outputs[0]).name == "u"; });
  }));
  CHECK(failure(verify(graph)) == "");
  std::string text = print(graph);
  CHECK(text.find("captures (%t) -> (%r)") != std::string::npos);
  CHECK(text.find("%u") == std::string::npos);
}

TEST_CASE("symbols are bound in graphs and bodies, within their bounds") {
  Graph graph = value_of(bind_symbols(graph_of(nested), {{"n", 5}}));
  CHECK(failure(verify(graph)) == "");
  std::string text = print(graph);
  CHECK(text.find("[n]") == std::string::npos);
  CHECK(text.find("%r = Relu(%t) : f32[5]") != std::string::npos);
  CHECK(failure(bind_symbols(graph_of(chain), {{"n", 9}})) == "symbol 'n' is 9, it must lie in 1..8");
  CHECK(value_of(bind_symbols(graph_of(chain), {{"n", 8}})).symbols().empty());
}
