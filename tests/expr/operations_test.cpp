// What single operations do, on whole tensors. Numbers are NumPy 2's and ml_dtypes' unless said otherwise.
#include <cmath>

#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

// Each test runs on few elements and, with these repeated, on many lanes.
std::vector<double> repeated(const std::vector<double>& values, std::size_t times) {
  std::vector<double> out;
  for (std::size_t i = 0; i < times; ++i) out.insert(out.end(), values.begin(), values.end());
  return out;
}

void check_same(const std::vector<double>& got, const std::vector<double>& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element ", i, ": ", got[i], ", expected ", wanted[i]);
    bool same = std::isnan(wanted[i]) ? std::isnan(got[i]) : got[i] == wanted[i] && std::signbit(got[i]) == std::signbit(wanted[i]);
    CHECK(same);
  }
}

using BinaryFunction = std::function<Expr(Expr, Expr)>;

void check_binary(DType dtype, DType result, const BinaryFunction& f, const std::vector<double>& a, const std::vector<double>& b,
                  const std::vector<double>& wanted) {
  for (std::size_t times : {std::size_t{1}, std::size_t{40}}) {
    auto n = static_cast<std::int64_t>(a.size() * times);
    ProgramBuilder p;
    TensorRef x = p.input(dtype, {n}), y = p.input(dtype, {n});
    p.output(p.define(result, {n}, [&](const Indices& at) { return f(x(at), y(at)); }));
    Program program = std::move(p).finish();
    check_same(reals(run_one(program, {tensor(dtype, {n}, repeated(a, times)), tensor(dtype, {n}, repeated(b, times))})), repeated(wanted, times));
  }
}

void check_binary(DType dtype, Op op, const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& wanted) {
  bool compares = op == Op::eq || op == Op::lt || op == Op::le;
  check_binary(
      dtype, compares ? DType::boolean : dtype, [op](Expr x, Expr y) { return binary(op, x, y); }, a, b, wanted);
}

void check_unary(DType dtype, DType result, const std::function<Expr(Expr)>& f, const std::vector<double>& a, const std::vector<double>& wanted) {
  check_binary(
      dtype, result, [&f](Expr x, Expr) { return f(x); }, a, a, wanted);
}

TEST_CASE("narrow floats round after every operation") {
  auto f = [](Expr x, Expr y) { return (x * y + x) / y; };
  check_binary(DType::f16, DType::f16, f, {0.0036907196044921875, 0.89599609375, -0.822265625, -2.671875, -1.3642578125, -2.974609375},
               {0.180419921875, 4.01953125, -1.4765625, -1.861328125, 1.4697265625, 1.0703125},
               {0.024139404296875, 1.1181640625, -0.26513671875, -1.236328125, -2.29296875, -5.75});
  check_binary(DType::bf16, DType::bf16, f, {0.31640625, -2.796875, -0.087890625, 2.078125, -4.03125, -1.375},
               {-5.71875, -3.875, -5.53125, -0.70703125, -3.796875, 0.8125}, {0.26171875, -2.0625, -0.072265625, -0.86328125, -2.96875, -3.078125});
}

TEST_CASE("integers divide by floor or by truncation, and by zero to zero") {
  std::vector<double> a = {7, -7, 7, -7, -8, 127, 5}, b = {2, 2, -2, -2, 3, -1, 0};
  for (DType dtype : {DType::i8, DType::i32, DType::i64}) {
    check_binary(dtype, Op::floor_div, a, b, {3, -4, -4, 3, -3, -127, 0});
    check_binary(dtype, Op::floor_mod, a, b, {1, 1, -1, -1, 1, 0, 0});
    check_binary(dtype, Op::div, a, b, {3, -3, -3, 3, -2, -127, 0});
    check_binary(dtype, Op::fmod, a, b, {1, -1, 1, -1, -2, 0, 0});
  }
  // By the rule of wrapping around: 128 in i8.
  check_binary(DType::i8, Op::div, {-128, -128}, {-1, 1}, {-128, -128});
}

