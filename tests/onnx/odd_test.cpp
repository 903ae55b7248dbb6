// Odd but legal: what real files hold, each counted in collections of published models.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

Graph imported(const Model& m) {
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  return std::move(report->module.graph);
}

}  // namespace

TEST_CASE("no IR version, no names, no output types") {
  Model m;
  m.proto.clear_ir_version();
  m.graph().clear_name();
  m.input("x", "2");
  m.node("Relu", {"x"}, {"y"});
  m.output("y");
  Graph graph = imported(m);
  CHECK(graph.nodes()[0].name == "");
  CHECK(to_string(graph.value(graph.outputs()[0]).type) == "f32[2]");
}

TEST_CASE("initializers of rank 0 and of no elements") {
  Model m;
  m.weight("scalar", {}, {3});
  m.weight("nothing", {0}, {});
  m.output("scalar");
  m.output("nothing");
  Graph graph = imported(m);
  CHECK(to_string(value_named(graph, "scalar")->type) == "f32[]");
  CHECK(to_string(value_named(graph, "nothing")->type) == "f32[0]");
}

TEST_CASE("an input and its initializer of another type or size") {
  auto error_of = [](const char* declared) {
    Model m;
    m.input("w", declared);
    m.weight("w", {3, 2}, {1, 2, 3, 4, 5, 6});
    m.node("Relu", {"w"}, {"y"});
    m.output("y");
    return m.error();
  };
  CHECK(error_of("3,4").find("input 'w' is f32[3,4], its initializer f32[3,2]") != std::string::npos);
  CHECK(error_of("3").find("input 'w' is f32[3], its initializer f32[3,2]") != std::string::npos);
  Model m;
  m.input("w", "n,2");
  m.weight("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  m.output("w");
  Graph graph = imported(m);
  CHECK(to_string(value_named(graph, "w")->type) == "f32[3,2]");
}

TEST_CASE("a domain imported twice: the last counts; a domain not imported: its nodes are carried all the same") {
  Model m(1);
  m.import_opset("ai.onnx", 20);
  m.input("x", "2");
  m.node("Gelu", {"x"}, {"y"});
  m.node("Custom", {"y"}, {"z"}).set_domain("com.example");
  m.output("z");
  Graph graph = imported(m);
  CHECK(graph.nodes()[0].op != nullptr);
  CHECK(graph.nodes()[1].op == nullptr);
  CHECK(graph.nodes()[1].version == 0);
}

TEST_CASE("inputs left out in the middle and at the end, outputs nobody wants") {
  Model m;
  m.input("x", "2,3");
  m.weight("top", {}, {6});
  m.node("Clip", {"x", "", "top"}, {"y"});
  m.node("Clip", {"y", "", ""}, {"z"});
  m.node("Dropout", {"z"}, {"w", ""});
  m.output("w");
  Graph graph = imported(m);
  REQUIRE(graph.nodes().size() == 3);
  CHECK(graph.nodes()[0].inputs.size() == 3);
  CHECK_FALSE(graph.nodes()[0].inputs[1].valid());
  CHECK(graph.nodes()[1].inputs.size() == 1);
  CHECK(graph.nodes()[2].outputs.size() == 1);
}

TEST_CASE("attributes: internal ones are skipped, twice the same is refused, so is one that says nothing") {
  Model m;
  m.input("x", "2");
  m.output("y");
  auto* attribute = m.node("LeakyRelu", {"x"}, {"y"}).add_attribute();
  SUBCASE("internal") {
    attribute->set_name("__seen");
    attribute->set_i(1);
    CHECK(m.error() == "");
  }
  SUBCASE("twice") {
    for (int i = 0; i < 2; ++i) {
      auto* again = i == 0 ? attribute : m.graph().mutable_node(0)->add_attribute();
      again->set_name("alpha");
      again->set_f(0.5f);
    }
    CHECK(m.error() == "LeakyRelu: 1 node (#0): attribute 'alpha' is given twice");
  }
  SUBCASE("nothing") {
    attribute->set_name("alpha");
    CHECK(m.error() == "LeakyRelu: 1 node (#0): attribute 'alpha' holds no value and does not say its type");
  }
  SUBCASE("another kind") {
    attribute->set_name("alpha");
    attribute->set_i(1);
    CHECK(m.import().error().kind == ErrorKind::bad_input);
  }
}

TEST_CASE("a name on a node that several have, and values with any characters") {
  Model m;
  m.input("onnx::x:0", "2");
  m.node("Relu", {"onnx::x:0"}, {"{\"a\": 1}/y"}, "same");
  m.node("Relu", {"{\"a\": 1}/y"}, {"z"}, "same");
  m.output("z");
  CHECK(listing(imported(m)) == "Relu(onnx::x:0) -> {\"a\": 1}/y; Relu({\"a\": 1}/y) -> z");
}
