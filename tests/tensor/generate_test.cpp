// Expected numbers come from generate_oracle.py.
#include "libcore/tensor/generate.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "libcore/tensor/random.h"

using namespace infini;

namespace {

Result<Tensor> make(std::string_view text, DType dtype, Extents extents, const GenerateOptions& options = {}) {
  Result<ValueSpec> spec = parse_value_spec(text);
  if (!spec) return std::move(spec.error());
  return generate(*spec, dtype, extents, options);
}

std::vector<std::int64_t> ints(std::string_view text, DType dtype, Extents extents, const GenerateOptions& options = {}) {
  Result<Tensor> tensor = make(text, dtype, std::move(extents), options);
  REQUIRE_MESSAGE(tensor.has_value(), tensor.error().text());
  return tensor->to_ints();
}

using Ints = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("random numbers are SplitMix64 started at the digest of seed and name") {
  RandomNumbers random(7, "x");
  CHECK(random.bits(0) == 0x350b0e0300bdce27);
  CHECK(random.bits(1) == 0x06a7d5b9c30076f4);
  CHECK(random.bits(3) == 0x8827a34f952cc7e0);
  CHECK(random.unit(0) == 0.20719993184388052);
  CHECK(random.unit(3) == 0.5318548268598304);
  CHECK(random.below(10, 0) == 2);
  CHECK(random.below(10, 3) == 5);
  CHECK(RandomNumbers(8, "x").bits(0) != random.bits(0));
  CHECK(RandomNumbers(7, "y").bits(0) != random.bits(0));
}

TEST_CASE("normal numbers follow the inverse of the normal distribution, its tails too") {
  RandomNumbers random(7, "x");
  CHECK(random.normal(0) == doctest::Approx(-0.8161753313542058).epsilon(2e-7));
  CHECK(random.normal(1) == doctest::Approx(-1.9431593026297076).epsilon(2e-7));
  CHECK(random.normal(3) == doctest::Approx(0.07993324807890835).epsilon(2e-7));
  RandomNumbers tails(0, "tails");
  CHECK(tails.normal(56360) == doctest::Approx(-4.449736040465015).epsilon(2e-7));
  CHECK(tails.normal(2110) == doctest::Approx(4.662446687865696).epsilon(2e-7));
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    double x = tails.normal(i);
    sum += x;
    squares += x * x;
  }
  CHECK(sum == doctest::Approx(683.6419325217443).epsilon(1e-5));
  CHECK(squares == doctest::Approx(199350.8553700331).epsilon(1e-6));
}

TEST_CASE("the words of the grammar") {
  CHECK(ints("zeros", DType::i32, {2}) == Ints{0, 0});
  CHECK(ints("ones", DType::f16, {2}) == Ints{1, 1});
  CHECK(ints("iota", DType::f32, {4}) == Ints{0, 1, 2, 3});
  CHECK(ints("iota", DType::u2, {6}) == Ints{0, 1, 2, 3, 0, 1});
  CHECK(ints("const(3)", DType::i8, {2, 1}) == Ints{3, 3});
  CHECK(ints(" const( -1.0 ) ", DType::i64, {1}) == Ints{-1});
  CHECK(ints("randint(0,10)", DType::i64, {4}, {7, "x"}) == Ints{2, 0, 2, 5});
  CHECK(ints("index", DType::i64, {4}, {7, "x", 10}) == Ints{2, 0, 2, 5});
  CHECK(ints("index", DType::i64, {3}) == Ints{0, 0, 0});
  CHECK(ints("mask(1)", DType::boolean, {3}) == Ints{1, 1, 1});
  CHECK(ints("mask(0.25)", DType::i64, {4}, {7, "x"}) == Ints{1, 1, 0, 0});
  CHECK(make("uniform(-1,3)", DType::f64, {1}, {7, "x"})->as_double(0) == -1 + 4 * 0.20719993184388052);
  CHECK(make("normal(5,0)", DType::f32, {1})->as_double(0) == 5);
  CHECK(make("zeros", DType::str, {2})->strings() == std::vector<std::string>{"", ""});
  CHECK(make("iota", DType::str, {2})->strings() == std::vector<std::string>{"0", "1"});
  CHECK(make("zeros", DType::f32, {-1}).error().kind == ErrorKind::run_failed);
}

