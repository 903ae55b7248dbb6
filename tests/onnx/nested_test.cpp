// Nested graphs: what they take from around them, and operators that are carried.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

onnx::GraphProto& graph_attribute(onnx::NodeProto& node, std::string_view name) {
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(std::string(name));
  return *attribute->mutable_g();
}

const Body& body(const Node& node, std::string_view name) {
  const Body* found = node.attributes.get<Body>(name);
  REQUIRE(found != nullptr);
  return *found;
}

std::string captured(const Graph& outer, const Body& inner) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inner.captures.size(); ++i) {
    names.push_back(outer.value(inner.captures[i]).name + "=" + inner.graph->value(inner.graph->captures()[i]).name);
  }
  return join(names, ",");
}

}  // namespace

TEST_CASE("an operator that is not known is carried, with its domain, attributes and declared types") {
  Model m;
  m.import_opset("org.nobody", 3);
  m.input("x", "N,2");
  for (int i = 0; i < 4; ++i) {
    auto& node = m.node("Spin", {i == 0 ? "x" : text("y", i - 1), "", "x"}, {text("y", i), ""}, text("spin", i));
    node.set_domain("org.nobody");
    auto* attribute = node.add_attribute();
    attribute->set_name("turns");
    attribute->set_f(0.5f);  // no type: inferred from the filled field
  }
  set_type(*m.graph().add_value_info(), "y0", 1, "N,2");
  m.node("Relu", {"y3"}, {"z"});
  m.node("Relu", {"y0"}, {"w"});
  m.output("z");
  m.output("w");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  CHECK(graph.nodes()[0].op == nullptr);
  CHECK(graph.nodes()[0].domain == "org.nobody");
  CHECK(graph.nodes()[0].version == 3);
  CHECK(graph.nodes()[0].attributes.real("turns") == 0.5f);
  CHECK(graph.nodes()[0].outputs.size() == 1);
  CHECK_FALSE(graph.nodes()[0].inputs[1].valid());
  CHECK(to_string(value_named(graph, "w")->type) == "f32[N,2]");
  CHECK(to_string(value_named(graph, "z")->type) == "unknown");
  CHECK(to_string(report->carried) == "org.nobody.Spin: 4 nodes (spin0, spin1, spin2, ...): domain 'org.nobody' is not known");
  ImportOptions strict;
  strict.strict = true;
  CHECK(m.import(strict).error().kind == ErrorKind::unsupported);
  CHECK(m.error(strict) == "org.nobody.Spin: 4 nodes (spin0, spin1, spin2, ...): domain 'org.nobody' is not known");
}

TEST_CASE("captures are explicit, through two levels, each once; small constants are repeated inside") {
  Model m;
  m.import_opset("my", 1);
  m.input("c", "", 9);
  m.input("x", "2");
  m.weight("small", {2}, {1, 2});
  m.weight("large", {2000}, std::vector<float>(2000, 1));
  m.node("Relu", {"late"}, {"unused"});
  auto& outer = m.node("Choose", {"c"}, {"y"}, "outer");
  outer.set_domain("my");
  auto& a = graph_attribute(outer, "then");
  auto& inner = add_node(*a.mutable_node(), "Choose", {"c"}, {"i"}, "inner");
  inner.set_domain("my");
  a.add_output()->set_name("i");
  auto& b = graph_attribute(inner, "then");
  add_node(*b.mutable_node(), "Relu", {"x"}, {"p"});
  add_node(*b.mutable_node(), "Abs", {"late"}, {"q"});
  add_node(*b.mutable_node(), "Exp", {"small"}, {"r"});
  add_node(*b.mutable_node(), "Exp", {"large"}, {"s"});
  b.add_output()->set_name("p");
  m.node("Exp", {"x"}, {"late"});  // stands after its reader, which reads it only inside
  m.output("y");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  REQUIRE(graph.nodes().size() == 3);
  CHECK(graph.nodes()[0].type == "Exp");
  const Node* choose = nullptr;
  for (const Node& node : graph.nodes()) {
    if (node.type == "Choose") choose = &node;
  }
  REQUIRE(choose != nullptr);
  const Body& first = body(*choose, "then");
  CHECK(captured(graph, first) == "c=c,x=x,late=late,large=large");
  const Node& nested = first.graph->nodes()[0];
  const Body& second = body(nested, "then");
  CHECK(captured(*first.graph, second) == "x=x,late=late,large=large");
  CHECK(value_named(*second.graph, "small")->constant != nullptr);
  CHECK(second.graph->sources()[second.graph->nodes()[1].origin[0]].path == std::vector<std::uint32_t>{1, 0, 0, 0, 1});
}

