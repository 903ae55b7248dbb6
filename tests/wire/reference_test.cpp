// Constants that stay in files.
#include <doctest/doctest.h>

#include <filesystem>

#include "libcore/base/text.h"
#include "tests/wire/sample.h"

namespace infini::test {
namespace {

bool says(const Error& error, std::string_view words) { return error.text().find(words) != std::string::npos; }

struct Model {
  TemporaryFolder folder;
  std::string path;
  Tensor tensor;

  Model() {
    tensor = counted(DType::f32, {50000});
    std::string content = "odd";  // so that the floats are not aligned
    content.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    path = folder.write("model.onnx", content);
  }
  Module module() const { return tiny_module(file_constant(path, DType::f32, {50000}, 3)); }
};

}  // namespace

TEST_CASE("a file's constants go by reference, and come from there") {
  OpTable ops;
  Model model;
  Written stream = written(model.module(), {.by_reference = true});
  REQUIRE(stream.status.has_value());
  CHECK(stream.bytes.size() < 1000);
  Result<Module> copy = read_back(stream.bytes, As::pipe, ops);
  REQUIRE_MESSAGE(copy.has_value(), (copy ? "" : copy.error().text()));
  CHECK(std::holds_alternative<FilePayload>(copy->graph.values()[0].constant->payload));
  CHECK(difference(model.module(), *copy) == "");
  CHECK(written(std::move(*copy), {.by_reference = true}).bytes == stream.bytes);
}

TEST_CASE("a file's constants are embedded, and small ones inlined") {
  OpTable ops;
  Model model;
  Written stream = written(model.module(), {.chunk_bytes = 70000});
  REQUIRE(stream.status.has_value());
  CHECK(stream.bytes.size() > 200000);
  CHECK(stream.bytes == written(tiny_module(make_constant(model.tensor)), {.chunk_bytes = 70000}).bytes);
  Module small = tiny_module(file_constant(model.path, DType::f32, {10}, 3));
  for (bool by_reference : {false, true}) {
    Result<Module> copy = read_back(written(small, {.by_reference = by_reference}).bytes, As::pipe, ops);
    REQUIRE(copy.has_value());
    CHECK(std::holds_alternative<InlinePayload>(copy->graph.values()[0].constant->payload));
    CHECK(difference(small, *copy) == "");
  }
}

TEST_CASE("a model that was changed or is gone is named") {
  OpTable ops;
  Model model;
  Module module = model.module();
  Written stream = written(module, {.by_reference = true});
  model.folder.write("model.onnx", std::string(200003, 'x'));
  for (int round = 0; round < 2; ++round) {
    Result<Module> copy = read_back(stream.bytes, As::pipe, ops);
    REQUIRE_FALSE(copy.has_value());
    CHECK(copy.error().kind == ErrorKind::bad_input);
    CHECK(says(copy.error(), model.path));
    Written embedded = written(module);
    REQUIRE_FALSE(embedded.status.has_value());
    if (round == 0) CHECK(embedded.status.error().kind == ErrorKind::bad_input);
    CHECK(says(embedded.status.error(), model.path));
    std::filesystem::remove(model.path);
  }
}

TEST_CASE("references in a saved stream are relative and stay in its folder") {
  OpTable ops;
  Model model;
  ReadOptions here{.folder = model.folder.path()};
  Written absolute = written(model.module(), {.by_reference = true});
  Result<Module> refused = read_back(absolute.bytes, As::file, ops, here);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::bad_input);
  CHECK(says(refused.error(), "--embed"));

  Written relative = written(model.module(), {.by_reference = true, .folder = model.folder.path()});
  REQUIRE_MESSAGE(relative.status.has_value(), (relative.status ? "" : relative.status.error().text()));
  Result<Module> copy = read_back(relative.bytes, As::file, ops, here);
  REQUIRE_MESSAGE(copy.has_value(), (copy ? "" : copy.error().text()));
  CHECK(difference(model.module(), *copy) == "");
  CHECK_FALSE(read_back(relative.bytes, As::pipe, ops, here).has_value());

  TemporaryFolder other;
  Written outside = written(model.module(), {.by_reference = true, .folder = other.path()});
  REQUIRE_FALSE(outside.status.has_value());
  CHECK(outside.status.error().kind == ErrorKind::usage);
  CHECK(says(outside.status.error(), "--embed"));
}

TEST_CASE("a saved stream cannot reach outside its folder, by dots or by links") {
  OpTable ops;
  Model model;
  std::filesystem::create_directory(model.folder.file("inner"));
  std::filesystem::create_hard_link(model.path, model.folder.file("m.onnx."));
  std::filesystem::create_symlink(model.path, model.folder.file("inner/link.onn"));
  std::string stream = written(model.module(), {.by_reference = true, .folder = model.folder.path()}).bytes;
  std::size_t at = stream.find("model.onnx");
  REQUIRE(at != std::string::npos);
  for (std::string_view target : {"../m.onnx.", "./link.onn"}) {  // as long as the name they replace
    std::string forged = stream;
    forged.replace(at, target.size(), target);
    forged = forged.substr(0, forged.size() - end_size);
    Result<Module> copy = read_back(with_end(forged), As::file, ops, {.folder = model.folder.file("inner")});
    REQUIRE_FALSE(copy.has_value());
    CHECK(copy.error().kind == ErrorKind::bad_input);
    CHECK_MESSAGE(says(copy.error(), "outside the folder"), copy.error().text());
  }
}

}  // namespace infini::test
