// Whole-tensor evaluation against loops written out by hand.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

TEST_CASE("a sum of products over a shared axis is a matrix product") {
  for (auto [m, k, n] : {std::array<std::int64_t, 3>{3, 5, 2}, {7, 300, 65}, {2, 33, 600}, {1, 1, 1}}) {
    ProgramBuilder p;
    TensorRef a = p.input(DType::f32, {m, k}), b = p.input(DType::f32, {k, n});
    Dim depth(k);
    p.output(p.define(DType::f32, {m, n}, [&](const Indices& at) { return p.sum(depth, [&](Expr l) { return a({at[0], l}) * b({l, at[1]}); }); }));
    Tensor x = random_tensor(DType::f32, {m, k}, 1), y = random_tensor(DType::f32, {k, n}, 2);
    Tensor z = run_one(std::move(p).finish(), {x, y});
    CHECK(z.extents() == Extents{m, n});
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += static_cast<double>(x.data<float>()[i * k + l] * y.data<float>()[l * n + j]);
        REQUIRE(z.data<float>()[i * n + j] == static_cast<float>(sum));
      }
    }
  }
}

TEST_CASE("a convolution reads its padding as zero, with stride and dilation") {
  for (std::int64_t size : {5, 9, 64}) {
    std::int64_t channels = 3, filters = 4, taps = 3, stride = 2, dilation = 2, pad = 3;
    std::int64_t out = (size + 2 * pad - dilation * (taps - 1) - 1) / stride + 1;
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {2, channels, size, size}), w = p.input(DType::f32, {filters, channels, taps, taps});
    p.output(p.define(DType::f32, {2, filters, out, out}, [&](const Indices& at) {
      return p.reduce(Op::sum, Shape{channels, taps, taps}, [&](const Indices& k) {
        Expr h = at[2] * index(stride) + k[1] * index(dilation) - index(pad), v = at[3] * index(stride) + k[2] * index(dilation) - index(pad);
        return x({at[0], k[0], h, v}) * w({at[1], k[0], k[1], k[2]});
      });
    }));
    Tensor tx = random_tensor(DType::f32, {2, channels, size, size}, 3), tw = random_tensor(DType::f32, {filters, channels, taps, taps}, 4);
    Tensor y = run_one(std::move(p).finish(), {tx, tw});
    std::int64_t at = 0;
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t f = 0; f < filters; ++f)
        for (std::int64_t i = 0; i < out; ++i)
          for (std::int64_t j = 0; j < out; ++j) {
            double sum = 0;
            for (std::int64_t c = 0; c < channels; ++c)
              for (std::int64_t r = 0; r < taps; ++r)
                for (std::int64_t s = 0; s < taps; ++s) {
                  std::int64_t h = i * stride + r * dilation - pad, v = j * stride + s * dilation - pad;
                  if (h < 0 || h >= size || v < 0 || v >= size) continue;
                  sum += static_cast<double>(tx.data<float>()[((n * channels + c) * size + h) * size + v] *
                                             tw.data<float>()[((f * channels + c) * taps + r) * taps + s]);
                }
            REQUIRE(y.data<float>()[at++] == static_cast<float>(sum));
          }
  }
}

TEST_CASE("softmax in four definitions") {
  for (std::int64_t width : {4, 200}) {
    std::int64_t rows = 3;
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {rows, width});
    Dim extent(width);
    TensorRef top = p.define(DType::f32, {rows, 1}, [&](const Indices& at) {
      return p.reduce(Op::max, extent, [&](Expr k) { return x({at[0], k}); });
    });
    TensorRef e = p.define(DType::f32, {rows, width}, [&](const Indices& at) { return unary(Op::exp, x(at) - top.broadcast(at)); });
    TensorRef sum = p.define(DType::f32, {rows, 1}, [&](const Indices& at) { return p.sum(extent, [&](Expr k) { return e({at[0], k}); }); });
    p.output(p.define(DType::f32, {rows, width}, [&](const Indices& at) { return e(at) / sum.broadcast(at); }));
    Tensor in = random_tensor(DType::f32, {rows, width}, 5);
    Tensor out = run_one(std::move(p).finish(), {in});
    for (std::int64_t i = 0; i < rows; ++i) {
      const float *a = in.data<float>() + i * width, *b = out.data<float>() + i * width;
      float highest = *std::max_element(a, a + width);
      double total = 0;
      for (std::int64_t j = 0; j < width; ++j) total += static_cast<double>(static_cast<float>(std::exp(static_cast<double>(a[j] - highest))));
      for (std::int64_t j = 0; j < width; ++j) {
        auto above = static_cast<float>(std::exp(static_cast<double>(a[j] - highest)));
        REQUIRE(b[j] == above / static_cast<float>(total));
      }
    }
  }
}

