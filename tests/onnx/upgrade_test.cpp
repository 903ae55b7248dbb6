// Older opsets: what importing makes of a node is what the newest opset has. Forms taken from ONNX's operator change logs.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

void set_ints(onnx::NodeProto& node, std::string_view name, std::vector<std::int64_t> values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(onnx::AttributeProto::INTS);
  for (std::int64_t value : values) attribute->add_ints(value);
}

std::vector<std::int64_t> constant_input(const Graph& graph, const Node& node, std::size_t position) {
  REQUIRE(position < node.inputs.size());
  REQUIRE(node.inputs[position].valid());
  const ConstantRef& constant = graph.value(node.inputs[position]).constant;
  REQUIRE(constant != nullptr);
  return constant->at_hand()->to_ints();
}

}  // namespace

TEST_CASE("attributes that became inputs") {
  Model m(11);
  m.input("x", "2,1,3");
  SUBCASE("Squeeze 11 -> 13") {
    set_ints(m.node("Squeeze", {"x"}, {"y"}), "axes", {1});
    m.output("y");
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    const Graph& graph = report->module.graph;
    CHECK(constant_input(graph, graph.nodes()[0], 1) == std::vector<std::int64_t>{1});
    CHECK(to_string(value_named(graph, "y")->type) == "f32[2,3]");
  }
  SUBCASE("ReduceSum 11 -> 13") {
    set_ints(m.node("ReduceSum", {"x"}, {"y"}), "axes", {0, 2});
    m.output("y");
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    const Graph& graph = report->module.graph;
    CHECK(constant_input(graph, graph.nodes()[0], 1) == std::vector<std::int64_t>{0, 2});
    CHECK(to_string(value_named(graph, "y")->type) == "f32[1,1,1]");
  }
}

TEST_CASE("a node that takes several: Softmax before opset 13 works on two dimensions") {
  Model m(9);
  m.input("x", "2,3,4");
  m.node("Softmax", {"x"}, {"y"}, "softmax");
  m.output("y");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  CHECK(graph.nodes().size() > 1);
  CHECK(to_string(value_named(graph, "y")->type) == "f32[2,3,4]");
  for (const Node& node : graph.nodes()) CHECK(node.origin == Origin{0});
  CHECK(graph.value(graph.outputs()[0]).name == "y");
}

TEST_CASE("broadcasting before opset 7 was an attribute") {
  Model m(6);
  m.input("x", "2,3,4");
  m.input("b", "3");
  auto& node = m.node("Add", {"x", "b"}, {"y"});
  for (auto [name, value] : {std::pair("broadcast", 1), std::pair("axis", 1)}) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  m.output("y");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  CHECK(to_string(value_named(report->module.graph, "y")->type) == "f32[2,3,4]");
}

TEST_CASE("Constant nodes become constants, whatever they hold") {
  Model m(13);
  onnx::AttributeProto* attribute = m.node("Constant", {}, {"c"}).add_attribute();
  auto constant = [&m] {
    m.output("c");
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    CHECK(report->module.graph.nodes().empty());
    return *value_named(report->module.graph, "c")->constant->at_hand();
  };
  SUBCASE("value_ints") {
    attribute->set_name("value_ints");
    attribute->add_ints(4);
    attribute->add_ints(5);
    CHECK(constant().to_ints() == std::vector<std::int64_t>{4, 5});
  }
  SUBCASE("value_float") {
    attribute->set_name("value_float");
    attribute->set_f(0.5f);
    CHECK(constant().as_double(0) == 0.5);
  }
  SUBCASE("value_strings") {
    attribute->set_name("value_strings");
    attribute->add_strings("a");
    CHECK(constant().strings()[0] == "a");
  }
  SUBCASE("value") {
    attribute->set_name("value");
    set_floats(*attribute->mutable_t(), "", {2}, {1, 2});
    CHECK(constant().as_double(1) == 2.0);
  }
  SUBCASE("something else") {
    attribute->set_name("values");
    attribute->set_i(1);
    m.output("c");
    CHECK(m.error() == "Constant: 1 node (#0): attribute 'values' is not one of Constant");
  }
}
