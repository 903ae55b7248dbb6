// Model-local functions are expanded where they are called.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

void set_int(onnx::NodeProto& node, std::string_view name, std::int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void set_real(onnx::NodeProto& node, std::string_view name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_f(value);
}

void refer(onnx::NodeProto& node, std::string_view name, std::string_view to) {
  auto* attribute = node.add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(onnx::AttributeProto::FLOAT);
  attribute->set_ref_attr_name(std::string(to));
}

std::string imported(const Model& m) {
  Result<ImportReport> report = m.import();
  return report ? listing(report->module.graph) : report.error().text();
}

// f(a) = Abs(Relu(a))
Model with_function() {
  Model m;
  m.input("x", "2");
  m.import_opset("my", 1);
  auto& f = m.function("my", "f", {"a"}, {"b"});
  add_node(*f.mutable_node(), "Relu", {"a"}, {"t"}, "relu");
  add_node(*f.mutable_node(), "Abs", {"t"}, {"b"}, "abs");
  return m;
}

onnx::NodeProto& call(Model& m, std::vector<std::string> inputs, std::vector<std::string> outputs, std::string_view name = "") {
  onnx::NodeProto& node = m.node("f", std::move(inputs), std::move(outputs), name);
  node.set_domain("my");
  return node;
}

}  // namespace

TEST_CASE("a function's results take the caller's names, and the rest a prefix") {
  Model m = with_function();
  call(m, {"x"}, {"y"}, "first");
  call(m, {"y"}, {"z"});
  m.output("z");
  Result<ImportReport> report = m.import();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Graph& graph = report->module.graph;
  CHECK(listing(graph) == "Relu(x) -> first/t; Abs(first/t) -> y; Relu(y) -> f/t; Abs(f/t) -> z");
  CHECK(graph.nodes()[0].name == "first/relu");
  // Path: the call, then as if the body were one attribute more, then the node inside.
  CHECK(graph.sources()[graph.nodes()[3].origin[0]].path == std::vector<std::uint32_t>{1, 0, 1});
}

TEST_CASE("a value of the model keeps its name when a function's would be the same") {
  Model m = with_function();
  call(m, {"x"}, {"y"}, "first");
  m.node("Exp", {"y"}, {"first/t"});
  m.output("first/t");
  CHECK(imported(m) == "Relu(x) -> first/t_1; Abs(first/t_1) -> y; Exp(y) -> first/t");
}

TEST_CASE("attributes") {
  Model m;
  m.input("x", "2");
  auto& f = m.function("my", "f", {"a"}, {"b"});
  f.add_attribute("slope");
  refer(add_node(*f.mutable_node(), "LeakyRelu", {"a"}, {"b"}), "alpha", "slope");
  m.output("y");
  auto alpha = [&m] {
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    return report->module.graph.nodes()[0].attributes.real("alpha");
  };
  SUBCASE("given by the caller") {
    set_real(call(m, {"x"}, {"y"}), "slope", 0.25f);
    CHECK(alpha() == 0.25f);
  }
  SUBCASE("left out: the operator's own default") {
    call(m, {"x"}, {"y"});
    CHECK(alpha() == 0.01f);
  }
  SUBCASE("a default of the function: a field newer than the message classes") {
    onnx::AttributeProto standard;
    standard.set_name("slope");
    standard.set_type(onnx::AttributeProto::FLOAT);
    standard.set_f(0.75f);
    *f.GetReflection()->MutableUnknownFields(&f)->AddLengthDelimited(11) = standard.SerializeAsString();
    call(m, {"x"}, {"y"});
    CHECK(alpha() == 0.75f);
  }
  SUBCASE("unknown") {
    set_int(call(m, {"x"}, {"y"}), "depth", 1);
    CHECK(m.error() == "my.f: 1 node (#0): attribute 'depth' is not one of the function");
  }
  SUBCASE("a reference outside of any function") {
    refer(m.node("LeakyRelu", {"x"}, {"y"}, "leaky"), "alpha", "slope");
    CHECK(m.error() == "LeakyRelu: 1 node (leaky): attribute 'alpha' refers to 'slope' of a function, but stands outside of any");
  }
}