// Padding is outside the pool only if it is guarded: a plain read there is 0, not the identity of max.
TEST_CASE("a max-pool guards its padding with the identity") {
  Tensor x = tensor(DType::f32, {4}, {-3, -1, -2, -5});
  auto pool = [](bool guarded) {
    ProgramBuilder p;
    TensorRef in = p.input(DType::f32, {4});
    p.output(p.define(DType::f32, {4}, [&](const Indices& at) {
      return p.reduce(Op::max, 3, [&](Expr k) {
        Expr from = at[0] + k - index(1);
        Expr inside = both(less_equal(index(0), from), less(from, index(4)));
        return guarded ? select(inside, in({from}), constant(DType::f32, -INFINITY)) : in({from});
      });
    }));
    return std::move(p).finish();
  };
  CHECK(reals(run_one(pool(true), {x})) == std::vector<double>{-1, -1, -1, -2});
  CHECK(reals(run_one(pool(false), {x})) == std::vector<double>{0, -1, -1, 0});
}

TEST_CASE("an element may be an index") {
  ProgramBuilder p;
  TensorRef data = p.input(DType::f32, {4, 3}), at_row = p.input(DType::i64, {2, 2});
  p.output(p.define(DType::f32, {2, 2, 3}, [&](const Indices& at) {
    Expr row = at_row({at[0], at[1]});
    return data({select(less(row, index(0)), row + index(4), row), at[2]});
  }));
  p.require(
      {2, 2}, [&](const Indices& at) { return both(less_equal(index(-4), at_row(at)), less(at_row(at), index(4))); }, "row out of range");
  Program program = std::move(p).finish();
  Tensor rows = tensor(DType::f32, {4, 3}, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32});
  Tensor out = run_one(program, {rows, integers(DType::i64, {2, 2}, {3, 0, -1, -3})});
  CHECK(reals(out) == std::vector<double>{30, 31, 32, 0, 1, 2, 30, 31, 32, 10, 11, 12});

  auto failed = run(program, std::vector{rows, integers(DType::i64, {2, 2}, {3, 0, 4, 0})});
  REQUIRE(!failed.has_value());
  CHECK(failed.error().kind == ErrorKind::run_failed);
  CHECK(failed.error().message == "row out of range");
}

TEST_CASE("a running sum by zero extension") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i32, {6});
  p.output(p.define(DType::i32, {6}, [&](const Indices& at) { return p.sum(6, [&](Expr k) { return x({at[0] - k}); }); }));
  CHECK(run_one(std::move(p).finish(), {integers(DType::i32, {6}, {1, 2, 3, 4, 5, 6})}).to_ints() == std::vector<std::int64_t>{1, 3, 6, 10, 15, 21});
}

TEST_CASE("an index may be a value: a causal mask and a range") {
  for (std::int64_t n : {3, 100}) {
    ProgramBuilder p;
    TensorRef x = p.input(DType::f32, {n, n});
    p.output(
        p.define(DType::f32, {n, n}, [&](const Indices& at) { return select(less_equal(at[1], at[0]), x(at), constant(DType::f32, -INFINITY)); }));
    p.output(p.define(DType::f32, {n}, [&](const Indices& at) { return cast(DType::f32, at[0] * index(3) + index(-5)) / constant(DType::f32, 2); }));
    Tensor in = random_tensor(DType::f32, {n, n}, 6);
    std::vector<Tensor> out = run_all(std::move(p).finish(), {in});
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) REQUIRE(out[0].as_double(i * n + j) == (j <= i ? in.as_double(i * n + j) : -INFINITY));
      REQUIRE(out[1].as_double(i) == (3 * static_cast<double>(i) - 5) / 2);
    }
  }
}