TEST_CASE("a name inside hides the one around, and an output may come from around") {
  Model m;
  m.import_opset("my", 1);
  m.input("x", "2");
  m.node("Relu", {"x"}, {"t"});
  auto& node = m.node("Choose", {"x"}, {"y"});
  node.set_domain("my");
  auto& inside = graph_attribute(node, "then");
  add_node(*inside.mutable_node(), "Abs", {"t"}, {"u"});  // the inner t, though it stands below
  add_node(*inside.mutable_node(), "Exp", {"x"}, {"t"});
  inside.add_output()->set_name("u");
  inside.add_output()->set_name("x");
  m.output("y");
  m.output("t");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Body& made = body(report->module.graph.nodes()[1], "then");
  CHECK(listing(*made.graph) == "Exp(x) -> t; Abs(t) -> u");
  CHECK(captured(report->module.graph, made) == "x=x");
  CHECK(made.graph->value(made.graph->outputs()[1]).name == "x");
}

TEST_CASE("problems inside nested graphs are reported where they are") {
  Model m;
  m.import_opset("my", 1);
  m.input("x", "2");
  auto& node = m.node("Choose", {"x"}, {"y"}, "choose");
  node.set_domain("my");
  auto& inside = graph_attribute(node, "then");
  add_node(*inside.mutable_node(), "Abs", {"gone"}, {"u"});
  inside.add_output()->set_name("u");
  m.output("y");
  CHECK(m.error().starts_with("Abs: 1 node (#0.0.0): reads 'gone', which nothing produces"));
  CHECK(m.import().error().kind == ErrorKind::bad_input);
}

TEST_CASE("nesting has a bound") {
  Model m;
  m.import_opset("my", 1);
  m.input("x", "2");
  auto* nodes = m.graph().mutable_node();
  for (int i = 0; i < 200; ++i) {
    auto& node = add_node(*nodes, "Choose", {"x"}, {text("y", i)});
    node.set_domain("my");
    auto& inside = graph_attribute(node, "then");
    inside.add_output()->set_name("x");
    nodes = inside.mutable_node();
  }
  m.output("y0");
  CHECK(m.import().error().kind == ErrorKind::bad_input);
}

TEST_CASE("Loop bodies that say no types take those of the node") {
  Model m;
  m.input("n", "", 7);
  m.input("go", "", 9);
  m.input("state", "2,N");
  auto& loop = m.node("Loop", {"n", "go", "state"}, {"last"}, "loop");
  auto& inside = graph_attribute(loop, "body");
  for (const char* name : {"i", "cond", "s"}) inside.add_input()->set_name(name);
  add_node(*inside.mutable_node(), "Identity", {"cond"}, {"cond_out"});
  add_node(*inside.mutable_node(), "Relu", {"s"}, {"s_out"});
  inside.add_output()->set_name("cond_out");
  inside.add_output()->set_name("s_out");
  m.output("last");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Body& made = body(report->module.graph.nodes()[0], "body");
  CHECK(to_string(value_named(*made.graph, "i")->type) == "i64[]");
  CHECK(to_string(value_named(*made.graph, "cond_out")->type) == "bool[]");
  CHECK(to_string(value_named(*made.graph, "s_out")->type) == "f32[?]");
}
