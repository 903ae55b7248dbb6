// The law of a graph: order, names, references. Messages are part of the interface.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

TEST_CASE("a chain of nodes becomes a graph with names, types and origins") {
  Model m;
  m.input("x", "2,3");
  m.weight("w", {3, 4}, std::vector<float>(12, 0.5f));
  m.node("Relu", {"x"}, {"y"}, "first");
  m.node("MatMul", {"y", "w"}, {"z"}, "second");
  m.output("z");
  auto* entry = m.proto.add_metadata_props();
  entry->set_key("author");
  entry->set_value("someone");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  CHECK(graph.name() == "g");
  CHECK(listing(graph) == "Relu(x) -> y; MatMul(y,w) -> z");
  CHECK(to_string(value_named(graph, "z")->type) == "f32[2,4]");
  REQUIRE(graph.sources().size() == 2);
  CHECK(graph.sources()[1] == SourceNode{{1}, "MatMul", "second"});
  CHECK(graph.nodes()[1].origin == Origin{1});
  REQUIRE(graph.metadata().size() == 1);
  CHECK(graph.metadata()[0].second == "someone");
  CHECK(report->carried.empty());
}

TEST_CASE("nodes that are not in order are sorted, and those that are stay") {
  Model m;
  m.input("x", "2");
  m.node("Relu", {"c"}, {"d"});
  m.node("Relu", {"x"}, {"a"});
  m.node("Abs", {"x"}, {"b"});
  m.node("Exp", {"a"}, {"c"});
  m.output("d");
  m.output("b");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  CHECK(listing(report->module.graph) == "Relu(x) -> a; Abs(x) -> b; Exp(a) -> c; Relu(c) -> d");
  CHECK(report->module.graph.sources()[report->module.graph.nodes()[3].origin[0]].path == std::vector<std::uint32_t>{0});
  REQUIRE(report->notes.size() == 1);
  CHECK(report->notes[0] == "the nodes of graph 'g' were not in order");
}

TEST_CASE("violations are named") {
  Model m;
  m.input("x", "2");
  m.output("y");
  SUBCASE("a value produced twice") {
    m.node("Relu", {"x"}, {"y"}, "a");
    m.node("Abs", {"x"}, {"y"}, "b");
    CHECK(m.error() == "Abs: 1 node (b): produces 'y', which node 'a' produces already");
  }
  SUBCASE("an input produced again") {
    m.node("Relu", {"x"}, {"x"});
    m.node("Relu", {"x"}, {"y"});
    CHECK(m.error() == "Relu: 1 node (#0): produces 'x', which is an input or initializer of the graph");
  }
  SUBCASE("a dangling input") {
    m.node("Relu", {"nowhere"}, {"y"});
    CHECK(m.error() == "Relu: 1 node (#0): reads 'nowhere', which nothing produces");
  }
  SUBCASE("a cycle, with what leads there and out of it") {
    m.node("Relu", {"x"}, {"a"}, "before");
    m.node("MatMul", {"a", "c"}, {"b"}, "p");
    m.node("Abs", {"b"}, {"c"}, "q");
    m.node("Exp", {"c"}, {"y"}, "after");
    CHECK(m.error() == "MatMul: 1 node (p): is part of a cycle: p -> q -> p");
  }
  SUBCASE("an output that nobody produces") {
    m.node("Relu", {"x"}, {"z"});
    CHECK(m.error() == "output 'y' is produced by no node");
  }
  SUBCASE("two inputs of one name") {
    m.input("x", "3");
    m.node("Relu", {"x"}, {"y"});
    CHECK(m.error() == "there are two inputs 'x'");
  }
  SUBCASE("two outputs of one name") {
    m.node("Relu", {"x"}, {"y"});
    m.output("y");
    CHECK(m.error() == "there are two outputs 'y'");
  }
  SUBCASE("two initializers of one name") {
    m.weight("w", {1}, {1});
    m.weight("w", {1}, {2});
    m.node("Relu", {"w"}, {"y"});
    CHECK(m.error() == "there are two initializers 'w'");
  }
  SUBCASE("an input without a type") {
    m.graph().add_input()->set_name("untyped");
    m.node("Relu", {"x"}, {"y"});
    CHECK(m.error() == "input 'untyped' has no type");
  }
  SUBCASE("an element type that there is not") {
    m.input("odd", "2", 99);
    m.node("Relu", {"x"}, {"y"});
    CHECK(m.error() == "value 'odd' has element type 99; known are 1 to 26");
  }
  SUBCASE("an operator without a name") {
    m.node("", {"x"}, {"y"});
    CHECK(m.error() == ": 1 node (#0): the node names no operator");
  }
  CHECK(m.import().error().kind == ErrorKind::bad_input);
}

