#include "libcore/tensor/compare.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace infini;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor doubles(const std::vector<double>& values) { return Tensor::of(DType::f64, {static_cast<std::int64_t>(values.size())}, values); }

struct Figures {
  DType dtype;
  std::int64_t mismatches;
  double max_absolute, max_relative, relative_l2, cosine;
};

}  // namespace

// compare_oracle.py computes the same with NumPy.
TEST_CASE("counts and errors are NumPy's") {
  for (const Figures& f : {Figures{DType::f32, 6460, 0.04800009727478027, 0.33599998790025765, 0.006723103246569827, 0.9999774011159172},
                           Figures{DType::f64, 6464, 0.04800000000000004, 0.336, 0.006723103707678967, 0.99997740111282},
                           Figures{DType::f16, 6475, 0.048828125, 0.33589743589743587, 0.006717701367718568, 0.9999774374061798}}) {
    CAPTURE(name(f.dtype));
    Result<TensorWriter> a = TensorWriter::make(f.dtype, {10007});
    Result<TensorWriter> b = TensorWriter::make(f.dtype, {10007});
    for (std::int64_t i = 0; i < 10007; ++i) {
      b->set_double(i, static_cast<double>(i * 37 % 101 - 50) / 7);
      a->set_double(i, b->tensor().as_double(i) + static_cast<double>(i * 53 % 97 - 48) * 1e-3);
    }
    Comparison c = compare(a->tensor(), b->tensor(), {.relative = 0.002, .absolute = 0.01});
    CHECK_FALSE(c.equal);
    CHECK(c.count == 10007);
    CHECK(c.mismatches == f.mismatches);
    CHECK(c.worst.at == Extents{4257});
    CHECK(c.max_absolute == f.max_absolute);
    CHECK(c.max_relative == doctest::Approx(f.max_relative).epsilon(1e-12));
    CHECK(c.relative_l2 == doctest::Approx(f.relative_l2).epsilon(1e-12));
    CHECK(c.cosine == doctest::Approx(f.cosine).epsilon(1e-12));
    Comparison wide = compare(a->tensor(), b->tensor(), {.relative = 0, .absolute = f.max_absolute});
    CHECK(wide.equal);
    CHECK(wide.mismatches == 0);
    CHECK(wide.relative_l2 == c.relative_l2);
    CHECK_FALSE(compare(a->tensor(), b->tensor(), {.relative = 0, .absolute = std::nextafter(f.max_absolute, 0.0)}).equal);
  }
}

TEST_CASE("one wrong element among many is found, wherever it is") {
  for (std::int64_t at : {0, 1, 2047, 2048, 2055, 4999}) {
    Result<TensorWriter> a = TensorWriter::make(DType::f32, {2, 2500});
    Result<TensorWriter> b = TensorWriter::make(DType::f32, {2, 2500});
    for (std::int64_t i = 0; i < 5000; ++i) {
      a->set_double(i, 1);
      b->set_double(i, 1);
    }
    a->set_double(at, 1.5);
    Comparison c = compare(a->tensor(), b->tensor());
    CHECK(c.mismatches == 1);
    CHECK(c.worst.at == Extents{at / 2500, at % 2500});
    CHECK(c.reason == "1 of 5000 elements differ; worst at " + to_string(c.worst.at) + ": 1.5, expected 1");
  }
}

TEST_CASE("NaN is NaN, infinities are themselves, and nothing else is") {
  CHECK(compare(doubles({not_a_number, infinity, -infinity, 1}), doubles({not_a_number, infinity, -infinity, 1})).equal);
  for (auto [a, b] : {std::pair{1.0, not_a_number}, {not_a_number, 1.0}, {infinity, -infinity}, {infinity, 1e308}, {1.0, infinity}, {not_a_number, infinity}}) {
    Comparison c = compare(doubles({0, a}), doubles({0, b}), {.relative = 1e30, .absolute = 1e30});
    CHECK_FALSE(c.equal);
    CHECK(c.worst.at == Extents{1});
    CHECK(c.max_absolute == infinity);
    CHECK(c.relative_l2 == infinity);
  }
  CHECK(compare(doubles({-0.0}), doubles({0.0}), {0, 0}).equal);
}

