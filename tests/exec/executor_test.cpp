// The executor by itself: shapes that change from run to run, sizes that only running tells, inputs that do not fit, and what nothing can run.
#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "tests/graphs/runs.h"

extern "C" const it_backend* it_null_backend_query(std::uint32_t max_abi);

namespace infini::tests {
namespace {

std::shared_ptr<const Graph> graph_of(std::string_view source) {
  Result<Module> module = parse_text(source, OpTable());
  REQUIRE_MESSAGE(module.has_value(), module.error().text());
  return std::make_shared<const Graph>(std::move(module->graph));
}

std::unique_ptr<Executor> executor_of(std::string_view source, Devices devices, std::vector<std::string> observe = {}) {
  ExecOptions options;
  options.devices = std::move(devices);
  options.observe = std::move(observe);
  Result<std::unique_ptr<Executor>> made = Executor::make(graph_of(source), std::move(options));
  REQUIRE_MESSAGE(made.has_value(), made.error().text());
  return std::move(*made);
}

Tensor floats(const Extents& extents, const std::vector<float>& numbers) { return Tensor::of(DType::f32, extents, numbers); }

std::vector<double> numbers(const Value& value) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < value.tensor()->count(); ++i) out.push_back(value.tensor()->as_double(i));
  return out;
}

using Numbers = std::vector<double>;

std::vector<Value> outputs(Executor& executor, std::vector<Value> inputs) {
  Result<std::vector<Value>> out = executor.run(inputs);
  REQUIRE_MESSAGE(out.has_value(), out.error().text());
  return *out;
}
std::string refusal(Executor& executor, std::vector<Value> inputs) {
  Result<std::vector<Value>> out = executor.run(inputs);
  return out ? "it runs" : out.error().text();
}

const std::array<std::string_view, 2> both = {"reference", "cpu"};

}  // namespace

TEST_CASE("executor: one plan per shape") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%x: f32[n,2]) -> (%y) {\n %a = Neg(%x)\n %t = Transpose(%a)\n %y = Relu(%t)\n}", {device(name)});
    for (int round = 0; round < 3; ++round) {
      CHECK(numbers(outputs(*executor, {floats({1, 2}, {1, -2})})[0]) == Numbers{0, 2});
      std::vector<Value> three = outputs(*executor, {floats({3, 2}, {-1, 2, -3, 4, -5, 6})});
      CHECK(three[0].tensor()->extents() == Extents{2, 3});
      CHECK(numbers(three[0]) == Numbers{1, 3, 5, 0, 0, 0});
      CHECK(outputs(*executor, {floats({0, 2}, {})})[0].tensor()->extents() == Extents{2, 0});
    }
    CHECK(executor->plans().size() == 3);
  }
}

TEST_CASE("executor: outputs that are inputs, constants, and read further") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%x: f32[2]) -> (%x, %c, %a, %y) {\n %c = constant f32[2] {3, 4}\n %a = Add(%x, %c)\n %y = Neg(%a)\n}", {device(name)});
    std::vector<Value> out = outputs(*executor, {floats({2}, {1, 2})});
    CHECK(numbers(out[0]) == Numbers{1, 2});
    CHECK(numbers(out[1]) == Numbers{3, 4});
    CHECK(numbers(out[2]) == Numbers{4, 6});
    CHECK(numbers(out[3]) == Numbers{-4, -6});
    std::vector<Value> later = outputs(*executor, {floats({2}, {10, 20})});
    CHECK(numbers(out[2]) == Numbers{4, 6});  // what was handed out stays as it was
    CHECK(numbers(later[2]) == Numbers{13, 24});
  }
}

TEST_CASE("executor: sizes that computed values decide") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%x: f32[4], %from: i64[1], %to: i64[1]) -> (%y) {\n %f = Neg(%from)\n %g = Neg(%f)\n"
                                " %s = Slice(%x, %g, %to)\n %r = Relu(%s)\n %y = Add(%r, %r)\n}", {device(name)});
    auto at = [](std::int64_t i) { return Value(Tensor::vector_i64({i})); };
    Value x = floats({4}, {1, 2, 3, 4});
    for (int round = 0; round < 3; ++round) {  // later rounds find the plans of the first
      CHECK(numbers(outputs(*executor, {x, at(0), at(2)})[0]) == Numbers{2, 4});
      CHECK(numbers(outputs(*executor, {x, at(1), at(4)})[0]) == Numbers{4, 6, 8});
      CHECK(numbers(outputs(*executor, {x, at(2), at(4)})[0]) == Numbers{6, 8});  // as many, from elsewhere
      CHECK(numbers(outputs(*executor, {x, at(2), at(2)})[0]) == Numbers{});
    }
  }
}

