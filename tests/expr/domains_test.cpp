// Single elements on demand, in three domains.
#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

constexpr std::uint64_t prime = PrimeField::prime;

// A pseudo-random value for each element of each float input.
std::uint64_t element_value(int tensor, std::span<const std::int64_t> at) {
  std::uint64_t state = static_cast<std::uint64_t>(tensor) + 1;
  for (std::int64_t index : at) state = (state * 1000003 + static_cast<std::uint64_t>(index) + 7) * 0x9e3779b97f4a7c15;
  return (state >> 3) % prime;
}

std::uint64_t in_field(const Program& program, const std::vector<std::int64_t>& at, std::size_t output = 0) {
  return evaluate_element<PrimeField>(program, output, at, element_value);
}
std::uint64_t as_term(const Program& program, const std::vector<std::int64_t>& at, std::size_t output = 0) {
  return evaluate_element<Uninterpreted>(program, output, at, element_value);
}

std::uint64_t multiplied(std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;  // by doubling, unlike the code under test
  for (; b != 0; b >>= 1, a = a * 2 % prime) {
    if (b & 1) out = (out + a) % prime;
  }
  return out;
}

Program scalar_program(const std::function<Expr(Expr, Expr, Expr)>& f, DType result = DType::f32) {
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {3});
  p.output(p.define(result, {}, [&](const Indices&) { return f(x({index(0)}), x({index(1)}), x({index(2)})); }));
  return std::move(p).finish();
}

TEST_CASE("the field does arithmetic modulo 2^61 - 1") {
  auto x = [](std::int64_t i) { return element_value(0, std::vector{i}); };
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return a + b; }), {}) == (x(0) + x(1)) % prime);
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return a - b; }), {}) == (x(0) + prime - x(1)) % prime);
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return a * b; }), {}) == multiplied(x(0), x(1)));
  CHECK(in_field(scalar_program([](Expr a, Expr, Expr) { return -a; }), {}) == prime - x(0));
  std::uint64_t quotient = in_field(scalar_program([](Expr a, Expr b, Expr) { return a / b; }), {});
  CHECK(multiplied(quotient, x(1)) == x(0));
  CHECK(in_field(scalar_program([](Expr a, Expr, Expr) { return a * unary(Op::reciprocal, a); }), {}) == 1);
  CHECK(in_field(scalar_program([](Expr a, Expr, Expr) { return binary(Op::pow, a, constant(DType::f32, 3)); }), {}) ==
        multiplied(x(0), multiplied(x(0), x(0))));
}

TEST_CASE("numbers are fractions in the field") {
  CHECK(in_prime_field(0) == 0);
  CHECK(in_prime_field(-1) == prime - 1);
  CHECK(in_prime_field(6) == 6);
  CHECK(multiplied(in_prime_field(0.5), 2) == 1);
  CHECK(multiplied(in_prime_field(0.1), std::uint64_t{1} << 55) == 3602879701896397);  // 0.1 is 3602879701896397 / 2^55
  CHECK(in_prime_field(0x1p61) == 1);
  CHECK(in_prime_field(0x1p-61) == 1);
  CHECK(in_field(scalar_program([](Expr a, Expr, Expr) { return a * constant(DType::f32, 0.5) + a * constant(DType::f32, 0.5) - a; }), {}) == 0);
  // 1 / 3 * 3 is exact, not rounded.
  CHECK(in_field(scalar_program([](Expr, Expr, Expr) { return constant(DType::f32, 1) / constant(DType::f32, 3) * constant(DType::f32, 3); }), {}) ==
        1);
}

TEST_CASE("rearranged sums of products are equal in the field, not as terms") {
  Program left = scalar_program([](Expr a, Expr b, Expr c) { return (a + b) * c; });
  Program right = scalar_program([](Expr a, Expr b, Expr c) { return c * b + a * c; });
  Program wrong = scalar_program([](Expr a, Expr b, Expr c) { return c * b + a; });
  CHECK(in_field(left, {}) == in_field(right, {}));
  CHECK(in_field(left, {}) != in_field(wrong, {}));
  CHECK(as_term(left, {}) != as_term(right, {}));
  CHECK(as_term(left, {}) == as_term(scalar_program([](Expr a, Expr b, Expr c) { return (a + b) * c; }), {}));
}