TEST_CASE("reductions over nothing give their identities") {
  auto reduced = [](Op op, DType dtype) {
    ProgramBuilder p;
    TensorRef x = p.input(dtype, {2, 0});
    p.output(p.define(dtype, {2}, [&](const Indices& at) { return p.reduce(op, 0, [&](Expr k) { return x({at[0], k}); }); }));
    return run_one(std::move(p).finish(), {*Tensor::zeros(dtype, {2, 0})});
  };
  CHECK(reals(reduced(Op::sum, DType::f32)) == std::vector<double>{0, 0});
  CHECK(reals(reduced(Op::prod, DType::f16)) == std::vector<double>{1, 1});
  CHECK(reals(reduced(Op::max, DType::f32)) == std::vector<double>{-INFINITY, -INFINITY});
  CHECK(reals(reduced(Op::min, DType::bf16)) == std::vector<double>{INFINITY, INFINITY});
  CHECK(reals(reduced(Op::max, DType::f8e4m3fn)) == std::vector<double>{-448, -448});
  CHECK(reduced(Op::max, DType::i8).to_ints() == std::vector<std::int64_t>{-128, -128});
  CHECK(reduced(Op::min, DType::i64).to_ints() == std::vector<std::int64_t>{INT64_MAX, INT64_MAX});
  CHECK(reduced(Op::max, DType::u64).to_ints() == std::vector<std::int64_t>{0, 0});
  CHECK(reduced(Op::min, DType::u64).to_ints() == std::vector<std::int64_t>{-1, -1});
  CHECK(reduced(Op::min, DType::u16).to_ints() == std::vector<std::int64_t>{65535, 65535});
  CHECK(reduced(Op::max, DType::boolean).to_ints() == std::vector<std::int64_t>{0, 0});
  CHECK(reduced(Op::min, DType::boolean).to_ints() == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("max and min give NaN if any operand is NaN") {
  for (Op op : {Op::max, Op::min}) {
    for (std::int64_t rows : {3, 100}) {
      ProgramBuilder p;
      TensorRef x = p.input(DType::f32, {3, rows});
      p.output(p.define(DType::f32, {rows}, [&](const Indices& at) { return p.reduce(op, 3, [&](Expr k) { return x({k, at[0]}); }); }));
      std::vector<double> elements(static_cast<std::size_t>(3 * rows), 1);
      elements[static_cast<std::size_t>(0 * rows + 0)] = NAN;  // first, middle and last of a column
      elements[static_cast<std::size_t>(1 * rows + 1)] = NAN;
      elements[static_cast<std::size_t>(2 * rows + 2)] = NAN;
      std::vector<double> out = reals(run_one(std::move(p).finish(), {tensor(DType::f32, {3, rows}, elements)}));
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::isnan(out[i]) == (i < 3));
    }
  }
}

TEST_CASE("reductions that are one accumulate in f64 and round once") {
  // 2^24 + 1 + 1 in f32: rounding after each step would stay at 2^24.
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {3, 1});
  p.output(p.define(DType::f32, {}, [&](const Indices&) { return p.reduce(Op::sum, Shape{3, 1}, [&](const Indices& k) { return x(k); }); }));
  CHECK(reals(run_one(std::move(p).finish(), {tensor(DType::f32, {3, 1}, {16777216, 1, 1})})) == std::vector<double>{16777218});
}

TEST_CASE("a reduction inside another that is used by itself as well is rounded there") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::f32, {2, 3});
  p.output(p.define(DType::f32, {2}, [&](const Indices& at) {
    Expr inner = p.sum(3, [&](Expr k) { return x({at[0], k}); });
    Expr outer = p.sum(1, [&](Expr) { return inner; });
    return outer * constant(DType::f32, 100) + inner;
  }));
  CHECK(reals(run_one(std::move(p).finish(), {tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6})})) == std::vector<double>{606, 1515});
}

TEST_CASE("what does not depend on a loop is right inside and outside of it") {
  // y[i] = sum_j (x[i] + sum_k x[k] * x[j]) * sum_k x[k]
  ProgramBuilder p;
  TensorRef x = p.input(DType::f64, {3});
  p.output(p.define(DType::f64, {3}, [&](const Indices& at) {
    Expr total = p.sum(3, [&](Expr k) { return x({k}); });
    return p.sum(3, [&](Expr j) { return (x(at) + p.sum(3, [&](Expr k) { return x({k}) * x({j}); })) * total; });
  }));
  // x = 1 2 4: total 7; sum_j (x_i + 7 x_j) * 7 = 21 x_i + 343
  CHECK(reals(run_one(std::move(p).finish(), {tensor(DType::f64, {3}, {1, 2, 4})})) == std::vector<double>{364, 385, 427});
}