TEST_CASE("the most negative i64 divided by -1 wraps around") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {1}), y = p.input(DType::i64, {1});
  for (Op op : {Op::div, Op::floor_div, Op::floor_mod, Op::fmod}) {
    p.output(p.define(DType::i64, {1}, [&](const Indices& at) { return binary(op, x(at), y(at)); }));
  }
  std::vector<Tensor> out = run_all(std::move(p).finish(), {Tensor::vector_i64({INT64_MIN}), Tensor::vector_i64({-1})});
  CHECK(out[0].to_ints() == std::vector<std::int64_t>{INT64_MIN});
  CHECK(out[1].to_ints() == std::vector<std::int64_t>{INT64_MIN});
  CHECK(out[2].to_ints() == std::vector<std::int64_t>{0});
  CHECK(out[3].to_ints() == std::vector<std::int64_t>{0});
}

TEST_CASE("floats divide by floor as Python does") {
  std::vector<double> a = {5.5, -5.5, 5.5, -5.5, 1, 0, -0.3}, b = {2, 2, -2, -2, 0, 3, 1e-3};
  check_binary(DType::f32, Op::floor_div, a, b, {2, -3, -3, 2, INFINITY, 0, -300});
  check_binary(DType::f32, Op::floor_mod, a, b, {1.5, 0.5, -0.5, -1.5, NAN, 0, 2.3283064365386963e-09});
  check_binary(DType::f32, Op::fmod, a, b, {1.5, -1.5, 1.5, -1.5, NAN, 0, -0.0009999977191910148});
}

TEST_CASE("integers wrap around at their width") {
  check_binary(DType::i8, Op::add, {100, -100, 127}, {100, -100, 1}, {-56, 56, -128});
  check_binary(DType::u8, Op::sub, {0, 5, 200}, {1, 5, 100}, {255, 0, 100});
  check_binary(DType::i32, Op::mul, {65536, 46341}, {65536, 46341}, {0, -2147479015});
  check_binary(DType::u4, Op::add, {15, 7}, {1, 7}, {0, 14});
  check_binary(DType::i2, Op::sub, {-2, 1}, {1, 0}, {1, 1});
  check_unary(DType::i8, DType::i8, [](Expr x) { return -x; }, {-128, 3}, {-128, -3});
  check_unary(DType::i8, DType::i8, [](Expr x) { return unary(Op::abs, x); }, {-128, -3}, {-128, 3});
  check_unary(DType::u8, DType::u8, [](Expr x) { return unary(Op::logical_not, x); }, {0, 5}, {255, 250});
  check_unary(DType::i8, DType::i8, [](Expr x) { return unary(Op::sign, x); }, {-128, 0, 9}, {-1, 0, 1});
}

TEST_CASE("powers of integers") {
  check_binary(DType::i32, Op::pow, {2, -3, 7, 0, 2, 1, -1, -1}, {10, 3, 0, 0, -1, -5, -3, -4}, {1024, -27, 1, 1, 0, 1, -1, 1});
  check_binary(DType::u8, Op::pow, {3, 2}, {5, 8}, {243, 0});
}

TEST_CASE("logical operations work on bits, shifts beyond the width give 0") {
  check_binary(DType::u8, Op::logical_and, {12, 255}, {10, 15}, {8, 15});
  check_binary(DType::i32, Op::logical_or, {12, -1}, {10, 15}, {14, -1});
  check_binary(DType::u8, Op::logical_xor, {12, 255}, {10, 15}, {6, 240});
  check_binary(DType::boolean, Op::logical_xor, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0});
  check_binary(DType::u8, Op::shift_left, {3, 255, 1, 1}, {1, 4, 8, 200}, {6, 240, 0, 0});
  check_binary(DType::u8, Op::shift_right, {200, 255, 255}, {3, 7, 8}, {25, 1, 0});
  check_binary(DType::i8, Op::shift_right, {-128, 64}, {3, -1}, {-16, 0});
}