TEST_CASE("executor: a plan made for computed values keeps them, though their memory is used again") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%n: i64[1], %x: f32[]) -> (%y, %z) {\n %m = Neg(%n)\n %s = Neg(%m)\n"
                                " %c = ConstantOfShape(%s) {value = tensor f32[1] {7}}\n %y = Add(%c, %x)\n"
                                " %k = Neg(%s)\n %z = Neg(%k)\n}", {device(name), device("reference")});
    std::int64_t size = 0;
    std::vector<Value> shape = {Tensor::view(DType::i64, {1}, std::as_bytes(std::span(&size, 1)), nullptr)};  // the caller's own memory
    for (int round = 0; round < 3; ++round)
      for (std::int64_t wanted : {2, 5, 3}) {
        size = wanted;
        std::vector<Value> out = outputs(*executor, {shape[0], floats({}, {1})});
        CHECK(numbers(out[0]) == Numbers(static_cast<std::size_t>(wanted), 8));
        CHECK(numbers(out[1]) == Numbers{static_cast<double>(wanted)});
      }
  }
}

TEST_CASE("executor: sizes that fractions decide") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%limit: f32[]) -> (%y) {\n %a = constant f32[] {0}\n %d = constant f32[] {1}\n %l = Neg(%limit)\n %m = Neg(%l)\n"
                                " %r = Range(%a, %m, %d)\n %y = Neg(%r)\n}", {device(name), device("reference")});
    CHECK(numbers(outputs(*executor, {floats({}, {2})})[0]) == Numbers{0, -1});
    CHECK(numbers(outputs(*executor, {floats({}, {2.5f})})[0]) == Numbers{0, -1, -2});
    CHECK(numbers(outputs(*executor, {floats({}, {2})})[0]) == Numbers{0, -1});
  }
}

TEST_CASE("executor: a size of a degree that no expression holds") {
  for (std::string_view name : both) {
    std::string source = "graph \"g\" (%x: f32[n]) -> (%y) {\n %s0 = Shape(%x)\n";
    for (int i = 0; i < 6; ++i) source += text(" %s", i + 1, " = Mul(%s", i, ", %s", i, ")\n");
    auto executor = executor_of(source + " %t = Tile(%x, %s6)\n %y = Relu(%t)\n}", {device(name)});
    Type declared = executor->graph().value(executor->graph().outputs()[0]).type;
    REQUIRE(declared.has_shape());
    CHECK_FALSE((*declared.shape)[0].is_constant());
    CHECK(numbers(outputs(*executor, {floats({1}, {3.5f})})[0]) == Numbers{3.5});
  }
}

TEST_CASE("executor: sizes beyond any memory are refused, however they come to be") {
  constexpr std::int64_t big = std::int64_t{1} << 32;
  struct Row {
    std::string_view node;
    Extents sizes;
    std::string_view type;
  };
  const Row rows[] = {{"Expand(%x, %s)", {big, big}, "f32[4294967296,4294967296]"},
                      {"Expand(%x, %s)", {big + 1, big}, "f32[4294967297,4294967296]"},
                      {"Expand(%x, %s)", {INT64_MAX, 2}, "f32[9223372036854775807,2]"},
                      {"Expand(%x, %s)", {0, INT64_MAX}, "f32[0,9223372036854775807]"},
                      {"Tile(%x, %s)", {big * 256, big * 256}, "f32[1099511627776,1099511627776]"},
                      {"Tile(%x, %s)", {1, big * 16384}, "f32[1,70368744177664]"},
                      {"Pad(%x, %s)", {INT64_MAX, 0, INT64_MAX, 0}, "f32[4611686018427387904,1]"},
                      {"ConstantOfShape(%s)", {big, big}, "f32[4294967296,4294967296]"}};
  for (std::string_view name : both) {
    for (const Row& row : rows) {
      auto executor = executor_of(text("graph \"g\" (%x: f32[1,1], %s: i64[k]) -> (%y) {\n %a = ", row.node, "\n %y = Relu(%a)\n}"), {device(name)});
      std::string said = refusal(*executor, {floats({1, 1}, {1}), Tensor::vector_i64(row.sizes)});
      CHECK_MESSAGE(said.find(text("a tensor ", row.type, " ")) != std::string::npos, said);
    }
  }
}