TEST_CASE("literals keep their brackets and every digit") {
  CHECK(ints("[[1 2][3 4]]", DType::i32, {2, 2}) == Ints{1, 2, 3, 4});
  CHECK(ints("[1, 2, 3, 4]", DType::i32, {2, 2}) == Ints{1, 2, 3, 4});
  CHECK(ints("1 2 3", DType::i32, {3}) == Ints{1, 2, 3});
  CHECK(ints("7", DType::i32, {2}) == Ints{7, 7});
  CHECK(ints("7", DType::i32, {}) == Ints{7});
  CHECK(ints("[[] []]", DType::i32, {2, 0}) == Ints{});
  CHECK(ints("[true false 1]", DType::boolean, {3}) == Ints{1, 0, 1});
  CHECK(ints("9223372036854775807", DType::i64, {1}) == Ints{INT64_MAX});
  CHECK(ints("-9223372036854775808", DType::i64, {1}) == Ints{INT64_MIN});
  CHECK(ints("18446744073709551615", DType::u64, {1}) == Ints{-1});
  CHECK(ints("1e3", DType::i16, {1}) == Ints{1000});
  Result<Tensor> floats = make("[inf -inf nan 0.1]", DType::f64, {4});
  CHECK(floats->as_double(0) == std::numeric_limits<double>::infinity());
  CHECK(floats->as_double(1) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(floats->as_double(2)));
  CHECK(floats->as_double(3) == 0.1);
  CHECK(make("[\"a b\" 'c' d]", DType::str, {3})->strings() == std::vector<std::string>{"a b", "c", "d"});
  CHECK(parse_value_spec("[[1 2 3][4 5 6]]")->extents == Extents{2, 3});
}

TEST_CASE("what cannot be meant is a usage error") {
  for (const char* text : {"", "[1 2", "[[1 2][3]]", "[1 [2]]", "[[1] 2]", "[[] 1]", "[1]]", "uniform(1,1)", "uniform(0)", "uniform(0,inf)", "uniform(-1e308,1e308)",
                           "normal(0,-1)", "randint(3,3)", "randint(0.5,2)", "mask(2)", "mask()", "const(1,2)", "unifrom(0,1)", "[\"a]"}) {
    CAPTURE(text);
    Result<ValueSpec> spec = parse_value_spec(text);
    REQUIRE_FALSE(spec.has_value());
    CHECK(spec.error().kind == ErrorKind::usage);
  }
  CHECK_FALSE(parse_value_spec(std::string(100000, '[')).has_value());
  for (const auto& [written, dtype] : {std::pair{"[1 2 3]", DType::f32}, {"[[1][2]]", DType::f32}, {"300", DType::u8}, {"-1", DType::u64}, {"1.5", DType::i64}, {"2", DType::boolean},
                             {"9", DType::i4}, {"abc", DType::f32}, {"''", DType::u64}, {"randint(0,300)", DType::i8}, {"uniform(-1,1)", DType::u8}, {"1e30", DType::i64}}) {
    std::string text = written;
    CAPTURE(text);
    Result<Tensor> tensor = make(text, dtype, {2});
    REQUIRE_FALSE(tensor.has_value());
    CHECK(tensor.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("upper bounds are excluded, in narrow types too") {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2}) {
    CAPTURE(name(dtype));
    Result<Tensor> tensor = make("uniform(0,1)", dtype, {20000});
    double sum = 0, greatest = 0;
    for (std::int64_t i = 0; i < tensor->count(); ++i) {
      sum += tensor->as_double(i);
      greatest = std::max(greatest, tensor->as_double(i));
    }
    CHECK(greatest < 1);
    CHECK(sum / 20000 > 0.42);
    CHECK(sum / 20000 < 0.51);
  }
  for (std::int64_t v : ints("uniform(-3,4)", DType::i8, {5000})) CHECK((v >= -3 && v < 4));
  for (std::int64_t v : ints("randint(-8,8)", DType::i4, {500})) CHECK((v >= -8 && v < 8));
  for (std::int64_t v : ints("index", DType::u8, {500}, {0, "ids", 1000000})) CHECK((v >= 0 && v < 255));
}

TEST_CASE("each element depends on seed, name and place alone") {
  Ints few = ints("randint(0,1000)", DType::i64, {3}, {1, "a"});
  Ints many = ints("randint(0,1000)", DType::i64, {2, 3}, {1, "a"});
  many.resize(3);
  CHECK(few == many);
  CHECK(ints("randint(0,1000)", DType::i64, {3}, {1, "b"}) != few);
  CHECK(ints("randint(0,1000)", DType::i64, {3}, {2, "a"}) != few);
}

TEST_CASE("specs survive their text form") {
  for (const char* text : {"zeros", "ones", "iota", "index", "const(3)", "uniform(0,0.1)", "normal(-1,2)", "randint(-5,7)", "mask(0.5)", "[[1 2][3 4]]", "[\"a\\nb\" 'c\\'d']", "[]"}) {
    CAPTURE(text);
    ValueSpec spec = *parse_value_spec(text);
    std::string printed = to_string(spec);
    ValueSpec again = *parse_value_spec(printed);
    CHECK(to_string(again) == printed);
    CHECK(again.kind == spec.kind);
    CHECK(again.elements == spec.elements);
    CHECK(again.extents == spec.extents);
    CHECK(again.fills == spec.fills);
  }
}