TEST_CASE("u64 is compared, divided and converted as unsigned") {
  std::int64_t large = -1, half = INT64_MIN;  // 2^64 - 1 and 2^63
  for (std::size_t times : {std::size_t{1}, std::size_t{30}}) {
    std::vector<std::int64_t> x, y;
    for (std::size_t i = 0; i < times; ++i) {
      x.insert(x.end(), {large, half, 5});
      y.insert(y.end(), {3, 10, half});
    }
    auto n = static_cast<std::int64_t>(x.size());
    ProgramBuilder p;
    TensorRef a = p.input(DType::u64, {n}), b = p.input(DType::u64, {n});
    for (Op op : {Op::div, Op::floor_mod, Op::maximum, Op::shift_right})
      p.output(p.define(DType::u64, {n}, [&](const Indices& at) { return binary(op, a(at), b(at)); }));
    p.output(p.define(DType::boolean, {n}, [&](const Indices& at) { return less(a(at), b(at)); }));
    p.output(p.define(DType::f32, {n}, [&](const Indices& at) { return cast(DType::f32, a(at)); }));
    p.output(p.define(DType::u64, {n}, [&](const Indices& at) { return cast(DType::u64, cast(DType::f64, a(at))); }));
    p.output(p.define(DType::u64, {}, [&](const Indices&) { return p.reduce(Op::max, n, [&](Expr k) { return a({k}); }); }));
    std::vector<Tensor> out = run_all(std::move(p).finish(), {integers(DType::u64, {n}, x), integers(DType::u64, {n}, y)});
    for (std::size_t i = 0; i < x.size(); i += 3) {
      auto bits = [&](std::size_t tensor, std::size_t element) {
        return static_cast<std::uint64_t>(out[tensor].as_int(static_cast<std::int64_t>(i + element)));
      };
      CHECK(bits(0, 0) == 6148914691236517205u);
      CHECK(bits(0, 1) == 922337203685477580u);
      CHECK(bits(0, 2) == 0);
      CHECK(bits(1, 1) == 8);
      CHECK(bits(1, 2) == 5);
      CHECK(bits(2, 0) == UINT64_MAX);
      CHECK(bits(2, 2) == std::uint64_t{1} << 63);
      CHECK(bits(3, 0) == UINT64_MAX >> 3);
      CHECK(bits(3, 2) == 0);
      CHECK(bits(4, 0) == 0);
      CHECK(bits(4, 2) == 1);
      CHECK(out[5].as_double(static_cast<std::int64_t>(i)) == 1.8446744073709552e+19);
      CHECK(out[5].as_double(static_cast<std::int64_t>(i + 1)) == 9.223372036854776e+18);
      CHECK(bits(6, 0) == UINT64_MAX);  // 2^64 saturates
      CHECK(bits(6, 1) == std::uint64_t{1} << 63);
    }
    CHECK(static_cast<std::uint64_t>(out[7].as_int(0)) == UINT64_MAX);
  }
}

TEST_CASE("casts of integers wrap, casts of floats truncate") {
  auto to = [](DType dtype) { return [dtype](Expr x) { return cast(dtype, x); }; };
  std::vector<double> whole = {300, -1, 128, -129, 65535, 2147483648.0, 3 - 1099511627776.0};
  check_unary(DType::i64, DType::i8, to(DType::i8), whole, {44, -1, -128, 127, -1, 0, 3});
  check_unary(DType::i64, DType::u8, to(DType::u8), whole, {44, 255, 128, 127, 255, 0, 3});
  check_unary(DType::i64, DType::i16, to(DType::i16), whole, {300, -1, 128, -129, -1, 0, 3});
  check_unary(DType::i64, DType::u32, to(DType::u32), whole, {300, 4294967295.0, 128, 4294967167.0, 65535, 2147483648.0, 3});
  check_unary(DType::i64, DType::boolean, to(DType::boolean), whole, {1, 1, 1, 1, 1, 1, 1});
  check_unary(DType::f32, DType::i32, to(DType::i32), {2.5, -2.5, 0.9, -0.9}, {2, -2, 0, 0});
  check_unary(DType::f32, DType::boolean, to(DType::boolean), {0.0, -0.0, 0.1, NAN}, {0, 0, 1, 1});
  check_unary(DType::f64, DType::i64, to(DType::i64), {NAN, 1e30, -1e30}, {0, 9223372036854775807.0, -9223372036854775808.0});
  check_unary(DType::boolean, DType::f16, to(DType::f16), {0, 1}, {0, 1});
}