TEST_CASE("all problems come at once, grouped by operator and reason, and nodes that follow from them are left out") {
  Model m;
  m.input("x", "2,3");
  for (int i = 0; i < 5; ++i) {
    std::string name = text("y", i);
    auto& node = m.node("Relu", {"x"}, {name}, text("relu", i));
    auto* attribute = node.add_attribute();
    attribute->set_name("speed");
    attribute->set_i(3);
    m.node("Abs", {name}, {text("z", i)});
    m.output(text("z", i));
  }
  m.node("MatMul", {"x", "x"}, {"w"}, "square");
  m.output("w");
  std::string error = m.error();
  CHECK(error.find("relu0, relu1, relu2, ...): attribute 'speed' is not one of Relu\n") != std::string::npos);
  CHECK(error.find("MatMul: 1 node (square): ") != std::string::npos);
  CHECK(error.find("Abs") == std::string::npos);
}

TEST_CASE("opsets") {
  Model m(0);
  m.input("x", "2");
  m.node("Relu", {"x"}, {"y"});
  m.output("y");
  SUBCASE("none at all is the first, in models from before there were any") {
    CHECK(m.error() == "imports no opset, which every model of IR version 3 and later does; this one has version 8");
    m.proto.set_ir_version(2);
    auto* attribute = m.graph().mutable_node(0)->add_attribute();
    attribute->set_name("consumed_inputs");  // legal before opset 6 alone
    attribute->add_ints(0);
    CHECK(m.error() == "");
  }
  SUBCASE("ai.onnx is the default domain") {
    m.import_opset("ai.onnx", 13);
    m.graph().mutable_node(0)->set_domain("ai.onnx");
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    CHECK(report->module.graph.nodes()[0].domain == "");
  }
  SUBCASE("newer than known") {
    m.import_opset("", 29);
    CHECK(m.error() == "imports opset 29 of ai.onnx; known are 1 to 28");
    CHECK(m.import().error().kind == ErrorKind::unsupported);
  }
  SUBCASE("an operator before its time") {
    m.import_opset("", 19);
    m.node("Gelu", {"x"}, {"g"}, "gelu");
    CHECK(m.error() == "Gelu: 1 node (gelu): Gelu exists from opset 20 on, the model imports 19");
  }
  SUBCASE("an unknown domain matters only where it is used") {
    m.import_opset("", 17);
    m.import_opset("org.nobody", 3);
    CHECK(m.error() == "");
  }
  SUBCASE("an opset that no number of 32 bits can be") {
    m.import_opset("org.nobody", 1);
    m.proto.mutable_opset_import(0)->set_version(INT64_MAX);
    CHECK(m.error() == "imports opset 9223372036854775807 of 'org.nobody', expected 1 to 2147483647");
  }
  SUBCASE("no default domain: the newest is taken, and told") {
    m.import_opset("ai.onnx.ml", 3);
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    REQUIRE(report->notes.size() == 1);
    CHECK(report->notes[0] == "the model imports no opset of ai.onnx; 28 is taken");
  }
}

TEST_CASE("graph outputs may be inputs or initializers") {
  Model m;
  m.input("x", "2");
  m.weight("w", {1}, {4});
  m.output("x");
  m.output("w");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  REQUIRE(graph.outputs().size() == 2);
  CHECK(graph.value(graph.outputs()[0]).name == "x");
  CHECK(graph.value(graph.outputs()[1]).constant != nullptr);
}

TEST_CASE("an input with an initializer is a constant") {
  Model m;
  m.proto.set_ir_version(3);
  m.input("x", "1,1");
  m.input("w", "1,1");
  m.weight("w", {1, 1}, {4});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.output("y");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  CHECK(report->module.graph.inputs().size() == 1);
  CHECK(value_named(report->module.graph, "w")->constant != nullptr);
}

TEST_CASE("what is no model says so") {
  OpTable ops;
  auto error = [&ops](std::string_view bytes) { return import_onnx(std::as_bytes(std::span(bytes)), {}, ops).error().text(); };
  CHECK(error("") == "not an ONNX model: it holds no graph");
  CHECK(error("hello world, this is text") == "not an ONNX model: at byte 3 field 13 has wire type 4");
  CHECK(error(std::string_view("\x08\x07", 2)) == "not an ONNX model: it holds no graph");
  CHECK(error(std::string_view("\x3a\x05\x0a", 3)) == "not an ONNX model: at byte 2 field 7 claims 5 bytes, more than the message it stands in has left");
}
