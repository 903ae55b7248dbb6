// Everything a module holds comes back from a stream.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "tests/wire/sample.h"

namespace infini::test {
namespace {

std::string message(const Error& error) { return error.text(); }
template <class T>
std::string message(const Result<T>& result) {
  return result ? std::string("fine") : message(result.error());
}

const Constant& constant(const Module& module, std::string_view name) {
  for (const ValueInfo& value : module.graph.values()) {
    if (value.name == name) return *value.constant;
  }
  FAIL("no constant ", name);
  std::abort();
}

}  // namespace

TEST_CASE("a module of everything comes back from a pipe and from a file") {
  OpTable ops;
  Module original = sample_module(ops, 40000);
  Written stream = written(original);
  REQUIRE_MESSAGE(stream.status.has_value(), message(stream.status));
  for (As as : {As::pipe, As::file}) {
    Result<Module> copy = read_back(stream.bytes, as, ops);
    REQUIRE_MESSAGE(copy.has_value(), message(copy));
    CHECK(difference(original, *copy) == "");
  }
}

TEST_CASE("a module that was read is written as the same bytes again") {
  OpTable ops;
  Written stream = written(sample_module(ops));
  for (As as : {As::pipe, As::file}) {
    Result<Module> copy = read_back(stream.bytes, as, ops);
    REQUIRE_MESSAGE(copy.has_value(), message(copy));
    Written again = written(std::move(*copy));
    REQUIRE(again.status.has_value());
    CHECK(again.bytes == stream.bytes);
  }
  CHECK(written(sample_module(ops)).bytes == stream.bytes);
}

TEST_CASE("constants have the forms that their sizes and the input allow") {
  OpTable ops;
  Written stream = written(sample_module(ops, 40000));
  Result<StreamReader> pipe = opened(stream.bytes, As::pipe);
  REQUIRE(pipe.has_value());
  CHECK(pipe->tool() == "it-test 1");
  Result<Module> piped = pipe->read_module(ops);
  REQUIRE_MESSAGE(piped.has_value(), message(piped));
  CHECK(std::holds_alternative<InlinePayload>(constant(*piped, "small_f32").payload));
  CHECK(std::holds_alternative<InlinePayload>(constant(*piped, "empty").payload));
  CHECK(std::holds_alternative<StreamPayload>(constant(*piped, "large").payload));
  CHECK(std::holds_alternative<AbsentPayload>(constant(*piped, "absent").payload));
  Result<Module> mapped = read_back(stream.bytes, As::file, ops);
  REQUIRE(mapped.has_value());
  CHECK(std::holds_alternative<MappedPayload>(constant(*mapped, "large").payload));
  CHECK(std::holds_alternative<MappedPayload>(constant(*mapped, "larger_u4").payload));
  CHECK(std::holds_alternative<OwnedPayload>(constant(*mapped, "many_strings").payload));
  const Constant& large = constant(*mapped, "large");
  CHECK(large.digest == content_hash(large.at_hand()->bytes()));
  CHECK(check_contents(mapped->graph).has_value());
}

TEST_CASE("payloads can be pulled in any order, and again") {
  OpTable ops;
  Module original = sample_module(ops);
  Written stream = written(original);
  Result<StreamReader> reader = opened(stream.bytes, As::pipe);
  REQUIRE(reader.has_value());
  Result<Module> module = reader->read_module(ops);
  REQUIRE(module.has_value());
  for (std::string_view name : {"large", "weight", "larger_u4", "large"}) {
    Result<Tensor> tensor = load(constant(*module, name));
    REQUIRE_MESSAGE(tensor.has_value(), message(tensor));
    CHECK(difference(Value(*tensor), Value(*load(constant(original, name)))) == "");
  }
  Status finished = reader->finish(*module);
  REQUIRE_MESSAGE(finished.has_value(), message(finished));
  CHECK(difference(original, *module) == "");
}

TEST_CASE("payloads come by length, also where a stage has made some") {
  OpTable ops;
  auto graph_of = [](std::vector<ConstantRef> constants) {
    GraphBuilder builder;
    for (std::size_t i = 0; i < constants.size(); ++i) builder.add_output(builder.add_constant(text("c", i), constants[i]));
    Result<Graph> graph = std::move(builder).build();
    REQUIRE(graph.has_value());
    return Module{std::move(*graph), {}, {}};
  };
  auto of_count = [](std::int64_t count) { return make_constant(counted(DType::f32, {count})); };
  auto numbers = [&ops](const std::string& stream) {
    Result<StreamReader> reader = opened(stream, As::pipe);
    REQUIRE(reader.has_value());
    Result<Module> module = reader->read_module(ops);
    REQUIRE(module.has_value());
    std::vector<std::pair<std::size_t, std::int64_t>> order;  // number and length
    for (const ValueInfo& value : module->graph.values()) {
      order.emplace_back(std::get<StreamPayload>(value.constant->payload).index, value.constant->count());
    }
    std::ranges::sort(order);
    std::vector<std::int64_t> lengths;
    for (const auto& [number, length] : order) lengths.push_back(length);
    return lengths;
  };
  std::string first = written(graph_of({of_count(3000), of_count(2000), of_count(50000)})).bytes;
  CHECK(numbers(first) == std::vector<std::int64_t>{2000, 3000, 50000});
  Result<StreamReader> reader = opened(first, As::pipe);
  REQUIRE(reader.has_value());
  Result<Module> module = reader->read_module(ops);
  REQUIRE(module.has_value());
  std::vector<ConstantRef> constants = {of_count(2500), of_count(60000)};
  for (const ValueInfo& value : module->graph.values()) constants.push_back(value.constant);
  Written second = written(graph_of(std::move(constants)), {.source = &*reader});
  REQUIRE(second.status.has_value());
  CHECK(numbers(second.bytes) == std::vector<std::int64_t>{2000, 2500, 3000, 50000, 60000});
}

TEST_CASE("a stage passes a stream on as it came, and its own entry comes after those before it") {
  OpTable ops;
  Module original = sample_module(ops, 40000);
  Written stream = written(original, {.chunk_bytes = 30000});
  for (As as : {As::pipe, As::file}) {
    for (bool pull : {false, true}) {
      Result<StreamReader> reader = opened(stream.bytes, as);
      REQUIRE(reader.has_value());
      Result<Module> module = reader->read_module(ops);
      REQUIRE_MESSAGE(module.has_value(), message(module));
      if (pull) REQUIRE(load(constant(*module, "large")).has_value());
      LedgerEntry entry{"it-test", "1", "-O0", Hash128{0, 1}, Hash128{0, 1}};
      module->ledger.push_back(entry);
      Written passed = written(std::move(*module), {.source = &*reader});
      REQUIRE_MESSAGE(passed.status.has_value(), message(passed.status));
      Module expected = original;
      expected.ledger.push_back(entry);
      Result<Module> copy = read_back(passed.bytes, As::pipe, ops);
      REQUIRE_MESSAGE(copy.has_value(), message(copy));
      CHECK(difference(expected, *copy) == "");
      CHECK(written(std::move(expected)).bytes == passed.bytes);
    }
  }
}

TEST_CASE("payloads start where they can be mapped, and tensors in many chunks are mapped side by side") {
  OpTable ops;
  for (std::uint64_t chunk : {std::uint64_t{4096}, std::uint64_t{65536}, std::uint64_t{1} << 25}) {
    for (std::int64_t count : {10000, 16383, 16384, 100000}) {
      CAPTURE(chunk);
      CAPTURE(count);
      Tensor tensor = counted(DType::f32, {count});
      bool large = count >= 16384;  // 64 KiB
      Module original = tiny_module(make_constant(tensor));
      Written stream = written(original, {.chunk_bytes = chunk});
      REQUIRE(stream.status.has_value());
      std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
      for (std::size_t at = 0; at < bytes.size(); at += chunk) {
        std::size_t found = stream.bytes.find(bytes.substr(at, std::min<std::size_t>(chunk, 64)));
        REQUIRE(found != std::string::npos);
        CHECK(found % (large ? 4096 : 64) == 0);
      }
      Result<Module> copy = read_back(stream.bytes, As::file, ops);
      REQUIRE_MESSAGE(copy.has_value(), message(copy));
      CHECK(difference(original, *copy) == "");
      // Pieces that do not start at pages are copied into one.
      bool in_place = large || chunk >= tensor.bytes().size();
      CHECK(std::holds_alternative<MappedPayload>(constant(*copy, "c").payload) == in_place);
    }
  }
}

TEST_CASE("a stream that starts inside a file is read from there") {
  OpTable ops;
  TemporaryFolder folder;
  Module original = sample_module(ops, 40000);
  Written stream = written(original);
  std::string path = folder.write("two.itg", "before" + stream.bytes);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  REQUIRE(std::fseek(file, 6, SEEK_SET) == 0);
  Result<StreamReader> reader = StreamReader::open(fileno(file));
  REQUIRE_MESSAGE(reader.has_value(), message(reader));
  std::fclose(file);
  Result<Module> module = reader->read_module(ops);
  REQUIRE_MESSAGE(module.has_value(), message(module));
  REQUIRE(reader->finish(*module).has_value());
  CHECK(difference(original, *module) == "");
}

// Of each format version one stream, written by `stream_tool sample format_N.itg 1200` of its time.
TEST_CASE("saved streams of every format version are read") {
  OpTable ops;
  Result<std::vector<std::byte>> file = read_file(std::string(IT_TEST_DATA) + "/format_1.itg", 1 << 20);
  REQUIRE(file.has_value());
  std::string bytes(reinterpret_cast<const char*>(file->data()), file->size());
  for (As as : {As::pipe, As::file}) {
    Result<Module> module = read_back(bytes, as, ops);
    REQUIRE_MESSAGE(module.has_value(), message(module));
    CHECK(difference(sample_module(ops, 1200), *module) == "");
  }
}

TEST_CASE("streams are told from other files by their first bytes") {
  Written stream = written(tiny_module(make_constant(counted(DType::f32, {1}))));
  for (std::size_t cut : {32u, 20u, 4u, 3u, 2u}) CHECK(begins_stream(std::string_view(stream.bytes).substr(0, cut)));
  CHECK_FALSE(begins_stream("graph sample(x: f32[1]) {"));
  CHECK_FALSE(begins_stream(std::string_view("\x08\x0a\x12\x07pytorch\x1a\x05", 14)));
  CHECK_FALSE(begins_stream(""));
}

}  // namespace infini::test