TEST_CASE("an integer is rounded to a float once") {
  // 2^62 + 2^38 + 1 lies just above half way; f64 in between would round to half way, and then to even.
  std::vector<std::int64_t> x = {(std::int64_t{1} << 53) + 1, (1 << 24) + 1, (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1,
                                 -((std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1)};
  Program program = map_program(DType::i64, {4}, DType::f32, {4}, [](const TensorRef& t, const Indices& at) { return cast(DType::f32, t(at)); });
  check_same(reals(run_one(program, {Tensor::vector_i64(x)})), {9007199254740992.0, 16777216.0, 4.611686568183202e+18, -1.1529216420458004e+18});
}

TEST_CASE("casts to 8-bit floats saturate or not") {
  std::vector<double> x = {0.1, 1.5, 250, 448, 500, 1e5, INFINITY, NAN, -0.0, -3.3};
  auto to = [](DType dtype, bool saturate) { return [dtype, saturate](Expr a) { return cast(dtype, a, {saturate, Rounding::nearest_even}); }; };
  check_unary(DType::f32, DType::f8e4m3fn, to(DType::f8e4m3fn, false), x, {0.1015625, 1.5, 256, 448, NAN, NAN, NAN, NAN, -0.0, -3.25});
  check_unary(DType::f32, DType::f8e5m2, to(DType::f8e5m2, false), x, {0.09375, 1.5, 256, 448, 512, INFINITY, INFINITY, NAN, -0.0, -3.5});
  // ONNX Cast, saturate = 1: the largest value beyond the range.
  check_unary(DType::f32, DType::f8e4m3fn, to(DType::f8e4m3fn, true), x, {0.1015625, 1.5, 256, 448, 448, 448, 448, NAN, -0.0, -3.25});
}

TEST_CASE("NaN goes through minimum and maximum from either side, and is not equal to itself") {
  check_binary(DType::f32, Op::maximum, {NAN, 1, NAN, 1, 2}, {1, NAN, NAN, 2, 1}, {NAN, NAN, NAN, 2, 2});
  check_binary(DType::f16, Op::minimum, {NAN, 1, NAN, 1, 2}, {1, NAN, NAN, 2, 1}, {NAN, NAN, NAN, 1, 1});
  check_binary(DType::f32, Op::eq, {NAN, 1, -0.0}, {NAN, 1, 0.0}, {0, 1, 1});
  check_binary(DType::f32, Op::le, {NAN, 1, 2}, {1, 1, 1}, {0, 1, 0});
  check_unary(DType::f32, DType::boolean, [](Expr x) { return unary(Op::is_nan, x); }, {NAN, INFINITY, 0}, {1, 0, 0});
  check_unary(DType::f32, DType::boolean, [](Expr x) { return unary(Op::is_inf, x); }, {NAN, -INFINITY, 0}, {0, 1, 0});
  check_unary(DType::f32, DType::f32, [](Expr x) { return unary(Op::sign, x); }, {NAN, -INFINITY, 0, 5}, {NAN, -1, 0, 1});
}

TEST_CASE("functions are computed in f64 and rounded once") {
  std::vector<double> x = {-1.5, -0.25, 0.5, 2};
  auto function = [](Op op) { return [op](Expr a) { return unary(op, a); }; };
  check_unary(DType::f32, DType::f32, function(Op::erf), x, {-0.9661051630973816, -0.27632638812065125, 0.5204998850822449, 0.9953222870826721});
  check_unary(DType::f32, DType::f32, function(Op::tanh), x, {-0.9051482677459717, -0.24491865932941437, 0.46211716532707214, 0.9640275835990906});
  check_unary(DType::f32, DType::f32, function(Op::asinh), x, {-1.19476318359375, -0.24746645987033844, 0.4812118113040924, 1.4436354637145996});
  check_unary(DType::f32, DType::f32, function(Op::atan), x, {-0.9827937483787537, -0.244978666305542, 0.46364760398864746, 1.1071487665176392});
  check_unary(DType::f64, DType::f64, function(Op::round_even), {0.5, 1.5, 2.5, -0.5, -1.5, -2.4}, {0, 2, 2, -0.0, -2, -2});
  check_unary(DType::f32, DType::f32, function(Op::reciprocal), {4, 0, -0.0}, {0.25, INFINITY, -INFINITY});
  check_unary(DType::f32, DType::f32, function(Op::trunc), {1.9, -1.9}, {1, -1});
}

// Terms are looked at, not evaluated.
TEST_CASE("integer terms are simplified as they are built") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {4}), f = p.input(DType::f32, {4});
  Expr a = x({index(1)}), b = f({index(1)});
  CHECK((a + index(0)).term() == a.term());
  CHECK((index(0) + a).term() == a.term());
  CHECK((a * index(1)).term() == a.term());
  CHECK((a * index(0)).term()->integer == 0);
  CHECK((a * index(0)).term()->op == Op::literal);
  CHECK(floor_div(a, index(1)).term() == a.term());
  CHECK(floor_mod(a, index(1)).term()->op == Op::literal);
  CHECK((index(7) - index(9)).term()->integer == -2);
  CHECK(binary(Op::div, index(-7), index(2)).term()->integer == -3);
  CHECK((constant_int(DType::i8, 100) + constant_int(DType::i8, 100)).term()->integer == -56);
  CHECK(less(index(1), index(2)).term()->integer == 1);
  CHECK(select(less(index(1), index(2)), a, x({index(2)})).term() == a.term());
  CHECK(both(less(index(1), index(2)), less(a, index(3))).term()->op == Op::lt);
  CHECK(cast(DType::i64, a).term() == a.term());
  CHECK(cast(DType::f32, index(3)).term()->real == 3);
  CHECK(cast(DType::f32, index(16777217)).term()->op == Op::cast);  // not exact: left to the evaluators
  // -0 + 0 is 0, so a float zero is not neutral; and other domains read float literals as they are.
  CHECK((b + constant(DType::f32, 0)).term()->op == Op::add);
  CHECK((constant(DType::f32, 1) / constant(DType::f32, 3)).term()->op == Op::div);
  Dim n = Dim::symbol("n");
  CHECK((index(n) * index(2) + index(1)).term()->dim == n * Dim(2) + Dim(1));
  CHECK((index(n) - index(n)).term()->op == Op::literal);
  CHECK((index(n) + index(INT64_MAX)).term()->op == Op::add);  // a dimension would saturate
}

TEST_CASE("a chain of a million terms is built, copied, bound and dropped") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i32, {1});
  p.output(p.define(DType::i32, {1}, [&](const Indices& at) {
    Expr sum = x(at);
    for (int i = 0; i < 1'000'000; ++i) sum = sum + x(at);
    return sum;
  }));
  Program program = substitute(std::move(p).finish(), {});
  CHECK(program.definitions[0].body->op == Op::add);
}

TEST_CASE("a doubling of 60 levels is run in 60 steps") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {2});
  p.output(p.define(DType::i64, {2}, [&](const Indices& at) {
    Expr sum = x(at);
    for (int i = 0; i < 60; ++i) sum = sum + sum;
    return sum;
  }));
  Program program = std::move(p).finish();
  CHECK(run_one(program, {Tensor::vector_i64({1, 3})}).to_ints() == std::vector<std::int64_t>{std::int64_t{1} << 60, std::int64_t{3} << 60});
  CHECK(to_string(program).size() < 20000);
}

}  // namespace
}  // namespace infini::expr
