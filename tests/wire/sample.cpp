#include "tests/wire/sample.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/wire/format.h"

namespace infini::test {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "it-wire-XXXXXX").string();
  IT_CHECK(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

std::string TemporaryFolder::write(const std::string& name, std::string_view content) const {
  std::ofstream(file(name), std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return file(name);
}

Tensor counted(DType dtype, Extents extents, double scale) {
  Result<TensorWriter> writer = TensorWriter::make(dtype, std::move(extents));
  IT_CHECK(writer.has_value());
  for (std::int64_t i = 0; i < writer->tensor().count(); ++i) writer->set_double(i, static_cast<double>(i) * scale);
  return std::move(*writer).finish();
}

namespace {

// Bytes 1, 2, 3, ... as a tensor of any element type but strings.
Tensor patterned(DType dtype, Extents extents) {
  std::vector<std::byte> bytes(byte_size(dtype, *element_count(extents)));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return *Tensor::owning(dtype, std::move(extents), std::move(bytes));
}

Graph inner_graph(GraphBuilder builder, const Type& captured, ConstantRef constant) {
  builder.set_name("inner");
  ValueId i = builder.add_input("i", Type::tensor(DType::i64, Shape{}));
  ValueId outside = builder.add_capture("outside", captured);
  ValueId c = builder.add_constant("c", std::move(constant));
  GraphBuilder::NodeSpec spec;
  spec.domain = "test.domain";
  spec.type = "Inner";
  spec.version = 2;
  spec.inputs = {i, outside, c};
  spec.output_names = {"r"};
  spec.declared = {Type::tensor(DType::f32, Shape{Dim::symbol("#3")})};
  spec.origin = {1};
  Result<std::vector<ValueId>> result = builder.add_node(std::move(spec));
  IT_CHECK(result.has_value());
  builder.add_output(result->at(0));
  Result<Graph> graph = std::move(builder).build();
  IT_CHECK(graph.has_value());
  return std::move(*graph);
}

Attributes every_kind(const GraphBuilder& builder, ValueId captured, const ConstantRef& shared) {
  auto body = [&] {
    Graph inner = inner_graph(builder.nested(), builder.value(captured).type, shared);
    return Body{std::make_shared<const Graph>(std::move(inner)), {captured}};
  };
  Attributes out;
  out.set("integer", std::int64_t{-7});
  out.set("real", 0.1f);
  out.set("text", std::string("a\0b\xff", 4));
  out.set("integers", std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX});
  out.set("no_integers", std::vector<std::int64_t>{});
  out.set("reals", std::vector<float>{-0.0f, 1e-45f, 3e38f});
  out.set("texts", std::vector<std::string>{"", "x", "\xe5\xb1\x82"});
  out.set("tensor", counted(DType::i32, {2, 3}));
  out.set("large_tensor", counted(DType::f64, {700}));
  out.set("tensors", std::vector<Tensor>{counted(DType::u8, {3}), Tensor::of_strings({2}, {"p", ""}), counted(DType::f32, {2000})});
  out.set("no_tensors", std::vector<Tensor>{});
  out.set("type", Type::map(DType::str, Type::sequence(Type::tensor(DType::f16))));
  out.set("body", body());
  out.set("bodies", std::vector<Body>{body(), body()});
  return out;
}

void add_constants(GraphBuilder& builder, std::int64_t large) {
  for (int number = 1; number < dtype_count; ++number) {
    auto dtype = static_cast<DType>(number);
    std::string label(name(dtype));
    if (dtype == DType::str) continue;
    builder.add_output(builder.add_constant("small_" + label, make_constant(patterned(dtype, {3, 5}))));
  }
  builder.add_output(builder.add_constant("large", make_constant(counted(DType::f32, {large}))));
  builder.add_output(builder.add_constant("larger_u4", make_constant(patterned(DType::u4, {9, 2001}))));
  builder.add_output(builder.add_constant("empty", make_constant(counted(DType::f32, {0, 4}))));
  builder.add_output(builder.add_constant("strings", make_constant(Tensor::of_strings({2, 2}, {"a", "", std::string("\0z", 2), "long"}))));
  std::vector<std::string> many(1000, "seven..");
  builder.add_output(builder.add_constant("many_strings", make_constant(Tensor::of_strings({1000}, std::move(many)))));
  Constant absent{DType::bf16, {1000, 1000}, AbsentPayload{}, Hash128{1, 2}};
  builder.add_output(builder.add_constant("absent", std::make_shared<const Constant>(std::move(absent))));
}

std::vector<TestVector> sample_tests() {
  Tensor small = counted(DType::f32, {2});
  Sequence sequence{Type::tensor(DType::f32), {Value(small), Value(counted(DType::f32, {3000}))}};
  Optional full{Type::tensor(DType::f32), std::make_shared<const Value>(small)};
  Optional none{Type::sequence(Type::tensor(DType::str)), nullptr};
  Map map{DType::str, {"k", "l"}, {}, {Value(small), Value(counted(DType::i64, {1}))}};
  Map numbers{DType::i64, {}, {-3}, {Value(Tensor::of_strings({1}, {"v"}))}};
  TestVector first{"first", {{"x", Value(counted(DType::f32, {20, 100}))}, {"s", Value(sequence)}, {"o", Value(full)}}, {{"r", Value(map)}}, 1e-4, 0};
  TestVector second{"", {{"o", Value(none)}, {"m", Value(numbers)}, {"t", Value(Tensor::of_strings({}, {"text"}))}}, {}, 1e-3, 1e-7};
  return {first, second};
}

}  // namespace

Module sample_module(const OpTable& ops, std::int64_t large) {
  auto sources = std::make_shared<std::vector<SourceNode>>();
  *sources = {{{0}, "MatMul", "mm"}, {{4, 1, 2}, "Inner", ""}, {{5}, "Custom", "same"}};
  GraphBuilder builder(sources);
  builder.set_name("sample");
  builder.add_metadata("author", "nobody");
  builder.add_metadata("", std::string("\xff", 1));
  builder.set_symbol({"batch", {1, 64}});
  Dim batch = Dim::symbol("batch");
  ValueId x = builder.add_input("x", Type::tensor(DType::f32, Shape{batch, Dim(2) * batch + Dim(1)}));
  ValueId s = builder.add_input("s", Type::sequence(Type::tensor(DType::i64, Shape{2})));
  builder.add_input("o", Type::optional(Type::tensor(DType::str)));
  builder.add_input("m", Type::map(DType::i64, Type::tensor(DType::f32, Shape{})));
  builder.add_input("u", Type{});
  builder.add_input("sparse", Type{TypeKind::sparse_tensor, DType::f32, Shape{7}, nullptr});
  ConstantRef shared = make_constant(counted(DType::f32, {4, 500}, 0.25));
  ValueId weight = builder.add_constant("weight", shared);
  builder.add_constant("weight_again", shared);
  add_constants(builder, large);

  ValueId left = builder.add_input("left", Type::tensor(DType::f32, Shape{batch, 4}));
  GraphBuilder::NodeSpec known;
  known.op = ops.find("", "MatMul");
  known.name = "same";
  known.inputs = {left, weight};
  known.output_names = {"product"};
  known.origin = {0, 2};
  Result<std::vector<ValueId>> product = builder.add_node(std::move(known));
  IT_CHECK(product.has_value());

  GraphBuilder::NodeSpec carried;
  carried.domain = "com.example";
  carried.type = "Custom";
  carried.version = 3;
  carried.overload = "wide";
  carried.name = "same";
  carried.inputs = {ValueId{}, x, ValueId{}, product->at(0), s};
  carried.output_names = {"c0", "", "c2"};
  carried.wanted = {true, false, true};
  carried.declared = {Type::tensor(DType::f8e4m3fn), {}, Type::tensor(DType::f32, Shape{Dim::symbol("#7"), batch})};
  carried.attributes = every_kind(builder, x, shared);
  carried.origin = {2};
  Result<std::vector<ValueId>> custom = builder.add_node(std::move(carried));
  IT_CHECK(custom.has_value());
  builder.add_output(custom->at(2));
  builder.add_output(product->at(0));
  Result<Graph> graph = std::move(builder).build();
  IT_CHECK(graph.has_value());
  std::vector<LedgerEntry> ledger = {{"it-import", "0.1.0", "--batch=8", std::nullopt, Hash128{5, 6}}, {"it-opt", "0.1.0", "-O2", Hash128{5, 6}, Hash128{0, 1}}};
  return {std::move(*graph), std::move(ledger), sample_tests()};
}

Module tiny_module(ConstantRef constant) {
  GraphBuilder builder;
  ValueId c = builder.add_constant("c", std::move(constant));
  builder.add_output(c);
  Result<Graph> graph = std::move(builder).build();
  IT_CHECK(graph.has_value());
  return {std::move(*graph), {{"it-test", "1", "", std::nullopt, std::nullopt}}, {}};
}

ConstantRef file_constant(const std::string& path, DType dtype, Extents extents, std::uint64_t offset) {
  Result<FileFacts> facts = file_facts(path);
  IT_CHECK(facts.has_value());
  FileRange range{path, offset, byte_size(dtype, *element_count(extents)), facts->size, facts->modified};
  return std::make_shared<const Constant>(Constant{dtype, std::move(extents), FilePayload{std::move(range)}, std::nullopt});
}

Written written(Module module, const WriteOptions& options, std::string_view tool) {
  Written out;
  ByteSink sink = [&out](std::span<const std::byte> bytes) -> Status {
    out.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  out.status = StreamWriter(sink, tool).write(std::move(module), options);
  return out;
}

std::string frame(std::uint32_t number, std::string_view content) {
  std::string field;
  wire::append_varint(field, wire::bytes_tag(number));
  wire::append_varint(field, content.size());
  field += content;
  std::string out;
  wire::append_varint(out, field.size());
  return out + field;
}

// Lengths and tags of Frame.end, End.digest and two fixed64.
std::string with_end(const std::string& stream) {
  Hash128 digest = hash_bytes(std::as_bytes(std::span(stream)));
  std::string content("\x0a\x12\x09", 3);
  for (int shift = 0; shift < 64; shift += 8) content += static_cast<char>(digest.high >> shift);
  content += '\x11';
  for (int shift = 0; shift < 64; shift += 8) content += static_cast<char>(digest.low >> shift);
  return stream + frame(7, content);
}

Result<StreamReader> opened(const std::string& bytes, As as, ReadOptions options) {
  if (as == As::pipe) {
    static const Descriptor nothing(::open("/dev/null", O_RDONLY));
    options.prefix = bytes;
    return StreamReader::open(nothing.number(), std::move(options));
  }
  Descriptor file(::memfd_create("stream", 0));
  IT_CHECK(write_fully(file.number(), std::as_bytes(std::span(bytes)), "memory").has_value());
  ::lseek(file.number(), 0, SEEK_SET);
  return StreamReader::open(file.number(), std::move(options));
}

Result<Module> read_back(const std::string& bytes, As as, const OpTable& ops, ReadOptions options) {
  IT_TRY(StreamReader reader, opened(bytes, as, std::move(options)));
  IT_TRY(Module module, reader.read_module(ops));
  IT_TRY_VOID(reader.finish(module));
  return module;
}

}  // namespace infini::test