TEST_CASE("other functions are themselves, of equal operands") {
  auto e = [](Expr a) { return unary(Op::exp, a); };
  CHECK(in_field(scalar_program([&](Expr a, Expr b, Expr) { return e(a + b); }), {}) ==
        in_field(scalar_program([&](Expr a, Expr b, Expr) { return e(b + a); }), {}));
  CHECK(in_field(scalar_program([&](Expr a, Expr, Expr) { return e(a); }), {}) !=
        in_field(scalar_program([&](Expr a, Expr, Expr) { return unary(Op::tanh, a); }), {}));
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return maximum(a, b); }), {}) ==
        in_field(scalar_program([](Expr a, Expr b, Expr) { return maximum(b, a); }), {}));
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return maximum(a, b); }), {}) !=
        in_field(scalar_program([](Expr a, Expr b, Expr) { return minimum(a, b); }), {}));
  auto narrow = [](Expr a) { return cast(DType::f32, cast(DType::f16, a)); };
  CHECK(in_field(scalar_program([&](Expr a, Expr, Expr) { return narrow(a); }), {}) !=
        in_field(scalar_program([](Expr a, Expr, Expr) { return a; }), {}));
  auto wide = [](Expr a) { return cast(DType::f64, a) + constant(DType::f64, 0); };
  CHECK(in_field(scalar_program([&](Expr a, Expr, Expr) { return wide(a); }, DType::f64), {}) ==
        in_field(scalar_program([](Expr a, Expr, Expr) { return a; }), {}));
}

TEST_CASE("conditions on floats are terms, on indices they are decided") {
  auto chosen = [](bool swapped) {
    return scalar_program([swapped](Expr a, Expr b, Expr c) { return swapped ? select(less(b, a), c, b) : select(less(a, b), c, b); });
  };
  CHECK(in_field(chosen(false), {}) == in_field(chosen(false), {}));
  CHECK(in_field(chosen(false), {}) != in_field(chosen(true), {}));
  // The same side twice needs no condition.
  CHECK(in_field(scalar_program([](Expr a, Expr b, Expr) { return select(less(a, b), a + b, b + a); }), {}) ==
        in_field(scalar_program([](Expr a, Expr b, Expr) { return a + b; }), {}));
  Program masked = map_program(DType::f32, {4}, DType::f32, {4},
                               [](const TensorRef& x, const Indices& at) { return select(less(at[0], index(2)), x(at), constant(DType::f32, 0)); });
  CHECK(in_field(masked, {1}) == element_value(0, std::vector<std::int64_t>{1}));
  CHECK(in_field(masked, {2}) == 0);
}

// A convolution with its padding, and the same as nine shifted products that are added up (einnet-pet.md 1.8).
TEST_CASE("a 3x3 convolution is a sum of shifted 1x1 convolutions") {
  auto direct = [] {
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {2, 4, 5, 5}), w = p.input(DType::f32, {3, 4, 3, 3});
    p.output(p.define(DType::f32, {2, 3, 5, 5}, [&](const Indices& at) {
      return p.reduce(Op::sum, Shape{4, 3, 3}, [&](const Indices& k) {
        return x({at[0], k[0], at[2] + k[1] - index(1), at[3] + k[2] - index(1)}) * w({at[1], k[0], k[1], k[2]});
      });
    }));
    return std::move(p).finish();
  }();
  auto offset_reduce = [](std::int64_t shift) {
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {2, 4, 5, 5}), w = p.input(DType::f32, {3, 4, 3, 3});
    TensorRef taps = p.define(DType::f32, {2, 3, 3, 3, 5, 5}, [&](const Indices& at) {
      return p.sum(4, [&](Expr c) { return x({at[0], c, at[4], at[5]}) * w({at[1], c, at[2], at[3]}); });
    });
    p.output(p.define(DType::f32, {2, 3, 5, 5}, [&](const Indices& at) {
      return p.reduce(Op::sum, Shape{3, 3}, [&](const Indices& k) {
        return taps({at[0], at[1], k[0], k[1], at[2] + k[0] - index(shift), at[3] + k[1] - index(1)});
      });
    }));
    return std::move(p).finish();
  };
  Program right = offset_reduce(1), wrong = offset_reduce(0);
  for (const std::vector<std::int64_t>& at : {std::vector<std::int64_t>{0, 0, 0, 0}, {1, 2, 4, 4}, {1, 1, 2, 3}, {0, 2, 0, 4}}) {
    CHECK(in_field(direct, at) == in_field(right, at));
    CHECK(in_field(direct, at) != in_field(wrong, at));
  }
}

