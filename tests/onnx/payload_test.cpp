// Weights: every element type and encoding, files beside the model, and what is refused.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <thread>

#include "tests/onnx/folder.h"
#include "tests/onnx/model.h"

using namespace infini;
using namespace infini::testing;
namespace fs = std::filesystem;

namespace {

onnx::TensorProto tensor_proto(int element, std::vector<std::int64_t> dims) {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_type(element);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

Model with(const onnx::TensorProto& tensor) {
  Model m;
  *m.graph().add_initializer() = tensor;
  m.output("w");
  return m;
}

// The bytes of the model's constant w, in memory.
std::vector<int> bytes_of(const Result<ImportReport>& report) {
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  Result<Tensor> tensor = load(*value_named(report->module.graph, "w")->constant);
  REQUIRE_MESSAGE(tensor.has_value(), tensor.error().text());
  std::vector<int> out;
  for (std::byte byte : tensor->bytes()) out.push_back(static_cast<int>(byte));
  return out;
}
std::vector<int> bytes_of(const onnx::TensorProto& tensor) { return bytes_of(with(tensor).import()); }

void at(onnx::TensorProto& tensor, std::string_view key, std::string_view value) {
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key(std::string(key));
  entry->set_value(std::string(value));
}

}  // namespace

TEST_CASE("typed fields hold what raw data would") {
  using Bytes = std::vector<int>;
  SUBCASE("float_data") {
    auto t = tensor_proto(1, {1});
    t.add_float_data(1.0f);
    CHECK(bytes_of(t) == Bytes{0, 0, 0x80, 0x3f});
  }
  SUBCASE("complex") {
    auto t = tensor_proto(14, {1});
    t.add_float_data(1.0f);
    t.add_float_data(-2.0f);
    CHECK(bytes_of(t) == Bytes{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
  }
  SUBCASE("double_data") {
    auto t = tensor_proto(11, {});
    t.add_double_data(1.0);
    CHECK(bytes_of(t) == Bytes{0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
  }
  SUBCASE("int64_data") {
    auto t = tensor_proto(7, {1});
    t.add_int64_data(-2);
    CHECK(bytes_of(t) == Bytes{0xfe, 255, 255, 255, 255, 255, 255, 255});
  }
  SUBCASE("uint64_data of u32") {
    auto t = tensor_proto(12, {1});
    t.add_uint64_data(0xfffffffeu);
    CHECK(bytes_of(t) == Bytes{0xfe, 255, 255, 255});
  }
  SUBCASE("int32_data of i32, i16, u8, bool") {
    auto t = tensor_proto(6, {1});
    t.add_int32_data(-1);
    CHECK(bytes_of(t) == Bytes{255, 255, 255, 255});
    t = tensor_proto(5, {1});
    t.add_int32_data(-3);
    CHECK(bytes_of(t) == Bytes{0xfd, 255});
    t = tensor_proto(2, {2});
    t.add_int32_data(200);
    t.add_int32_data(7);
    CHECK(bytes_of(t) == Bytes{200, 7});
    t = tensor_proto(9, {2});
    t.add_int32_data(0);
    t.add_int32_data(5);
    CHECK(bytes_of(t) == Bytes{0, 1});
  }
  SUBCASE("bit patterns of f16, bf16, float8") {
    auto t = tensor_proto(10, {1});
    t.add_int32_data(0x3c00);
    CHECK(bytes_of(t) == Bytes{0, 0x3c});
    t = tensor_proto(16, {1});
    t.add_int32_data(0x3f80);
    CHECK(bytes_of(t) == Bytes{0x80, 0x3f});
    for (int dtype : {17, 18, 19, 20, 24}) {
      t = tensor_proto(dtype, {2});
      t.add_int32_data(0x7e);
      t.add_int32_data(0x81);
      CHECK(bytes_of(t) == Bytes{0x7e, 0x81});
    }
  }
  SUBCASE("packed types: one byte of elements per entry") {
    for (int dtype : {21, 22, 23}) {
      auto t = tensor_proto(dtype, {3});
      t.add_int32_data(0x21);
      t.add_int32_data(0x03);
      CHECK(bytes_of(t) == Bytes{0x21, 0x03});
    }
    for (int dtype : {25, 26}) {
      auto t = tensor_proto(dtype, {5});
      t.add_int32_data(0xe4);
      t.add_int32_data(0x01);
      CHECK(bytes_of(t) == Bytes{0xe4, 0x01});
    }
  }
  SUBCASE("strings") {
    auto t = tensor_proto(8, {2});
    t.add_string_data("a");
    t.add_string_data(std::string("b\0c", 3));
    Result<ImportReport> report = with(t).import();
    REQUIRE(report.has_value());
    CHECK(value_named(report->module.graph, "w")->constant->at_hand()->strings()[1].size() == 3);
  }
}

TEST_CASE("sizes that do not fit are told") {
  auto t = tensor_proto(1, {2, 3});
  SUBCASE("raw") {
    t.set_raw_data(std::string(20, 'a'));
    CHECK(with(t).error() == "tensor 'w' is f32[2,3], which takes 24 bytes, but has 20");
  }
  SUBCASE("elements in two places") {
    t.set_raw_data(std::string(24, '\0'));
    t.add_float_data(1);
    CHECK(with(t).error() == "tensor 'w' has its elements in two places, one of them a typed field");
  }
  SUBCASE("an entry too large for its type") {
    auto bytes = tensor_proto(3, {1});
    bytes.add_int32_data(1000);
    CHECK(with(bytes).error() == "tensor 'w' has 1000 in int32_data, which does not fit into 8 bits");
  }
  SUBCASE("nothing") { CHECK(with(t).error() == "tensor 'w' is f32[2,3], which takes 24 bytes, but has 0"); }
  SUBCASE("a negative dimension") {
    t.set_dims(0, -2);
    CHECK(with(t).error() == "tensor 'w' has the shape [-2,3], which no tensor can have");
  }
  SUBCASE("dimensions whose product is beyond all numbers") {
    t.set_dims(0, std::int64_t{1} << 40);
    t.set_dims(1, std::int64_t{1} << 40);
    CHECK(with(t).error() == "tensor 'w' has the shape [1099511627776,1099511627776], which no tensor can have");
  }
  SUBCASE("no element type") {
    t.set_data_type(0);
    CHECK(with(t).error() == "tensor 'w' has element type 0; known are 1 to 26");
  }
  SUBCASE("strings") {
    t.set_data_type(8);
    t.add_string_data("a");
    CHECK(with(t).error() == "tensor 'w' is str[2,3], which takes 6 strings, but has 1");
  }
}

TEST_CASE("large weights stay in the file, small ones are inline, and those of a pipe are owned") {
  Folder folder;
  Model m;
  std::vector<float> big(3000);
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<float>(i) * 0.25f;
  m.input("x", "1,1000");
  m.weight("w", {1000, 3}, big);
  m.weight("v", {3, 1}, {1, 2, 3});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.node("MatMul", {"y", "v"}, {"z"});
  m.output("z");
  std::string path = folder.file("model.onnx", m.proto.SerializeAsString());

  Result<ImportReport> report = import_onnx(path, {}, OpTable());
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Constant& w = *value_named(report->module.graph, "w")->constant;
  const auto* file = std::get_if<FilePayload>(&w.payload);
  REQUIRE(file != nullptr);
  CHECK(file->range.path == path);
  CHECK(file->range.length == 12000);
  CHECK(file->range.file_size == fs::file_size(path));
  CHECK(std::holds_alternative<InlinePayload>(value_named(report->module.graph, "v")->constant->payload));
  Result<Tensor> loaded = load(w);
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error().text());
  CHECK(loaded->as_double(2999) == doctest::Approx(749.75));

  Result<ImportReport> owned = m.import();
  REQUIRE(owned.has_value());
  CHECK(std::holds_alternative<OwnedPayload>(value_named(owned->module.graph, "w")->constant->payload));
  CHECK(bytes_of(owned) == bytes_of(report));

  ImportOptions bare;
  bare.no_weights = true;
  Result<ImportReport> absent = import_onnx(path, bare, OpTable());
  REQUIRE(absent.has_value());
  CHECK(std::holds_alternative<AbsentPayload>(value_named(absent->module.graph, "w")->constant->payload));
  CHECK(std::holds_alternative<InlinePayload>(value_named(absent->module.graph, "v")->constant->payload));
}

TEST_CASE("external data") {
  Folder folder;
  std::string data(16384, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7);
  folder.file("m/weights.bin", data);
  folder.file("outside.bin", data);
  auto t = tensor_proto(2, {8192});
  auto imported = [&](const ImportOptions& options = {}) { return import_onnx(folder.file("m/model.onnx", with(t).proto.SerializeAsString()), options, OpTable()); };
  auto error = [&] {
    std::string message = imported().error().text();
    std::string path = (folder.path() / "m/model.onnx").string() + ": ";
    return message.starts_with(path) ? message.substr(path.size()) : message;
  };
  SUBCASE("a stretch of a file beside the model") {
    at(t, "location", "weights.bin");
    at(t, "offset", "4096");
    at(t, "length", "8192");
    std::vector<int> bytes = bytes_of(imported());
    REQUIRE(bytes.size() == 8192);
    CHECK(bytes[0] == static_cast<unsigned char>(data[4096]));
    CHECK(bytes[8191] == static_cast<unsigned char>(data[12287]));
  }
  SUBCASE("a small one, without offset and length") {
    t = tensor_proto(2, {16384});
    at(t, "location", "weights.bin");
    CHECK(bytes_of(imported()).size() == 16384);
    folder.file("m/weights.bin", "abc");
    t = tensor_proto(2, {3});
    at(t, "location", "weights.bin");
    CHECK(bytes_of(imported()) == std::vector<int>{'a', 'b', 'c'});
  }
  SUBCASE("an absolute path") {
    at(t, "location", "/etc/passwd");
    CHECK(error() == "tensor 'w' has its data in \"/etc/passwd\"; only relative paths inside the model's folder are read");
  }
  SUBCASE("a path upward") {
    at(t, "location", "../outside.bin");
    CHECK(error() == "tensor 'w' has its data in '../outside.bin'; '..' is refused, data must be inside the model's folder");
    t.clear_external_data();
    at(t, "location", "sub/../../outside.bin");
    CHECK(error() == "tensor 'w' has its data in 'sub/../../outside.bin'; '..' is refused, data must be inside the model's folder");
  }
  SUBCASE("a link that leads out") {
    fs::create_symlink("../outside.bin", folder.path() / "m/link.bin");
    at(t, "location", "link.bin");
    CHECK(error() == "tensor 'w' has its data in 'link.bin', a link that leads out of the model's folder, which is refused");
    fs::create_directory_symlink("..", folder.path() / "m/up");
    t.clear_external_data();
    at(t, "location", "up/outside.bin");
    CHECK(error() == "tensor 'w' has its data in 'up/outside.bin', a link that leads out of the model's folder, which is refused");
  }
  SUBCASE("a link inside the folder") {
    fs::create_symlink("weights.bin", folder.path() / "m/link.bin");
    at(t, "location", "link.bin");
    at(t, "length", "8192");
    CHECK(bytes_of(imported()).size() == 8192);
  }
  SUBCASE("a file that is not there") {
    at(t, "location", "none.bin");
    CHECK(error() == "tensor 'w' has its data in 'none.bin', which cannot be found: No such file or directory");
    ImportOptions bare;
    bare.no_weights = true;
    CHECK(imported(bare).has_value());
  }
  SUBCASE("a folder") {
    fs::create_directory(folder.path() / "m/sub");
    at(t, "location", "sub");
    CHECK(error().find("is not a regular file") != std::string::npos);
  }
  SUBCASE("beyond its end") {
    at(t, "location", "weights.bin");
    at(t, "offset", "10000");
    at(t, "length", "8192");
    CHECK(error() == "tensor 'w' has its data in 'weights.bin' at 10000 to 18192, but that file has 16384 bytes");
  }
  SUBCASE("numbers that are none") {
    at(t, "location", "weights.bin");
    at(t, "offset", "-5");
    CHECK(error() == "tensor 'w' has external data whose offset is \"-5\", not a number of bytes");
  }
  SUBCASE("another length than the type takes") {
    at(t, "location", "weights.bin");
    at(t, "length", "8191");
    CHECK(error() == "tensor 'w' is u8[8192], which takes 8192 bytes, but has 8191");
  }
  SUBCASE("from memory") {
    at(t, "location", "weights.bin");
    CHECK(with(t).error() == "tensor 'w' has its data in 'weights.bin', but a model that is not read from a file has no folder");
  }
}

TEST_CASE("sparse initializers become dense") {
  Model m;
  auto& sparse = *m.graph().add_sparse_initializer();
  set_floats(*sparse.mutable_values(), "w", {2}, {5, 6});
  auto* indices = sparse.mutable_indices();
  indices->set_data_type(7);
  sparse.add_dims(2);
  sparse.add_dims(3);
  m.output("w");
  SUBCASE("flat") {
    indices->add_dims(2);
    indices->add_int64_data(1);
    indices->add_int64_data(5);
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    const Tensor& dense = *value_named(report->module.graph, "w")->constant->at_hand();
    CHECK(dense.extents() == Extents{2, 3});
    CHECK(dense.as_double(1) == 5.0);
    CHECK(dense.as_double(5) == 6.0);
    CHECK(dense.as_double(0) == 0.0);
  }
  SUBCASE("coordinates") {
    indices->add_dims(2);
    indices->add_dims(2);
    for (int i : {0, 2, 1, 0}) indices->add_int64_data(i);
    Result<ImportReport> report = m.import();
    REQUIRE_MESSAGE(report.has_value(), report.error().text());
    const Tensor& dense = *value_named(report->module.graph, "w")->constant->at_hand();
    CHECK(dense.as_double(2) == 5.0);
    CHECK(dense.as_double(3) == 6.0);
  }
  SUBCASE("outside") {
    indices->add_dims(2);
    indices->add_int64_data(1);
    indices->add_int64_data(6);
    CHECK(m.error() == "tensor 'w' has the index 6 outside [2,3]");
  }
  SUBCASE("too large") {
    sparse.set_dims(0, 1 << 20);
    sparse.set_dims(1, 1 << 20);
    indices->add_dims(2);
    indices->add_int64_data(1);
    indices->add_int64_data(6);
    CHECK(m.error() == "tensor 'w' is f32[1048576,1048576] sparse; as a dense tensor it is larger than 256.0 MiB");
    CHECK(m.import().error().kind == ErrorKind::unsupported);
  }
}

TEST_CASE("a pipe is read once, and its weights are owned") {
  Folder folder;
  Model m;
  std::vector<float> big(100000);
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<float>(i);
  m.weight("w", {100000}, big);
  m.output("w");
  std::string path = (folder.path() / "pipe").string(), bytes = m.proto.SerializeAsString();
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
  Result<ImportReport> report = import_onnx(path, {}, OpTable());
  writer.join();
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const Constant& w = *value_named(report->module.graph, "w")->constant;
  REQUIRE(std::holds_alternative<OwnedPayload>(w.payload));
  CHECK(w.at_hand()->as_double(99999) == 99999.0);
}

TEST_CASE("a file of 3 GiB, mostly a hole: nothing of it is read but the structure") {
  Folder folder;
  constexpr std::uint64_t gib = std::uint64_t{1} << 30, length = 3 * gib;
  onnx::TensorProto head = tensor_proto(2, {static_cast<std::int64_t>(length)});
  std::string tensor = head.SerializeAsString();
  auto varint = [](std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  };
  std::string raw_start = "\x4a";  // TensorProto.raw_data
  varint(raw_start, length);
  std::string initializer_start = "\x2a";  // GraphProto.initializer
  varint(initializer_start, tensor.size() + raw_start.size() + length);
  Model outputs;
  outputs.output("w");
  std::string graph = outputs.graph().SerializeAsString();
  std::string opset = outputs.proto.opset_import(0).SerializeAsString();
  std::string start = outputs.proto.SerializeAsString().substr(0, 2) + "\x42";  // ir_version, ModelProto.opset_import
  varint(start, opset.size());
  start += opset + "\x3a";  // ModelProto.graph
  varint(start, graph.size() + initializer_start.size() + tensor.size() + raw_start.size() + length);
  start += graph + initializer_start + tensor + raw_start;
  std::string path = folder.file("huge.onnx", start);
  fs::resize_file(path, start.size() + length);
  Result<ImportReport> report = import_onnx(path, {}, OpTable());
  REQUIRE_MESSAGE(report.has_value(), report.error().text());
  const auto* file = std::get_if<FilePayload>(&value_named(report->module.graph, "w")->constant->payload);
  REQUIRE(file != nullptr);
  CHECK(file->range.offset == start.size());
  CHECK(file->range.length == length);
  fs::resize_file(path, start.size() + length - 1);
  CHECK(import_onnx(path, {}, OpTable()).error().text().find("more than the message it stands in has left") != std::string::npos);
}
