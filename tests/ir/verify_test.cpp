#include "libcore/ir/verify.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

constexpr std::string_view sound = R"(graph "g" (
  %x: f32[n,4]
) -> (%y) {
  symbol n in 1..8
  %w = constant f32[4,2] {1, 2, 3, 4, 5, 6, 7, 8}
  %m = MatMul(%x, %w) @ "fc" from 0
  %y = Relu(%m) from 0, 1
}
sources {
  0 = [0] MatMul "fc"
  1 = [1] Relu ""
})";

// What the verifier says after `change`.
template <class Change>
std::string after(const Change& change) {
  Graph graph = graph_of(sound);
  change(graph);
  return failure(verify(graph));
}

using A = GraphAccess;

ValueInfo& info(Graph& graph, std::string_view name) { return A::values(graph)[value_named(graph, name).at()]; }

}  // namespace

TEST_CASE("a sound graph verifies") {
  CHECK(after([](Graph&) {}) == "");
  CHECK(verify(Graph()).has_value());
}

TEST_CASE("names") {
  CHECK(after([](Graph& g) { info(g, "m").name = ""; }) == "a value has no name");
  CHECK(after([](Graph& g) { info(g, "m").name = "x"; }) == "two values are named 'x'");
}

TEST_CASE("single assignment and order") {
  CHECK(after([](Graph& g) { std::swap(A::nodes(g)[0], A::nodes(g)[1]); }) == "Relu (of 'y'): reads 'm' before it is computed");
  CHECK(after([](Graph& g) { A::nodes(g)[1].outputs = A::nodes(g)[0].outputs; }) == "Relu (of 'm'): gives 'm', which exists already");
  CHECK(after([](Graph& g) { A::nodes(g)[1].outputs = {}; }) == "value 'y' comes from nowhere");
  CHECK(after([](Graph& g) { info(g, "y").output = 1; }) == "Relu (of 'y'): 'y' names another producer");
  CHECK(after([](Graph& g) { info(g, "x").producer = node_id(0); }) == "input 'x' has a producer");
  CHECK(after([](Graph& g) { A::inputs(g).push_back(A::inputs(g)[0]); }) == "input 'x' is an input or capture twice");
  CHECK(after([](Graph& g) { A::inputs(g).push_back(value_named(g, "w")); }) == "constant 'w' is an input or capture as well");
}

TEST_CASE("references exist") {
  CHECK(after([](Graph& g) { A::nodes(g)[0].inputs[0] = value_id(99); }) == "MatMul 'fc': reads value 99, which does not exist");
  CHECK(after([](Graph& g) { A::nodes(g)[0].inputs.emplace_back(); }) == "MatMul 'fc': has a trailing input left out");
  CHECK(after([](Graph& g) { A::nodes(g)[1].outputs[0] = value_id(99); }) == "Relu: gives value 99, which does not exist");
  CHECK(after([](Graph& g) { A::inputs(g)[0] = value_id(99); }) == "input 99 does not exist");
  CHECK(after([](Graph& g) { A::outputs(g).emplace_back(); }) == "output -1 does not exist");
  CHECK(after([](Graph& g) { A::outputs(g).push_back(A::outputs(g)[0]); }) == "'y' is an output twice");
  CHECK(after([](Graph& g) { A::nodes(g)[0].origin = {2}; }) == "MatMul 'fc': comes from source 2 of 2");
  CHECK(after([](Graph& g) { A::nodes(g)[0].origin = {1, 0}; }) == "MatMul 'fc': its origin is not sorted");
}

TEST_CASE("constants are what their values say") {
  CHECK(after([](Graph& g) { info(g, "w").type = type("f32[2,4]"); }) == "constant 'w' is f32[2,4], its payload f32[4,2]");
  CHECK(after([](Graph& g) { info(g, "w").producer = node_id(0); }) == "constant 'w' has a producer");
  CHECK(after([](Graph& g) {
          auto other = std::make_shared<Constant>(*info(g, "w").constant);
          other->payload = InlinePayload{Tensor::of<float>(DType::f32, {1}, {0})};
          info(g, "w").constant = other;
        }) == "constant 'w' is f32[4,2], its bytes f32[1]");
}

TEST_CASE("symbols") {
  CHECK(after([](Graph& g) { A::symbols(g)[0].name = ""; }) == "a symbol has no name");
  CHECK(after([](Graph& g) { A::symbols(g)[0].bounds = {5, 4}; }) == "symbol 'n' lies in 5..4");
  CHECK(after([](Graph& g) { A::symbols(g).push_back(A::symbols(g)[0]); }) == "symbol 'n' is there twice");
}

