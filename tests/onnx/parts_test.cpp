// Parts of a model, and the data that stands beside it.
#include <doctest/doctest.h>

#include <onnx/onnx-data_pb.h>

#include "libcore/tensor/npz.h"
#include "tests/onnx/folder.h"
#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;

namespace {

// x -> a -> b -> c, and d = b * w
Model chain() {
  Model m;
  m.input("x", "N,4");
  m.input("spare", "3");
  m.weight("w", {4, 2}, std::vector<float>(8, 1));
  m.node("Relu", {"x"}, {"a"}, "layer1/relu");
  m.node("Exp", {"a"}, {"b"}, "layer1/exp");
  m.node("Abs", {"b"}, {"c"}, "layer2/abs");
  m.node("MatMul", {"b", "w"}, {"d"}, "layer2/matmul");
  m.output("c");
  m.output("d");
  return m;
}

std::string cut(const ImportOptions& options) {
  Result<ImportReport> report = chain().import(options);
  if (!report) return report.error().text();
  const Graph& graph = report->module.graph;
  std::vector<std::string> inputs, outputs;
  for (ValueId id : graph.inputs()) inputs.push_back(text(graph.value(id).name, ":", to_string(graph.value(id).type)));
  for (ValueId id : graph.outputs()) outputs.push_back(graph.value(id).name);
  return text(join(inputs, " "), " | ", listing(graph), " | ", join(outputs, " "));
}

std::string tensor_bytes(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  set_floats(tensor, "", std::move(dims), values);
  return tensor.SerializeAsString();
}

}  // namespace

TEST_CASE("a model is cut by values and by nodes") {
  ImportOptions options;
  SUBCASE("from a value") {
    options.from = {"b"};
    CHECK(cut(options) == "b:f32[N,4] | Abs(b) -> c; MatMul(b,w) -> d | c d");
  }
  SUBCASE("from a node: it stays") {
    options.from = {"layer1/exp"};
    CHECK(cut(options) == "a:f32[N,4] | Exp(a) -> b; Abs(b) -> c; MatMul(b,w) -> d | c d");
  }
  SUBCASE("to a value") {
    options.to = {"b"};
    CHECK(cut(options) == "x:f32[N,4] | Relu(x) -> a; Exp(a) -> b | b");
  }
  SUBCASE("to nodes by glob") {
    options.to = {"layer1/*"};
    CHECK(cut(options) == "x:f32[N,4] | Relu(x) -> a; Exp(a) -> b | a b");
  }
  SUBCASE("both") {
    options.from = {"a"};
    options.to = {"d"};
    CHECK(cut(options) == "a:f32[N,4] | Exp(a) -> b; MatMul(b,w) -> d | d");
  }
  SUBCASE("nothing of that name") {
    options.to = {"e"};
    CHECK(cut(options) == "no value or node is called 'e'");
  }
}

TEST_CASE("test data goes by position") {
  Folder folder;
  Model m = chain();
  ImportOptions options;
  options.test_data = folder.path().string();
  SUBCASE("one folder") {
    folder.file("input_0.pb", tensor_bytes({1, 4}, {1, 2, 3, 4}));
    folder.file("input_1.pb", tensor_bytes({3}, {5, 6, 7}));
    folder.file("output_0.pb", tensor_bytes({1, 4}, {8, 9, 10, 11}));
    Result<ImportReport> report = m.import(options);
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    REQUIRE(report->module.tests.size() == 1);
    const TestVector& test = report->module.tests[0];
    REQUIRE(test.inputs.size() == 2);
    CHECK(test.inputs[1].first == "spare");
    CHECK(test.inputs[1].second.tensor()->as_double(2) == 7.0);
    REQUIRE(test.outputs.size() == 1);
    CHECK(test.outputs[0].first == "c");
  }
  SUBCASE("several sets, by number") {
    for (int i : {10, 9, 2}) folder.file(text("test_data_set_", i, "/input_0.pb"), tensor_bytes({1, 4}, {1, 2, 3, 4}));
    Result<ImportReport> report = m.import(options);
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    REQUIRE(report->module.tests.size() == 3);
    CHECK(report->module.tests[0].name == "test_data_set_2");
    CHECK(report->module.tests[2].name == "test_data_set_10");
  }
  SUBCASE("nothing there") { CHECK(m.error(options) == text("'", options.test_data, "' holds no input_0.pb and no output_0.pb")); }
  SUBCASE("too many") {
    for (int i = 0; i < 3; ++i) folder.file(text("input_", i, ".pb"), tensor_bytes({1}, {1}));
    CHECK(m.error(options) == text("'", (folder.path() / "input_2.pb").string(), "' is one more than the graph has inputs: 2"));
  }
  SUBCASE("another type") {
    onnx::TensorProto tensor;
    tensor.set_data_type(7);
    tensor.add_int64_data(1);
    folder.file("input_0.pb", tensor.SerializeAsString());
    CHECK(m.error(options) == text((folder.path() / "input_0.pb").string(), ": holds i64[], but the graph has f32[N,4]"));
  }
  SUBCASE("no message") {
    folder.file("input_0.pb", "\xff\xff\xff");
    CHECK(m.error(options) == text((folder.path() / "input_0.pb").string(), ": not a onnx.TensorProto"));
  }
}

TEST_CASE("sequences and optionals in test data") {
  Folder folder;
  Model m;
  auto& sequence = *m.graph().add_input();
  sequence.set_name("s");
  sequence.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  auto& optional = *m.graph().add_input();
  optional.set_name("o");
  optional.mutable_type()->mutable_optional_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  m.output("s");
  onnx::SequenceProto items;
  items.set_elem_type(onnx::SequenceProto::TENSOR);
  set_floats(*items.add_tensor_values(), "", {1}, {1});
  set_floats(*items.add_tensor_values(), "", {2}, {2, 3});
  folder.file("input_0.pb", items.SerializeAsString());
  folder.file("input_1.pb", onnx::OptionalProto().SerializeAsString());
  ImportOptions options;
  options.test_data = folder.path().string();
  Result<ImportReport> report = m.import(options);
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const TestVector& test = report->module.tests[0];
  REQUIRE(test.inputs[0].second.sequence() != nullptr);
  REQUIRE(test.inputs[0].second.sequence()->items.size() == 2);
  CHECK(test.inputs[0].second.sequence()->items[1].tensor()->as_double(1) == 3.0);
  REQUIRE(test.inputs[1].second.optional() != nullptr);
  CHECK(test.inputs[1].second.optional()->item == nullptr);
}

TEST_CASE("an npz file as test data goes by name") {
  Folder folder;
  std::string path = (folder.path() / "data.npz").string();
  Value x = Tensor::of<float>(DType::f32, {1, 4}, {1, 2, 3, 4});
  ImportOptions options;
  options.test_data = path;
  SUBCASE("inputs and outputs") {
    REQUIRE(save_npz(path, {{"c", x}, {"x", x}}));
    Result<ImportReport> report = chain().import(options);
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    const TestVector& test = report->module.tests[0];
    REQUIRE(test.inputs.size() == 1);
    CHECK(test.inputs[0].first == "x");
    REQUIRE(test.outputs.size() == 1);
    CHECK(test.outputs[0].first == "c");
  }
  SUBCASE("a name the graph has not") {
    REQUIRE(save_npz(path, {{"e", x}}));
    CHECK(chain().error(options) == text("'", path, "' has 'e', which is no input or output of the graph"));
  }
}
