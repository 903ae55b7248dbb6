#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

std::string printed(DType dtype, const std::function<Expr(const TensorRef&, const TensorRef&, Expr)>& body) {
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {8}), n = p.input(DType::i64, {8});
  p.output(p.define(dtype, {8}, [&](const Indices& at) { return body(x, n, at[0]); }));
  return to_string(std::move(p).finish());
}

TEST_CASE("a matrix product in one line") {
  ProgramBuilder p;
  TensorRef a = p.input(DType::f32, {8, 64}), b = p.input(DType::f32, {64, Dim::symbol("n")});
  p.output(p.define(DType::f32, {8, Dim::symbol("n")}, [&](const Indices& at) {
    return p.sum(64, [&](Expr k) { return a({at[0], k}) * b({k, at[1]}); });
  }));
  CHECK(to_string(std::move(p).finish()) == "t2[i,j] = sum(k < 64) t0[i,k] * t1[k,j]  : f32[8,n]\n");
}

TEST_CASE("reductions that are one share a head, and bind loosest") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {1, 3, 5, 5});
  p.output(p.define(DType::f32, {1, 3, 5, 5}, [&](const Indices& at) {
    Expr total = p.reduce(Op::sum, Shape{3, 3}, [&](const Indices& k) {
      return x({at[0], at[1], at[2] * index(2) + k[0] - index(1), at[3] + k[1]});
    });
    return total / constant(DType::f32, 9) + p.reduce(Op::max, 3, [&](Expr c) { return x({at[0], c, at[2], at[3]}); });
  }));
  CHECK(to_string(std::move(p).finish()) ==
        "t1[i,j,k,l] = (sum(m < 3, n < 3) t0[i,j,k * 2 + m - 1,l + n]) / 9.0 + (max(o < 3) t0[i,o,k,l])  : f32[1,3,5,5]\n");
}

TEST_CASE("parentheses only where they are needed") {
  auto one = constant(DType::f32, 1.5), two = constant(DType::f32, -0.1);
  CHECK(printed(DType::f32, [&](auto& x, auto&, Expr i) { return (x({i}) + one) * two - (x({i}) - one); }) ==
        "t2[i] = (t0[i] + 1.5) * -0.1 - (t0[i] - 1.5)  : f32[8]\n");
  CHECK(printed(DType::i64, [&](auto&, auto& n, Expr i) { return floor_div(n({i}), index(3)) * index(3) + floor_mod(n({i}), index(3) * n({i})); }) ==
        "t2[i] = t1[i] // 3 * 3 + t1[i] % (3 * t1[i])  : i64[8]\n");
  CHECK(printed(DType::f32, [&](auto& x, auto&, Expr i) { return -(x({i}) * one) + -x({i}); }) == "t2[i] = -(t0[i] * 1.5) + -t0[i]  : f32[8]\n");
  CHECK(printed(DType::boolean, [&](auto& x, auto& n, Expr i) {
          return either(both(less_equal(index(0), n({i})), less(n({i}), index(8))), negate(equal(x({i}), one)));
        }) == "t2[i] = 0 <= t1[i] && t1[i] < 8 || !(t0[i] == 1.5)  : bool[8]\n");
}

TEST_CASE("functions, casts, choices and literals") {
  CHECK(printed(DType::f16, [](auto& x, auto& n, Expr i) {
          return select(less(n({i}), index(2)), cast(DType::f16, unary(Op::exp, x({n({i})}))), constant(DType::f16, -INFINITY));
        }) == "t2[i] = select(t1[i] < 2,f16(exp(t0[t1[i]])),-inf)  : f16[8]\n");
  CHECK(printed(DType::f8e4m3fn, [](auto& x, auto&, Expr i) {
          return cast(DType::f8e4m3fn, maximum(x({i}), constant(DType::f32, 2)), {false, Rounding::nearest_even});
        }) == "t2[i] = f8e4m3fn(maximum(t0[i],2.0), unsaturated)  : f8e4m3fn[8]\n");
  Dim n = Dim::symbol("n");
  CHECK(printed(DType::i64, [&](auto&, auto&, Expr i) { return i * index(n + Dim(1)) + index(n); }) == "t2[i] = i * (n+1) + n  : i64[8]\n");
}

TEST_CASE("long shared terms are named") {
  std::string text = printed(DType::f32, [](auto& x, auto&, Expr i) {
    Expr shared = unary(Op::tanh, x({i}) * x({i}) + constant(DType::f32, 0.5));
    return shared * shared;
  });
  CHECK(text == "  let e0 = tanh(t0[i] * t0[i] + 0.5)\nt2[i] = e0 * e0  : f32[8]\n");
}

TEST_CASE("requirements follow") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {4});
  p.output(p.define(DType::i64, {4}, [&](const Indices& at) { return x(at); }));
  p.require(
      {4}, [&](const Indices& at) { return less(x(at), index(9)); }, "an index is 9 or more");
  CHECK(to_string(std::move(p).finish()) == "t1[i] = t0[i]  : i64[4]\nrequire(i < 4) t0[i] < 9  : \"an index is 9 or more\"\n");
}

TEST_CASE("binding dimensions simplifies and lets a program run") {
  Dim n = Dim::symbol("n");
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {n, 2});
  p.output(p.define(DType::f32, {n * Dim(2)}, [&](const Indices& at) { return x(unflatten(at[0], {n, 2})) * cast(DType::f32, index(n)); }));
  p.output(p.define(DType::f32, {}, [&](const Indices&) { return p.sum(n, [&](Expr k) { return x({k, index(1)}); }); }));
  Program open = std::move(p).finish();
  CHECK(!run(open, std::vector{random_tensor(DType::f32, {3, 2}, 1)}).has_value());
  Program bound = substitute(open, {{"n", 3}});
  CHECK(to_string(bound) == "t1[i] = t0[i // 2,i % 2] * 3.0  : f32[6]\nt2[] = sum(i < 3) t0[i,1]  : f32[]\n");
  std::vector<Tensor> out = run_all(bound, {tensor(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6})});
  CHECK(reals(out[0]) == std::vector<double>{3, 6, 9, 12, 15, 18});
  CHECK(reals(out[1]) == std::vector<double>{12});
}

}  // namespace
}  // namespace infini::expr