TEST_CASE("a reshape reads through quotients and remainders") {
  for (auto [from, to] :
       {std::pair<Extents, Extents>{{4, 6}, {3, 8}}, {{2, 3, 128}, {6, 128}}, {{6, 128}, {2, 384}}, {{5, 60}, {300}}, {{300}, {5, 60}}}) {
    Shape in = to_shape(from), out = to_shape(to);
    Program program =
        map_program(DType::i32, in, DType::i32, out, [&](const TensorRef& x, const Indices& at) { return x(unflatten(flat_index(at, out), in)); });
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(from).value()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i) * 7;
    CHECK(run_one(program, {integers(DType::i32, from, numbers)}).to_ints() == numbers);
  }
}

TEST_CASE("strided, reversed and shifted reads, in range and partly out of it") {
  std::int64_t n = 150;
  Tensor x = random_tensor(DType::f32, {n}, 7);
  for (auto [scale, shift] :
       {std::pair<std::int64_t, std::int64_t>{1, 0}, {-1, n - 1}, {2, -7}, {-3, 200}, {1, 149}, {1, -149}, {1, 1000}, {0, 3}, {75, 1}}) {
    std::int64_t a = scale, b = shift;
    Program program =
        map_program(DType::f32, {n}, DType::f32, {n}, [&](const TensorRef& t, const Indices& at) { return t({at[0] * index(a) + index(b)}); });
    std::vector<double> out = reals(run_one(program, {x}));
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t from = i * a + b;
      REQUIRE(out[static_cast<std::size_t>(i)] == (from >= 0 && from < n ? x.as_double(from) : 0));
    }
  }
}

TEST_CASE("indices near the ends of i64 are out of range and nothing more") {
  for (std::int64_t far : {INT64_MAX, INT64_MIN, INT64_MAX - 3, INT64_MIN + 3}) {
    Program program = map_program(DType::f32, {64}, DType::f32, {64}, [&](const TensorRef& x, const Indices& at) { return x({at[0] + index(far)}); });
    CHECK(reals(run_one(program, {random_tensor(DType::f32, {64}, 8)})) == std::vector<double>(64, 0));
  }
}

TEST_CASE("strings and complex numbers are moved, chosen and compared") {
  ProgramBuilder p;
  TensorRef words = p.input(DType::str, {3}), z = p.input(DType::c64, {3});
  p.output(p.define(DType::str, {4}, [&](const Indices& at) { return words({index(2) - at[0]}); }));
  p.output(p.define(DType::boolean, {3}, [&](const Indices& at) { return equal(words(at), words({index(2)})); }));
  p.output(p.define(DType::c64, {4}, [&](const Indices& at) { return select(less(at[0], index(1)), z({index(1)}), z({at[0] + index(-1)})); }));
  Tensor complex = Tensor::of<float>(DType::c64, {3}, {1, 2, 3, 4, 5, 6});
  std::vector<Tensor> out = run_all(std::move(p).finish(), {Tensor::of_strings({3}, {"a", "b", "a"}), complex});
  CHECK(out[0].strings() == std::vector<std::string>{"a", "b", "a", ""});
  CHECK(out[1].to_ints() == std::vector<std::int64_t>{1, 0, 1});
  CHECK(std::vector<float>(out[2].data<float>(), out[2].data<float>() + 8) == std::vector<float>{3, 4, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("packed types are read and written at any position") {
  Program program = map_program(DType::i4, {5}, DType::i4, {7},
                                [](const TensorRef& x, const Indices& at) { return x({at[0] - index(1)}) + constant_int(DType::i4, 1); });
  // 7 + 1 wraps to -8
  CHECK(run_one(program, {integers(DType::i4, {5}, {7, -8, 3, 0, -1})}).to_ints() == std::vector<std::int64_t>{1, -8, -7, 4, 1, 0, 1});
}

TEST_CASE("inputs other than those stated are an internal error") {
  Program program = map_program(DType::f32, {2}, DType::f32, {2}, [](const TensorRef& x, const Indices& at) { return x(at); });
  auto wrong = run(program, std::vector{random_tensor(DType::f32, {3}, 1)});
  REQUIRE(!wrong.has_value());
  CHECK(wrong.error().kind == ErrorKind::internal);
  CHECK(wrong.error().message == "input 0 of a program is f32[3], but the program states f32[2]");
  CHECK(!run(program, std::vector{random_tensor(DType::f64, {2}, 1)}).has_value());
  CHECK(!run(program, std::vector<Tensor>{}).has_value());
}

}  // namespace
}  // namespace infini::expr