TEST_CASE("reductions in the field: products, and extremes that ignore the order") {
  auto reduced = [](Op op, bool backwards) {
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {6});
    p.output(p.define(DType::f32, {}, [&](const Indices&) { return p.reduce(op, 6, [&](Expr k) { return x({backwards ? index(5) - k : k}); }); }));
    return std::move(p).finish();
  };
  for (Op op : {Op::sum, Op::prod, Op::max, Op::min}) {
    CHECK(in_field(reduced(op, false), {}) == in_field(reduced(op, true), {}));
    CHECK(as_term(reduced(op, false), {}) != as_term(reduced(op, true), {}));
  }
  CHECK(in_field(reduced(Op::max, false), {}) != in_field(reduced(Op::min, false), {}));
}

TEST_CASE("an integer input is a number and may be an index") {
  ProgramBuilder p;
  TensorRef data = p.input(DType::f32, {5}), at_element = p.input(DType::i64, {3});
  p.output(p.define(DType::f32, {3}, [&](const Indices& at) { return data({at_element(at) + index(1)}); }));
  p.output(p.define(DType::i64, {3}, [&](const Indices& at) { return at_element(at) * index(3); }));
  Program program = std::move(p).finish();
  auto input = [](int tensor, std::span<const std::int64_t> at) {
    return tensor == 0 ? element_value(0, at) : static_cast<std::uint64_t>(at[0] * 2 - 1);
  };
  auto field = elements<PrimeField>(program, input);
  CHECK(field(0, std::vector<std::int64_t>{1}) == element_value(0, std::vector<std::int64_t>{2}));
  CHECK(field(0, std::vector<std::int64_t>{2}) == element_value(0, std::vector<std::int64_t>{4}));
  CHECK(static_cast<std::int64_t>(field(1, std::vector<std::int64_t>{0})) == -3);
  CHECK(static_cast<std::int64_t>(elements<Uninterpreted>(program, input)(1, std::vector<std::int64_t>{2})) == 9);
}

TEST_CASE("a read at an index that depends on a float is a term of the tensor that is read") {
  auto gathered = [](double scale) {
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {4}), at = p.input(DType::f32, {4});
    TensorRef scaled = p.define(DType::f32, {4}, [&](const Indices& i) { return x(i) * constant(DType::f32, scale); });
    p.output(p.define(DType::f32, {4}, [&](const Indices& i) { return scaled({cast(DType::i64, at(i))}); }));
    return std::move(p).finish();
  };
  CHECK(in_field(gathered(2), {1}) == in_field(gathered(2), {1}));
  CHECK(in_field(gathered(2), {1}) != in_field(gathered(3), {1}));
  CHECK(in_field(gathered(2), {1}) != in_field(gathered(2), {2}));
}

TEST_CASE("floats computed from indices alone are numbers where an index needs one") {
  // Nearest neighbour by a scale of 1.5: floor(i / 1.5)
  Program program = map_program(DType::f32, {4}, DType::f32, {6}, [](const TensorRef& x, const Indices& at) {
    return x({cast(DType::i64, unary(Op::floor, cast(DType::f32, at[0]) / constant(DType::f32, 1.5)))});
  });
  for (std::int64_t i = 0; i < 6; ++i) CHECK(in_field(program, {i}) == element_value(0, std::vector<std::int64_t>{i * 2 / 3}));
  for (std::int64_t i = 0; i < 6; ++i) CHECK(as_term(program, {i}) == element_value(0, std::vector<std::int64_t>{i * 2 / 3}));
}

TEST_CASE("elements of definitions are computed once") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {8});
  TensorRef total = p.define(DType::f32, {}, [&](const Indices&) { return p.sum(8, [&](Expr k) { return x({k}); }); });
  p.output(p.define(DType::f32, {8}, [&](const Indices& at) { return x(at) / total({}); }));
  Program program = std::move(p).finish();
  int reads = 0;
  auto softmaxed = elements<Typed>(program, [&reads](int, std::span<const std::int64_t> at) {
    ++reads;
    return Number{static_cast<double>(at[0] + 1), 0};
  });
  for (std::int64_t i = 0; i < 8; ++i)
    CHECK(softmaxed(0, std::vector{i}).real == static_cast<double>(static_cast<float>(static_cast<double>(i + 1) / 36)));
  CHECK(reads == 16);
  CHECK(softmaxed(0, std::vector<std::int64_t>{8}).real == 0);  // outside the extents
}

}  // namespace
}  // namespace infini::expr