TEST_CASE("norms hold where squares leave the range of double") {
  Comparison huge = compare(doubles({3e200, 4.5e200}), doubles({3e200, 4e200}));
  CHECK(huge.relative_l2 == doctest::Approx(0.1));
  Comparison tiny = compare(doubles({3e-300, 4.5e-300}), doubles({3e-300, 4e-300}), {.relative = 1e-3, .absolute = 0});
  CHECK(tiny.relative_l2 == doctest::Approx(0.1));
  CHECK(tiny.mismatches == 1);
  Comparison zero = compare(doubles({0, 1}), doubles({0, 0}));
  CHECK(zero.relative_l2 == infinity);
  CHECK(zero.max_relative == 0);
  CHECK(zero.cosine == 0);
  CHECK(compare(doubles({0}), doubles({0})).cosine == 1);
}

TEST_CASE("integers are subtracted exactly, bools and strings are exact") {
  auto longs = [](std::vector<std::int64_t> values) { return Tensor::vector_i64(values); };
  std::int64_t big = std::int64_t{1} << 60;
  CHECK_FALSE(compare(longs({big}), longs({big + 1}), {0, 0}).equal);
  CHECK(compare(longs({big}), longs({big + 1}), {0, 1}).equal);
  CHECK_FALSE(compare(longs({INT64_MIN}), longs({INT64_MAX})).equal);
  Tensor a = Tensor::of<std::uint64_t>(DType::u64, {1}, {UINT64_MAX});
  Tensor b = Tensor::of<std::uint64_t>(DType::u64, {1}, {1});
  Comparison c = compare(a, b);
  CHECK(c.worst.actual == "18446744073709551615");
  CHECK(c.max_absolute == 0x1p64);
  Tensor yes = Tensor::of<std::uint8_t>(DType::boolean, {2}, {1, 1});
  Tensor no = Tensor::of<std::uint8_t>(DType::boolean, {2}, {1, 0});
  CHECK_FALSE(compare(yes, no, {10, 10}).equal);
  Comparison words = compare(Tensor::of_strings({2}, {"a", "b"}), Tensor::of_strings({2}, {"a", "c"}), {10, 10});
  CHECK(words.reason == "1 of 2 elements differ; worst at [1]: \"b\", expected \"c\"");
  Tensor x = Tensor::of<float>(DType::c64, {1}, {3, 4});
  Tensor y = Tensor::of<float>(DType::c64, {1}, {3, 4.5F});
  CHECK_FALSE(compare(x, y).equal);
  CHECK(compare(x, y, {0, 0.5}).equal);
  CHECK(compare(x, y).worst.expected == "(3,4.5)");
}

TEST_CASE("types and shapes must be the same, also where nothing is in them") {
  CHECK(compare(doubles({1}), Tensor::of<float>(DType::f32, {1}, {1})).reason == "f64[1], expected f32[1]");
  CHECK(compare(doubles({1, 2}).reshaped({1, 2}), doubles({1, 2})).reason == "f64[1,2], expected f64[2]");
  Tensor empty = *Tensor::zeros(DType::f32, {0, 3});
  CHECK(compare(empty, empty).equal);
  CHECK_FALSE(compare(empty, *Tensor::zeros(DType::f32, {3, 0})).equal);
  CHECK(compare(doubles({5}).reshaped({}), doubles({6}).reshaped({})).reason == "1 of 1 element differs; worst at []: 5, expected 6");
}

TEST_CASE("sequences, optionals and maps are compared item by item") {
  Type element = Type::tensor(DType::f64);
  Value two = Sequence{element, {doubles({1}), doubles({2, 3})}};
  Value other = Sequence{element, {doubles({1}), doubles({2, 4})}};
  CHECK(compare(two, two).equal);
  CHECK(compare(two, two).count == 3);
  CHECK(compare(two, other).reason == "1 of 3 elements differ; worst at item 1 [1]: 3, expected 4");
  CHECK(compare(two, Value(Sequence{element, {doubles({1})}})).reason == "2 items, expected 1");
  CHECK(compare(two, Value(Sequence{element, {doubles({1}), doubles({2})}})).reason == "item 1: f64[2], expected f64[1]");
  Value none = Optional{element, nullptr};
  Value some = Optional{element, std::make_shared<const Value>(doubles({1}))};
  CHECK(compare(none, none).equal);
  CHECK(compare(some, some).equal);
  CHECK(compare(some, none).reason == "a value, expected no value");
  CHECK_FALSE(compare(doubles({1}), some).equal);
  CHECK(compare(Value(Sequence{two.type(), {two}}), Value(Sequence{two.type(), {other}})).worst.item == "0.1");
  Map map{DType::i64, {}, {1, 2}, {doubles({1}), doubles({2})}};
  Map keys = map;
  keys.int_keys = {1, 3};
  CHECK(compare(Value(map), Value(map)).equal);
  CHECK_FALSE(compare(Value(map), Value(keys)).equal);
}
