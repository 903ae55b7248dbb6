#include "libcore/ir/verify.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

const OpTable ops;

GraphBuilder::NodeSpec spec(std::string_view op, std::vector<ValueId> inputs, std::string name = "", std::vector<std::string> outputs = {}) {
  GraphBuilder::NodeSpec out;
  out.op = ops.find("", op);
  REQUIRE(out.op != nullptr);
  out.inputs = std::move(inputs);
  out.name = std::move(name);
  out.output_names = std::move(outputs);
  return out;
}

GraphBuilder::NodeSpec spec(const OpDef& op, std::vector<ValueId> inputs, std::vector<std::string> outputs, std::vector<Type> declared = {}) {
  GraphBuilder::NodeSpec out;
  out.op = &op;
  out.inputs = std::move(inputs);
  out.output_names = std::move(outputs);
  out.declared = std::move(declared);
  return out;
}

std::string type_text(const GraphBuilder& builder, ValueId id) { return to_string(builder.value(id).type); }

}  // namespace

TEST_CASE("names that are taken or empty give way to fresh ones") {
  GraphBuilder b;
  ValueId x = b.add_input("x", f32({2}));
  ValueId again = b.add_input("x", f32({2}));
  CHECK(b.value(again).name == "x_1");
  std::vector<ValueId> y = value_of(b.add_node(spec("Relu", {x}, "act", {"x"})));
  CHECK(b.value(y[0]).name == "x_2");
  CHECK(b.value(value_of(b.add_node(spec("Relu", {x}, "act")))[0]).name == "act");
  CHECK(b.value(value_of(b.add_node(spec("Relu", {x}, "act")))[0]).name == "act_1");
  CHECK(b.value(value_of(b.add_node(spec("Relu", {x})))[0]).name == "Relu");
  CHECK(b.value(b.add_input("", f32({}))).name == "value");
}

TEST_CASE("a kept name is for the value added under it") {
  GraphBuilder b;
  b.keep_name("y");
  CHECK(b.fresh_name("y") == "y_1");
  CHECK(b.value(b.add_input("y", f32({2}))).name == "y");
  CHECK(b.value(b.add_input("y", f32({2}))).name == "y_1");
}

TEST_CASE("renaming takes a name from another value") {
  GraphBuilder b;
  ValueId x = b.add_input("x", f32({2})), y = b.add_input("y", f32({2}));
  b.rename(y, "x");
  CHECK(b.value(y).name == "x");
  CHECK(b.value(x).name == "x_1");
  CHECK(b.fresh_name("y") == "y");
}

TEST_CASE("attributes left out are filled in") {
  GraphBuilder b;
  ValueId x = b.add_input("x", f32({2}));
  value_of(b.add_node(spec("Elu", {x})));
  CHECK(b.last_node().attributes.real("alpha") == 1.0f);
  value_of(b.add_node(spec("Gelu", {x})));
  CHECK(b.last_node().attributes.text("approximate") == "none");
}

TEST_CASE("trailing inputs left out are cut off, trailing outputs not wanted as well") {
  GraphBuilder b;
  ValueId x = b.add_input("x", f32({2}));
  GraphBuilder::NodeSpec s;
  s.domain = "com.example";
  s.type = "Opaque";
  s.version = 3;
  s.inputs = {x, ValueId(), x, ValueId(), ValueId()};
  s.output_names = {"", "b", "", ""};
  s.wanted = {false, true, false, false};
  s.declared = {Type(), f32({7})};
  std::vector<ValueId> made = value_of(b.add_node(std::move(s)));
  CHECK(b.last_node().inputs == std::vector<ValueId>{x, ValueId(), x});
  CHECK(b.last_node().outputs.size() == 2);
  CHECK(made.size() == 4);
  CHECK(!made[0]);
  CHECK(type_text(b, made[1]) == "f32[7]");
  CHECK(b.value(made[1]).output == 1);
  CHECK(!made[3]);
}

