// A graph written as ONNX is the same graph when it is read again.
#include <doctest/doctest.h>

#include "tests/onnx/folder.h"
#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

onnx::ModelProto exported(const Graph& graph, const Folder& folder, const ExportOptions& options = {}) {
  std::string path = (folder.path() / "out.onnx").string();
  Module module;
  module.graph = graph;
  Status done = export_onnx(module, path, options);
  REQUIRE_MESSAGE(done.has_value(), done.error().text());
  onnx::ModelProto proto;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(proto.ParseFromIstream(&file));
  return proto;
}

std::string export_error(const Graph& graph, const Folder& folder, const ExportOptions& options = {}) {
  Module module;
  module.graph = graph;
  Status done = export_onnx(module, (folder.path() / "out.onnx").string(), options);
  return done ? "" : done.error().text();
}

ValueId relu(GraphBuilder& builder, const OpTable& ops, ValueId input, std::string name) {
  GraphBuilder::NodeSpec spec;
  spec.op = ops.find("", "Relu");
  spec.inputs = {input};
  spec.output_names = {std::move(name)};
  return (*builder.add_node(std::move(spec)))[0];
}

// y = fused(x) with the body b = Relu(Relu(a))
Graph with_fused(const OpTable& ops) {
  GraphBuilder builder;
  ValueId x = builder.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), Dim(3)}));
  GraphBuilder inside = builder.nested();
  ValueId a = inside.add_input("a", Type::tensor(DType::f32, Shape{Dim::symbol("N"), Dim(3)}));
  inside.add_output(relu(inside, ops, relu(inside, ops, a, "x"), "b"));
  Body body;
  body.graph = std::make_shared<const Graph>(*std::move(inside).build());
  GraphBuilder::NodeSpec spec;
  spec.op = ops.find("infini", "fused");
  spec.inputs = {x};
  spec.output_names = {"y"};
  spec.attributes.set("body", body);
  Result<std::vector<ValueId>> made = builder.add_node(std::move(spec));
  REQUIRE_MESSAGE(made.has_value(), made.error().text());
  builder.add_output((*made)[0]);
  return *std::move(builder).build();
}

}  // namespace

TEST_CASE("fused nodes are written inlined, symbols by name, at the lowest opset that has all forms") {
  OpTable ops;
  Folder folder;
  onnx::ModelProto proto = exported(with_fused(ops), folder);
  REQUIRE(proto.graph().node_size() == 2);
  CHECK(proto.graph().node(0).op_type() == "Relu");
  CHECK(proto.graph().node(0).input(0) == "x");
  CHECK(proto.graph().node(1).output(0) == "y");
  CHECK(proto.graph().node(0).output(0) != "x");
  CHECK(proto.opset_import(0).version() == 14);  // Relu changed there last
  CHECK(proto.ir_version() == 8);
  CHECK(proto.graph().input(0).type().tensor_type().shape().dim(0).dim_param() == "N");
  ExportOptions options;
  options.opset = 28;
  CHECK(exported(with_fused(ops), folder, options).opset_import(0).version() == 28);
  options.opset = 9;
  CHECK(export_error(with_fused(ops), folder, options).find("has its form of opset 14, the model is to be opset 9") != std::string::npos);
}

TEST_CASE("what was imported comes out again: names, metadata, weights of every size and type") {
  Folder folder;
  Model m;
  m.input("x", "N,2000");
  m.weight("large", {2000, 2}, std::vector<float>(4000, 0.5f));
  m.weight("small", {2, 2}, {1, 2, 3, 4});
  auto& words = *m.graph().add_initializer();
  words.set_name("words");
  words.set_data_type(8);
  words.add_dims(2);
  words.add_string_data("a");
  words.add_string_data("b");
  auto& packed = *m.graph().add_initializer();
  packed.set_name("packed");
  packed.set_data_type(22);
  packed.add_dims(3);
  packed.set_raw_data("\x21\x03", 2);
  m.node("MatMul", {"x", "large"}, {"h"}, "first");
  m.node("MatMul", {"h", "small"}, {"y"}, "second");
  m.output("y");
  m.output("words");
  m.output("packed");
  auto* entry = m.proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  std::string path = folder.file("in.onnx", m.proto.SerializeAsString());
  Result<ImportReport> report = import_onnx(path, {}, OpTable());
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  onnx::ModelProto proto = exported(report->module.graph, folder);
  REQUIRE(proto.graph().initializer_size() == 4);
  for (const auto& before : m.graph().initializer()) {
    bool found = false;
    for (const auto& after : proto.graph().initializer()) {
      found = found || (after.name() == before.name() && after.SerializeAsString() == before.SerializeAsString());
    }
    CHECK_MESSAGE(found, before.name());
  }
  CHECK(proto.graph().node(1).name() == "second");
  REQUIRE(proto.metadata_props_size() == 1);
  CHECK(proto.metadata_props(0).value() == "v");
}

TEST_CASE("external data lies beside the model, aligned, and is read back") {
  Folder folder;
  Model m;
  m.input("x", "1,2000");
  m.weight("a", {2000, 2}, std::vector<float>(4000, 0.5f));
  m.weight("b", {2000, 3}, std::vector<float>(6000, 0.25f));
  m.node("MatMul", {"x", "a"}, {"y"});
  m.node("MatMul", {"x", "b"}, {"z"});
  m.output("y");
  m.output("z");
  Result<ImportReport> report = m.import();
  REQUIRE(report.has_value());
  ExportOptions options;
  options.external_data = true;
  onnx::ModelProto proto = exported(report->module.graph, folder, options);
  CHECK(proto.graph().initializer(1).external_data(1).value() == "16384");
  CHECK(std::filesystem::file_size(folder.path() / "out.onnx.data") == 16384 + 24000);
  Result<ImportReport> again = import_onnx((folder.path() / "out.onnx").string(), {}, OpTable());
  REQUIRE_MESSAGE(again.has_value(), again.error().text());
  Result<Tensor> b = load(*value_named(again->module.graph, "b")->constant);
  REQUIRE_MESSAGE(b.has_value(), b.error().text());
  CHECK(b->as_double(5999) == 0.25);
}

TEST_CASE("weights that were left out cannot be written") {
  Folder folder;
  Model m;
  m.input("x", "1,2000");
  m.weight("a", {2000, 2}, std::vector<float>(4000, 0.5f));
  m.node("MatMul", {"x", "a"}, {"y"});
  m.output("y");
  ImportOptions bare;
  bare.no_weights = true;
  Result<ImportReport> report = m.import(bare);
  REQUIRE(report.has_value());
  Module module = std::move(report->module);
  Status done = export_onnx(module, (folder.path() / "out.onnx").string());
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().kind == ErrorKind::bad_input);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "out.onnx"));
}