TEST_CASE("executor: memory is shared along a chain, and kept while another reader comes") {
  auto executor = executor_of("graph \"g\" (%x: f32[2]) -> (%y, %z) {\n %a = Neg(%x)\n %b = Relu(%a)\n %c = Abs(%b)\n %d = Add(%c, %a)\n %y = Neg(%d)\n %z = Add(%d, %d)\n}",
                              {device("cpu")});
  std::vector<Value> out = outputs(*executor, {floats({2}, {1, -2})});
  CHECK(numbers(out[0]) == Numbers{1, -4});
  CHECK(numbers(out[1]) == Numbers{-2, 8});
}

TEST_CASE("executor: inputs that do not fit") {
  auto executor = executor_of("graph \"g\" (%x: f32[n,2], %z: f32[n]) -> (%y) {\n symbol n in 1..3\n %y = Neg(%x)\n}", {device("reference")});
  Value two = floats({2, 2}, {1, 2, 3, 4}), z = floats({2}, {1, 2});
  CHECK(refusal(*executor, {two, z}) == "it runs");
  CHECK(refusal(*executor, {two}) == "the graph has 2 inputs, 1 were given");
  CHECK(refusal(*executor, {z, z}) == "input 'x' is f32[2], the graph expects f32[n,2]");
  CHECK(refusal(*executor, {floats({2, 1}, {1, 2}), z}) == "input 'x' is f32[2,1], the graph expects f32[n,2]");
  CHECK(refusal(*executor, {Tensor::of<double>(DType::f64, {2, 2}, {1, 2, 3, 4}), z}) == "input 'x' is f64[2,2], the graph expects f32[n,2]");
  CHECK(refusal(*executor, {two, floats({3}, {1, 2, 3})}) == "input 'z' is f32[3], the graph expects f32[n]");
  CHECK(refusal(*executor, {floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), floats({4}, {1, 2, 3, 4})}) == "dimension 'n' is 4, the graph allows 1 to 3");
  CHECK(refusal(*executor, {two, Sequence{Type::tensor(DType::f32), {}}}) == "input 'z' is seq(f32[?]), the graph expects f32[n]");
}

TEST_CASE("executor: an expression before its symbol") {
  auto executor = executor_of("graph \"g\" (%x: f32[2*n], %z: f32[n]) -> (%y) {\n %y = Neg(%z)\n}", {device("reference")});
  CHECK(refusal(*executor, {floats({4}, {1, 2, 3, 4}), floats({2}, {1, 2})}) == "it runs");
  CHECK(refusal(*executor, {floats({5}, {1, 2, 3, 4, 5}), floats({2}, {1, 2})}) == "input 'x' is f32[5], the graph expects f32[2*n]");
}

TEST_CASE("executor: what nothing runs, in one report") {
  Result<Backend> null = Backend::from_query(it_null_backend_query, "null");
  REQUIRE(null.has_value());
  Result<std::shared_ptr<Device>> nothing = Device::open(*null, 0, {});
  REQUIRE(nothing.has_value());
  std::string_view source = "graph \"g\" (%x: f32[2]) -> (%y) {\n %a = Neg(%x) @ \"first\"\n %b = Neg(%a)\n %y = Add(%a, %b) @ \"sum\"\n}";
  auto executor = executor_of(source, {*nothing});
  Result<std::vector<Value>> result = executor->run(std::vector<Value>{floats({2}, {1, 2})});
  REQUIRE(!result.has_value());
  CHECK(result.error().kind == ErrorKind::unsupported);
  CHECK(result.error().text() == "3 of 3 nodes are not supported:\n  2 x Neg f32[2] on null: the null device runs nothing ('first', node 1)\n"
                                 "  1 x Add f32[2], f32[2] on null: the null device runs nothing ('sum')");
  // With a device behind it, the nodes go there, and the caller is told.
  ExecOptions options;
  options.devices = {*nothing, device("reference")};
  std::size_t told = 0;
  options.on_refusals = [&](const Graph&, const Planned& planned) { told += planned.refusals.size(); };
  Result<std::unique_ptr<Executor>> both_devices = Executor::make(graph_of(source), std::move(options));
  REQUIRE(both_devices.has_value());
  CHECK(numbers(outputs(**both_devices, {floats({2}, {1, 2})})[0]) == Numbers{0, 0});
  CHECK(told == 3);
}