TEST_CASE("errors name the node and show the shapes") {
  GraphBuilder b;
  ValueId a = b.add_input("a", f32({8, 16})), w = b.add_input("w", f32({32, 4})), i = b.add_input("i", type("i8[2]"));
  CHECK(failure(b.add_node(spec("MatMul", {a, w}, "fc1"))) ==
        "MatMul 'fc1': a is [8,16], b is [32,4]; a's last dimension must equal b's last but one");
  CHECK(failure(b.add_node(spec("MatMul", {a, w}, "", {"y"}))) ==
        "MatMul (of 'y'): a is [8,16], b is [32,4]; a's last dimension must equal b's last but one");
  CHECK(failure(b.add_node(spec("MatMul", {a}, "fc1"))) == "MatMul 'fc1': input 1 ('B') is missing");
  CHECK(failure(b.add_node(spec("Relu", {a, a}, "r"))) == "Relu 'r': has 2 inputs, Relu takes at most 1");
  CHECK(failure(b.add_node(spec("Sigmoid", {i}, "s"))) == "Sigmoid 's': input 'X' is i8, allowed are f32, f16, f64, bf16");
  GraphBuilder::NodeSpec wrong = spec("Elu", {a}, "e");
  wrong.attributes.set("alpha", std::int64_t{1});
  CHECK(failure(b.add_node(std::move(wrong))) == "Elu 'e': attribute 'alpha' is an integer, expected a real");
  GraphBuilder::NodeSpec strange = spec("Elu", {a}, "e");
  strange.attributes.set("gamma", 1.0f);
  CHECK(failure(b.add_node(std::move(strange))) == "Elu 'e': attribute 'gamma' is not one of Elu");
  CHECK(failure(b.add_node(spec("Relu", {value_id(77)}, "r"))) == "Relu 'r': reads value 77, which does not exist");
  CHECK(b.value_count() == 3);
}

TEST_CASE("sizes that only running tells are fresh dimensions, other than all that are there") {
  GraphBuilder b;
  ValueId x = b.add_input("x", type("f32[#0,n]"));
  std::vector<ValueId> first = value_of(b.add_node(spec(find_op, {x}, {"a", "b"})));
  CHECK(type_text(b, first[0]) == "i64[#1]");
  CHECK(type_text(b, first[1]) == "i64[#1,2*#1+1]");
  b.add_input("late", type("f32[#7]"));
  std::vector<ValueId> second = value_of(b.add_node(spec(find_op, {x}, {"c"})));
  CHECK(type_text(b, second[0]) == "i64[#8]");
}

TEST_CASE("a declared type fills what inference leaves open") {
  GraphBuilder b;
  ValueId x = b.add_input("x", type("f32[batch]"));
  auto made = [&](const OpDef& op, std::vector<Type> declared) {
    std::vector<ValueId> out = value_of(b.add_node(spec(op, {x}, {"", ""}, std::move(declared))));
    return type_text(b, out[0]) + " " + type_text(b, out[1]);
  };
  CHECK(made(find_op, {type("i64[5]")}) == "i64[5] i64[5,11]");
  CHECK(made(find_op, {type("i64[count]"), type("i64[other,m]")}) == "i64[count] i64[count,2*count+1]");
  CHECK(made(find_op, {Type(), type("i64[k,2*k+1]")}) == "i64[k] i64[k,2*k+1]");
  CHECK(made(double_op, {type("f32[2*n]")}) == "f32[2*n] f32[]");
  CHECK(made(blur_op, {type("f32[3,n]")}) == "f32[3,n] unknown");
  CHECK(b.notes().empty());
  CHECK(made(find_op, {type("i64[5]"), type("i64[5,12]")}) == "i64[5] i64[5,11]");
  CHECK(made(find_op, {type("i32[5]")}) == "i64[5] i64[5,11]");
  REQUIRE(b.notes().size() == 2);
  CHECK(b.notes()[0] == "Find: output 1 is i64[5,11], declared i64[5,12]");
  CHECK(b.notes()[1] == "Find: output 0 is i64[5], declared i32[5]");
}

TEST_CASE("what is inferred stands against a declared type; another name for a dimension is no contradiction") {
  GraphBuilder b;
  ValueId x = b.add_input("x", type("f32[batch,4]"));
  GraphBuilder::NodeSpec s = spec("Relu", {x}, "r");
  s.declared = {type("f32[N,4]")};
  CHECK(type_text(b, value_of(b.add_node(s))[0]) == "f32[batch,4]");
  CHECK(b.notes().empty());
  s.declared = {type("f32[1,4]")};
  CHECK(type_text(b, value_of(b.add_node(s))[0]) == "f32[batch,4]");
  REQUIRE(b.notes().size() == 1);
  CHECK(b.notes()[0] == "Relu 'r': output 0 is f32[batch,4], declared f32[1,4]");
}

