#include <cstdio>
#include <filesystem>
#include <fstream>

#include "libcore/base/file.h"
#include "tests/ir/helpers.h"

using namespace infini;
using namespace infini::testing;

namespace {

// A file of 11 bytes in the test's folder, removed at the end; the floats 1 and 2 stand at byte 3.
class SomeFile {
 public:
  SomeFile() : path_(std::filesystem::temp_directory_path() / text("it_constant_test_", std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
    write("abc", {1.0f, 2.0f});
  }
  ~SomeFile() { std::filesystem::remove(path_); }

  void write(std::string_view head, std::vector<float> floats) {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out << head;
    out.write(reinterpret_cast<const char*>(floats.data()), static_cast<std::streamsize>(floats.size() * sizeof(float)));
  }

  FileRange range(std::uint64_t offset, std::uint64_t length) const {
    FileFacts facts = value_of(file_facts(path_.string()));
    return {path_.string(), offset, length, facts.size, facts.modified};
  }
  std::string path() const { return path_.string(); }
  void remove() { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

Constant floats(FileRange range, Extents extents = {2}) { return {DType::f32, std::move(extents), FilePayload{std::move(range)}, std::nullopt}; }

class Source : public ChunkSource {
 public:
  Result<Tensor> pull(std::size_t index) override { return Tensor::scalar_i64(static_cast<std::int64_t>(index)); }
};

}  // namespace

TEST_CASE("small tensors are inline, larger ones owned") {
  CHECK(std::holds_alternative<InlinePayload>(make_constant(Tensor::of<float>(DType::f32, {1024}, std::vector<float>(1024)))->payload));
  CHECK(std::holds_alternative<OwnedPayload>(make_constant(Tensor::of<float>(DType::f32, {1025}, std::vector<float>(1025)))->payload));
  CHECK(make_constant(Tensor::of_strings({2}, {"abc", "de"}))->size() == 5);
}

TEST_CASE("a stretch of a file is mapped, wherever it begins") {
  SomeFile file;
  Constant constant = floats(file.range(3, 8));
  CHECK(constant.size() == 8);
  CHECK(constant.at_hand() == nullptr);
  Tensor tensor = value_of(load(constant));
  CHECK(tensor.extents() == Extents{2});
  CHECK(tensor.as_double(0) == 1.0);
  CHECK(tensor.as_double(1) == 2.0);
}

TEST_CASE("a file that is not what it was is refused") {
  SomeFile file;
  Constant constant = floats(file.range(3, 8));
  file.write("abcd", {1.0f, 2.0f});
  Result<Tensor> loaded = load(constant);
  CHECK(failure(loaded).starts_with(text("'", file.path(), "' has changed since the model was imported: 12 bytes, modified at ")));
  CHECK(loaded.error().kind == ErrorKind::bad_input);
  file.write("xyz", {1.0f, 2.0f});
  std::filesystem::last_write_time(file.path(), std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(failure(load(constant)).find("has changed") != std::string::npos);
  file.remove();
  loaded = load(constant);
  CHECK(failure(loaded).find(file.path()) != std::string::npos);
  CHECK(loaded.error().kind == ErrorKind::bad_input);
}

TEST_CASE("a stretch that cannot be the constant is refused") {
  SomeFile file;
  CHECK(failure(load(floats(file.range(4, 8)))) == text("'", file.path(), "' has 11 bytes, bytes 4 to 4 + 8 are asked for"));
  CHECK(failure(load(floats(file.range(UINT64_MAX, 8)))).find("are asked for") != std::string::npos);
  CHECK(failure(load(floats(file.range(3, 7)))) == text("a constant of type f32[2] cannot be 7 bytes of '", file.path(), "'"));
  CHECK(failure(load(floats(file.range(3, 8), {3}))) == text("a constant of type f32[3] cannot be 8 bytes of '", file.path(), "'"));
}

TEST_CASE("limits, streams and absent payloads") {
  Constant constant = *make_constant(Tensor::of<float>(DType::f32, {2}, {1, 2}));
  CHECK(failure(load(constant, 7)) == "a constant of 8 B is larger than the limit of 7 B");
  CHECK(load(constant, 8).has_value());
  constant = {DType::i64, {}, StreamPayload{std::make_shared<Source>(), 5}, std::nullopt};
  CHECK(value_of(load(constant)).as_int(0) == 5);
  constant.payload = AbsentPayload{};
  CHECK(failure(load(constant)) == "the bytes of a constant of type i64[] are absent: the graph was imported without weights or read from text");
}