TEST_CASE("executor: operators without a definition, in one report") {
  auto executor = executor_of("graph \"g\" (%x: f32[2]) -> (%y) {\n %a = com.example::Odd version 1 (%x) : f32[2]\n %b = Neg(%a)\n"
                              " %y = com.example::Odd version 1 (%b) : f32[2]\n}", {device("reference")});
  CHECK(refusal(*executor, {floats({2}, {1, 2})}) == "2 of 3 nodes are not supported:\n  2 x com.example::Odd f32[2]: operator has no definition here (node 0, node 2)");
}

TEST_CASE("executor: a fused body that no device takes whole is put apart") {
  std::string_view source = "graph \"g\" (%x: f32[2,2]) -> (%y) {\n %y = infini::fused(%x) {\n body = graph \"fused\" (%x: f32[2,2]) -> (%y) {\n"
                            " %a = Softmax(%x)\n %y = CumSum(%a, %k)\n %k = constant i64[] {0}\n }\n }\n}";
  Result<Module> module = parse_text(source, OpTable());
  if (!module) source = "graph \"g\" (%x: f32[2,2]) -> (%y) {\n %y = infini::fused(%x) {\n body = graph \"fused\" (%x: f32[2,2]) -> (%y) {\n"
                        " %a = Softmax(%x)\n %y = Softmax(%a) {axis = 0}\n }\n }\n}";
  Value x = floats({2, 2}, {1, 2, 3, 5});
  std::vector<Value> by_cpu = outputs(*executor_of(source, {device("cpu")}), {x});
  std::vector<Value> by_reference = outputs(*executor_of(source, {device("reference")}), {x});
  CHECK(difference(by_cpu, by_reference, 1e-6) == "");
}

TEST_CASE("executor: observed values") {
  for (std::string_view name : both) {
    auto executor = executor_of("graph \"g\" (%x: f32[2]) -> (%y) {\n %a = Neg(%x)\n %b = Exp(%a)\n %y = Neg(%b)\n}", {device(name)}, {"a", "x"});
    std::vector<Value> out = outputs(*executor, {floats({2}, {0, 0})});
    REQUIRE(out.size() == 3);
    CHECK(numbers(out[0]) == Numbers{-1, -1});
    CHECK(numbers(out[1]) == Numbers{0, 0});
    CHECK(numbers(out[2]) == Numbers{0, 0});
  }
  ExecOptions options;
  options.devices = {device("reference")};
  options.observe = {"nobody"};
  Result<std::unique_ptr<Executor>> made = Executor::make(graph_of("graph \"g\" (%x: f32[2]) -> (%y) {\n %y = Neg(%x)\n}"), std::move(options));
  REQUIRE(!made.has_value());
  CHECK(made.error().text() == "the graph has no value 'nobody'");
}

TEST_CASE("executor: a constant that is absent") {
  ExecOptions options;
  options.devices = {device("reference")};
  Result<std::unique_ptr<Executor>> made =
      Executor::make(graph_of("graph \"g\" (%x: f32[2]) -> (%y) {\n %c = constant f32[2] absent\n %y = Add(%x, %c)\n}"), std::move(options));
  REQUIRE(!made.has_value());
  CHECK(made.error().kind == ErrorKind::bad_input);
  CHECK(made.error().text().starts_with("constant 'c': "));
}

TEST_CASE("executor: strings and sequences stay on the host") {
  auto executor = executor_of("graph \"g\" (%x: str[2], %i: i64[1]) -> (%y) {\n %a = Identity(%x)\n %y = Gather(%a, %i)\n}", {device("cpu")});
  std::vector<Value> out = outputs(*executor, {Tensor::of_strings({2}, {"a", "b"}), Tensor::vector_i64({1})});
  CHECK(out[0].tensor()->strings() == std::vector<std::string>{"b"});
}

}  // namespace infini::tests