TEST_CASE("small integer values are known as dimensions") {
  GraphBuilder b;
  ValueId c = b.add_constant("c", make_constant(Tensor::vector_i64({3, -4})));
  REQUIRE(b.value(c).dims.has_value());
  CHECK(b.value(c).dims->elements == std::vector<std::optional<Dim>>{Dim(3), Dim(-4)});
  ValueId negative = value_of(b.add_node(spec("Neg", {c})))[0];
  REQUIRE(b.value(negative).dims.has_value());
  CHECK(b.value(negative).dims->elements == std::vector<std::optional<Dim>>{Dim(-3), Dim(4)});
  ValueId large = b.add_constant("l", make_constant(Tensor::vector_i64(std::vector<std::int64_t>(65, 1))));
  CHECK(!b.value(large).dims);
  ValueId beyond = b.add_constant("u", make_constant(Tensor::of<std::uint64_t>(DType::u64, {2}, {7, UINT64_MAX})));
  CHECK(b.value(beyond).dims->elements == std::vector<std::optional<Dim>>{Dim(7), std::nullopt});
  CHECK(!b.value(b.add_constant("f", make_constant(Tensor::of<float>(DType::f32, {1}, {1.0f})))).dims);
}

TEST_CASE("fresh dimensions of a nested graph are others than those around it") {
  GraphBuilder outer;
  ValueId x = outer.add_input("x", f32({4}));
  ValueId a = value_of(outer.add_node(spec(find_op, {x}, {"a"})))[0];
  CHECK(type_text(outer, a) == "i64[#0]");

  auto body_of = [](GraphBuilder b) {
    ValueId in = b.add_input("in", f32({4}));
    ValueId found = value_of(b.add_node(spec(find_op, {in}, {"found"})))[0];
    b.add_output(found);
    return std::make_shared<const Graph>(value_of(std::move(b).build()));
  };
  auto symbol_in = [](const Node& node) {
    const Graph& graph = *bodies(node)[0]->graph;
    return to_string(graph.value(graph.outputs()[0]).type);
  };
  auto add = [&](std::shared_ptr<const Graph> graph) {
    GraphBuilder::NodeSpec s;
    s.op = ops.find("infini", "fused");
    s.inputs = {x};
    s.attributes.set("body", Body{std::move(graph), {}});
    return value_of(outer.add_node(std::move(s)))[0];
  };
  SUBCASE("when its builder knows the outer one") {
    ValueId y = add(body_of(outer.nested()));
    CHECK(symbol_in(outer.last_node()) == "i64[#1]");
    CHECK(type_text(outer, y) == "i64[#1]");
  }
  SUBCASE("when it was made elsewhere") {
    std::shared_ptr<const Graph> alone = body_of(GraphBuilder());
    CHECK(to_string(alone->value(alone->outputs()[0]).type) == "i64[#0]");
    ValueId y = add(alone);
    CHECK(symbol_in(outer.last_node()) == "i64[#1]");
    CHECK(type_text(outer, y) == "i64[#1]");
    add(alone);
    CHECK(symbol_in(outer.last_node()) == "i64[#2]");
  }
  CHECK(failure(verify(value_of(std::move(outer).build()))) == "");
}

TEST_CASE("constants and captures that nothing reads are dropped") {
  GraphBuilder b;
  ValueId unread = b.add_capture("unread", f32({2}));
  b.add_constant("idle", make_constant(Tensor::vector_i64({1})));
  ValueId used = b.add_capture("used", f32({2}));
  ValueId c = b.add_constant("c", make_constant(Tensor::of<float>(DType::f32, {2}, {1, 2})));
  ValueId y = value_of(b.add_node(spec("Relu", {used}, "", {"y"})))[0];
  b.add_output(y);
  b.add_output(c);
  CHECK(unread.valid());
  b.drop_unread();
  Graph g = value_of(std::move(b).build());
  REQUIRE(g.values().size() == 3);
  CHECK(g.values()[0].name == "used");
  CHECK(g.captures().size() == 1);
  CHECK(g.value(g.outputs()[0]).name == "y");
  CHECK(g.value(g.outputs()[1]).name == "c");
  CHECK(failure(verify(g)) == "");
}

TEST_CASE("uses: readers once each, captures of bodies and outputs") {
  Graph g = graph_of(R"(graph "g" (%x: f32[2], %c: bool[]) -> (%y, %x) {
  %m = com.example::Mul version 1 (%x, %x) : f32[2]
  %y = com.example::Choose version 1 (%c) {body = graph "b" () captures (%m) -> (%m) {
  }} : f32[2]
})");
  Uses uses = uses_of(g);
  CHECK(uses.readers[value_named(g, "x").at()] == std::vector<NodeId>{node_id(0)});
  CHECK(uses.count(value_named(g, "x")) == 2);
  CHECK(uses.readers[value_named(g, "m").at()] == std::vector<NodeId>{node_id(1)});
  CHECK(uses.count(value_named(g, "y")) == 1);
  CHECK(uses.count(value_named(g, "c")) == 1);
}

TEST_CASE("origins merge sorted, each once") { CHECK(merged({1, 4, 9}, {0, 4}) == Origin{0, 1, 4, 9}); }