TEST_CASE("overloads are told apart") {
  Model m = with_function();
  auto& other = m.function("my", "f", {"a"}, {"b"});
  *other.GetReflection()->MutableUnknownFields(&other)->AddLengthDelimited(13) = "second";
  add_node(*other.mutable_node(), "Exp", {"a"}, {"b"});
  auto& node = call(m, {"x"}, {"y"});
  *node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(8) = "second";
  m.output("y");
  CHECK(imported(m) == "Exp(x) -> y");
}

TEST_CASE("a function wins over an operator of its name, and its opset is its own") {
  Model m(5);
  m.input("x", "2");
  auto& f = m.function("", "Softsign", {"a"}, {"b"});  // written at opset 17
  add_node(*f.mutable_node(), "HardSwish", {"a"}, {"b"});
  m.node("Softsign", {"x"}, {"y"});
  m.output("y");
  CHECK(imported(m) == "HardSwish(x) -> y");
}

TEST_CASE("results that are inputs, optional inputs, unsorted bodies, functions inside functions") {
  Model m = with_function();
  auto& g = m.function("my", "g", {"p", "q"}, {"r", "s"});
  auto& inner = add_node(*g.mutable_node(), "f", {"u"}, {"r"}, "in");
  inner.set_domain("my");
  add_node(*g.mutable_node(), "Exp", {"p"}, {"u"});
  add_node(*g.mutable_node(), "Identity", {"p"}, {"s"});
  m.node("g", {"x"}, {"y", "z"}, "outer").set_domain("my");
  m.output("y");
  m.output("z");
  CHECK(imported(m) == "Exp(x) -> outer/u; Relu(outer/u) -> outer/in/t; Abs(outer/in/t) -> y; Identity(x) -> z");
}

TEST_CASE("calls that do not fit") {
  Model m = with_function();
  m.output("y");
  SUBCASE("too many inputs") {
    call(m, {"x", "x"}, {"y"});
    CHECK(m.error() == "my.f: 1 node (#0): has 2 inputs, the function takes 1");
  }
  SUBCASE("too many outputs") {
    call(m, {"x"}, {"y", "z"});
    CHECK(m.error() == "my.f: 1 node (#0): has 2 outputs, the function gives 1");
  }
  SUBCASE("recursion") {
    auto& f = *m.proto.mutable_functions(0);
    auto& again = add_node(*f.mutable_node(), "f", {"a"}, {"again"}, "self");
    again.set_domain("my");
    call(m, {"x"}, {"y"});
    CHECK(m.error() == "my.f: 1 node (self): the function calls itself");
  }
  SUBCASE("a body that reads what it has not") {
    add_node(*m.proto.mutable_functions(0)->mutable_node(), "Abs", {"x"}, {"c"}, "leak");
    call(m, {"x"}, {"y"});
    CHECK(m.error() == "Abs: 1 node (leak): reads 'x', which nothing produces");
  }
  SUBCASE("two functions of one name") {
    m.function("my", "f", {"a"}, {"b"});
    call(m, {"x"}, {"y"});
    CHECK(m.error() == "there are two functions 'my.f'");
  }
}

TEST_CASE("functions that double at every level stop at a bound") {
  Model m;
  m.input("x", "2");
  m.import_opset("my", 1);
  constexpr int levels = 40;
  for (int i = 0; i < levels; ++i) {
    auto& f = m.function("my", text("f", i), {"a"}, {"b"});
    if (i == 0) {
      add_node(*f.mutable_node(), "Relu", {"a"}, {"b"});
      continue;
    }
    for (int k = 0; k < 30; ++k) {
      auto& node = add_node(*f.mutable_node(), text("f", i - 1), {k == 0 ? "a" : text("t", k)}, {k == 29 ? "b" : text("t", k + 1)});
      node.set_domain("my");
    }
  }
  m.node(text("f", levels - 1), {"x"}, {"y"}).set_domain("my");
  m.output("y");
  CHECK(m.import().error().kind == ErrorKind::unsupported);
  CHECK(m.error().find("with its functions expanded the model has more than 100000 nodes") != std::string::npos);
}
