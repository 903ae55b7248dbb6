// Symbols, and what the user puts in their place.
#include <doctest/doctest.h>

#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

std::string input_type(const Model& m, std::string_view name, const ImportOptions& options = {}) {
  Result<ImportReport> report = m.import(options);
  if (!report) return report.error().text();
  return to_string(value_named(report->module.graph, name)->type);
}

Model two_inputs() {
  Model m;
  m.input("x", "batch,seq");
  m.input("mask", "batch,?");
  m.node("Relu", {"x"}, {"y"});
  m.node("Abs", {"mask"}, {"z"});
  m.output("y");
  m.output("z");
  return m;
}

}  // namespace

TEST_CASE("dimensions keep their names, and those without get one") {
  Model m = two_inputs();
  m.input("odd", "a + b,-1,0");
  m.input("mask_1", "?");
  m.input("taken", "mask_1_0,?");
  CHECK(input_type(m, "x") == "f32[batch,seq]");
  CHECK(input_type(m, "mask") == "f32[batch,mask_1]");
  CHECK(input_type(m, "odd") == "f32['a + b',odd_1,0]");
  CHECK(input_type(m, "mask_1") == "f32[mask_1_0_1]");
  CHECK(input_type(m, "taken") == "f32[mask_1_0,taken_1]");
}

TEST_CASE("numbers for symbols") {
  Model m = two_inputs();
  ImportOptions options;
  SUBCASE("by symbol, everywhere") {
    options.dims = {{"batch", 8}, {"mask_1", 5}};
    CHECK(input_type(m, "x", options) == "f32[8,seq]");
    CHECK(input_type(m, "mask", options) == "f32[8,5]");
    CHECK(input_type(m, "y", options) == "f32[8,seq]");
  }
  SUBCASE("by input: the symbol is replaced everywhere") {
    options.input_shapes = {{"x", {Dim(3), std::nullopt}}};
    CHECK(input_type(m, "x", options) == "f32[3,seq]");
    CHECK(input_type(m, "mask", options) == "f32[3,mask_1]");
  }
  SUBCASE("another symbol") {
    options.input_shapes = {{"x", {Dim::symbol("N"), Dim(4)}}};
    CHECK(input_type(m, "mask", options) == "f32[N,mask_1]");
  }
  SUBCASE("the batch") {
    options.batch = Dim(2);
    CHECK(input_type(m, "x", options) == "f32[2,seq]");
    CHECK(input_type(m, "mask", options) == "f32[2,mask_1]");
  }
  SUBCASE("unknown symbol") {
    options.dims = {{"bach", 8}};
    CHECK(m.error(options) == "the model has no dimension 'bach'; it has batch, mask_1, seq");
  }
  SUBCASE("unknown input") {
    options.input_shapes = {{"w", {Dim(3)}}};
    CHECK(m.error(options) == "the model has no input 'w'; its inputs are x, mask");
  }
  SUBCASE("another rank") {
    options.input_shapes = {{"x", {Dim(3)}}};
    CHECK(m.error(options) == "input 'x' is f32[batch,seq]; a shape of 1 axes does not fit");
  }
  SUBCASE("two numbers for one symbol") {
    options.dims = {{"batch", 8}};
    options.batch = Dim(2);
    CHECK(m.error(options) == "x: dimension 'batch' is to be 8 and 2 at once");
    CHECK(m.import(options).error().kind == ErrorKind::usage);
  }
}

TEST_CASE("value_info is a hint: it never overrides") {
  Model m = two_inputs();
  set_type(*m.graph().add_value_info(), "y", 1, "7,7");
  CHECK(input_type(m, "y") == "f32[batch,seq]");
}

TEST_CASE("every kind of type") {
  Model m;
  auto& sequence = *m.graph().add_input();
  sequence.set_name("s");
  auto* tensor = sequence.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  tensor->set_elem_type(7);
  tensor->mutable_shape()->add_dim()->set_dim_value(2);
  auto& optional = *m.graph().add_input();
  optional.set_name("o");
  optional.mutable_type()->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(26);
  auto& map = *m.graph().add_input();
  map.set_name("m");
  map.mutable_type()->mutable_map_type()->set_key_type(8);
  map.mutable_type()->mutable_map_type()->mutable_value_type()->mutable_tensor_type()->set_elem_type(1);
  m.output("s");
  CHECK(input_type(m, "s") == "seq(i64[2])");
  CHECK(input_type(m, "o") == "optional(i2[?])");
  CHECK(input_type(m, "m") == "map(str,f32[?])");
}