TEST_CASE("types are what inference gives again") {
  CHECK(after([](Graph& g) { info(g, "m").type = type("f32[n,3]"); }) == "MatMul 'fc': 'm' is f32[n,3], inference gives f32[n,2]");
  CHECK(after([](Graph& g) { info(g, "y").type = type("f16[n,2]"); }) == "Relu (of 'y'): 'y' is f16[n,2], inference gives f32[n,2]");
  CHECK(after([](Graph& g) { info(g, "y").type = type("f32[m,2]"); }) == "Relu (of 'y'): 'y' is f32[m,2], inference gives f32[n,2]");
  CHECK(after([](Graph& g) { info(g, "x").type = type("f32[n,5]"); }).starts_with("MatMul 'fc': a is [n,5], b is [4,2]"));
  CHECK(after([](Graph& g) { A::nodes(g)[1].attributes.set("alpha", 1.0f); }) == "Relu (of 'y'): attribute 'alpha' is not one of Relu");
  CHECK(after([](Graph& g) { A::nodes(g)[1].type = "Tanh"; }) == "Tanh (of 'y'): names operator '::Tanh' but has the definition of Relu");
}

TEST_CASE("elements known as dimensions are what inference gives again") {
  Graph g = graph_of(R"(graph "g" () -> (%y) {
  %c = constant i64[2] {1, 2}
  %y = Neg(%c)
})");
  CHECK(failure(verify(g)) == "");
  info(g, "y").dims->elements[0] = Dim(7);
  CHECK(failure(verify(g)) == "Neg (of 'y'): 'y' has other elements than inference gives");
}

TEST_CASE("a fresh dimension may have any name, but one") {
  GraphBuilder b;
  GraphBuilder::NodeSpec find;
  find.op = &find_op;
  find.inputs = {b.add_input("x", type("f32[n]"))};
  find.output_names = {"i"};
  find.declared = {type("i64[count]")};
  GraphBuilder::NodeSpec neg;
  neg.op = OpTable().find("", "Neg");
  neg.inputs = {value_of(b.add_node(std::move(find)))[0]};
  neg.output_names = {"y"};
  b.add_output(value_of(b.add_node(std::move(neg)))[0]);
  Graph g = value_of(std::move(b).build());
  CHECK(failure(verify(g)) == "");
  info(g, "y").type = type("i64[other]");
  CHECK(failure(verify(g)) == "Neg (of 'y'): 'y' is i64[other], inference gives i64[count]");
}

TEST_CASE("bodies") {
  constexpr std::string_view nested = R"(graph "outer" (%x: f32[2], %z: f32[3]) -> (%y) {
  %y = com.example::Apply version 1 (%x) {body = graph "inner" (%a: f32[2]) captures (%b = %x) -> (%r) {
    %r = Relu(%b)
  }} @ "apply" : f32[2]
})";
  // The order of name and type is the printer's: the type comes first.
  CHECK(failure(parse_text(nested, OpTable())) == "line 4, column 16: found ':', expected an operator");
  std::string source(nested);
  source.replace(source.find("@ \"apply\" : f32[2]"), 18, ": f32[2] @ \"apply\"");
  auto broken = [&source](auto change) {
    Graph g = graph_of(source);
    auto inner = std::make_shared<Graph>(*bodies(g.nodes()[0])[0]->graph);
    Body body = *bodies(g.nodes()[0])[0];
    change(*inner, body);
    body.graph = inner;
    A::nodes(g)[0].attributes.set("body", body);
    return failure(verify(g));
  };
  CHECK(broken([](Graph&, Body&) {}) == "");
  CHECK(broken([](Graph&, Body& b) { b.captures.push_back(value_id(0)); }) == "Apply 'apply': body 'inner' captures 1 values, but is given 2");
  CHECK(broken([](Graph&, Body& b) { b.captures[0] = value_id(1); }) == "Apply 'apply': body 'inner' captures 'z' as f32[2], it is f32[3]");
  CHECK(broken([](Graph&, Body& b) { b.captures[0] = value_id(2); }) == "Apply 'apply': captures 'y' before it is computed");
  CHECK(broken([](Graph& g, Body&) { info(g, "r").type = type("f32[9]"); }) ==
        "Apply 'apply': body 'inner': Relu (of 'r'): 'r' is f32[9], inference gives f32[2]");
  CHECK(broken([](Graph& g, Body&) { A::outputs(g)[0] = value_id(9); }) == "Apply 'apply': body 'inner': output 9 does not exist");
}
