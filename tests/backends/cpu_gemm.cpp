// Matrix products of the CPU backend against double-precision loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/backends/cpu_case.h"

using namespace cpu_test;

namespace {

// c[i][j] = sum a[i][k] b[k][j] with element strides.
struct Matrix {
  const Doubles* data;
  std::int64_t offset, row, column;
  double at(std::int64_t i, std::int64_t j) const { return (*data)[static_cast<std::size_t>(offset + i * row + j * column)]; }
};

Doubles multiply(const Matrix& a, const Matrix& b, std::int64_t m, std::int64_t n, std::int64_t k) {
  Doubles c;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
      c.push_back(sum);
    }
  return c;
}

void add_column(Doubles& c, const Doubles& bias) {
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += bias[i % bias.size()];
}

}  // namespace

TEST_CASE("cpu: MatMul over sizes with tails, weights constant or not") {
  for (std::int64_t m : {1, 2, 5, 6, 7, 13, 50})
    for (std::int64_t n : {1, 3, 16, 17, 40, 64, 65, 130})
      for (std::int64_t k : {0, 1, 3, 33, 400})
        for (bool constant : {true, false}) {
          CAPTURE(m); CAPTURE(n); CAPTURE(k); CAPTURE(constant);
          Doubles a = noise(m * k, 1), b = noise(k * n, 2);
          Case c;
          int x = c.input({m, k}, a), w = constant ? c.constant({k, n}, b) : c.input({k, n}, b), y = c.value({m, n});
          c.node("MatMul", {x, w}, {y});
          c.output(y);
          check_all(c, {multiply({&a, 0, k, 1}, {&b, 0, n, 1}, m, n, k)});
        }
}

TEST_CASE("cpu: MatMul of the sizes of transformers") {
  for (const auto& sizes : {std::array<std::int64_t, 3>{128, 768, 768}, {300, 70, 300}, {1, 768, 1000}, {3, 1536, 200}, {128, 300, 700}})
    for (bool constant : {true, false}) {
      std::int64_t m = sizes[0], k = sizes[1], n = sizes[2];
      CAPTURE(m); CAPTURE(n); CAPTURE(k);
      Doubles a = noise(m * k, 3), b = noise(k * n, 4);
      Case c;
      int x = c.input({m, k}, a), w = constant ? c.constant({k, n}, b) : c.input({k, n}, b), y = c.value({m, n});
      c.node("MatMul", {x, w}, {y});
      c.output(y);
      check_all(c, {multiply({&a, 0, k, 1}, {&b, 0, n, 1}, m, n, k)});
    }
}

TEST_CASE("cpu: MatMul with batches that broadcast, and with vectors") {
  struct Shapes {
    Extents a, b, y;
  };
  for (const Shapes& s : {Shapes{{2, 3, 5, 7}, {2, 3, 7, 9}, {2, 3, 5, 9}}, {{2, 1, 5, 7}, {3, 7, 9}, {2, 3, 5, 9}}, {{5, 7}, {2, 2, 7, 20}, {2, 2, 5, 20}},
                          {{2, 3, 5, 7}, {7, 9}, {2, 3, 5, 9}}, {{4, 1, 7}, {7, 70}, {4, 1, 70}}, {{0, 5, 7}, {7, 9}, {0, 5, 9}},
                          {{12, 40, 64}, {12, 64, 40}, {12, 40, 40}}, {{1, 2, 3, 4}, {5, 1, 4, 66}, {5, 2, 3, 66}}})
    for (bool constant : {false, true}) {
      Doubles a = noise(count(s.a), 5), b = noise(count(s.b), 6), y;
      std::size_t rank = s.y.size();
      std::int64_t m = s.y[rank - 2], n = s.y[rank - 1], k = s.a.back(), batches = m * n == 0 ? 0 : count(s.y) / (m * n);
      for (std::int64_t batch = 0; batch < batches; ++batch) {
        auto offset = [&](const Extents& e, std::int64_t matrix) {
          std::int64_t rest = batch, place = 0, step = matrix;
          for (std::size_t i = 3; i <= rank; ++i) {
            std::int64_t index = rest % s.y[rank - i];
            rest /= s.y[rank - i];
            if (e.size() < i) continue;
            if (e[e.size() - i] != 1) place += index * step;
            step *= e[e.size() - i];
          }
          return place;
        };
        Doubles one = multiply({&a, offset(s.a, m * k), k, 1}, {&b, offset(s.b, k * n), n, 1}, m, n, k);
        y.insert(y.end(), one.begin(), one.end());
      }
      Case c;
      int x = c.input(s.a, a), w = constant ? c.constant(s.b, b) : c.input(s.b, b), out = c.value(s.y);
      c.node("MatMul", {x, w}, {out});
      c.output(out);
      check_all(c, {y});
    }
  Doubles a = noise(7, 1), b = noise(7 * 9, 2), d = noise(7, 3), both = multiply({&a, 0, 7, 1}, {&b, 0, 9, 1}, 1, 9, 7);
  Case row;
  int x = row.input({7}, a), w = row.input({7, 9}, b), y = row.value({9});
  row.node("MatMul", {x, w}, {y});
  row.output(y);
  check_all(row, {both});
  Case column;
  x = column.input({9, 7}, b), w = column.input({7}, d), y = column.value({9});
  column.node("MatMul", {x, w}, {y});
  column.output(y);
  check_all(column, {multiply({&b, 0, 7, 1}, {&d, 0, 1, 1}, 9, 1, 7)});
  Case dot;
  x = dot.input({7}, a), w = dot.input({7}, d), y = dot.value({});
  dot.node("MatMul", {x, w}, {y});
  dot.output(y);
  check_all(dot, {multiply({&a, 0, 7, 1}, {&d, 0, 1, 1}, 1, 1, 7)});
}

TEST_CASE("cpu: Gemm with every transposition, alpha, beta and shape of C") {
  std::int64_t m = 11, n = 21, k = 17;
  Doubles a = noise(m * k, 7), b = noise(k * n, 8);
  for (std::int64_t ta : {0, 1})
    for (std::int64_t tb : {0, 1})
      for (double alpha : {1.0, 0.5})
        for (double beta : {1.0, 0.25, 0.0})
          for (const Extents& shape : {Extents{}, Extents{1}, Extents{n}, Extents{1, n}, Extents{m, 1}, Extents{m, n}})
            for (bool constant : {true, false}) {
              Doubles bias = noise(count(shape), 9);
              Matrix left{&a, 0, ta ? 1 : k, ta ? m : 1}, right{&b, 0, tb ? 1 : n, tb ? k : 1};
              Doubles y = multiply(left, right, m, n, k);
              for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                  bool rows = shape.size() == 2 && shape[0] != 1, columns = !shape.empty() && shape.back() != 1;
                  std::int64_t place = (rows ? i * shape[1] : 0) + (columns ? j : 0);
                  double& number = y[static_cast<std::size_t>(i * n + j)];
                  number = alpha * number + beta * bias[static_cast<std::size_t>(place)];
                }
              Case c;
              int x = c.input(ta ? Extents{k, m} : Extents{m, k}, a);
              int w = constant ? c.constant(tb ? Extents{n, k} : Extents{k, n}, b) : c.input(tb ? Extents{n, k} : Extents{k, n}, b);
              int z = constant ? c.constant(shape, bias) : c.input(shape, bias);
              int out = c.value({m, n});
              c.node("Gemm", {x, w, z}, {out}, {{"transA", ta}, {"transB", tb}, {"alpha", alpha}, {"beta", beta}});
              c.output(out);
              CAPTURE(ta); CAPTURE(tb); CAPTURE(alpha); CAPTURE(beta); CAPTURE(shape.size()); CAPTURE(constant);
              check_all(c, {y});
            }
}

TEST_CASE("cpu: products with a bias, a residual and steps behind them, fused and as a plain region") {
  for (std::int64_t m : {1, 7, 40})
    for (std::int64_t n : {5, 64, 100})
      for (bool fused : {true, false}) {
        std::int64_t k = 450;
        Doubles a = noise(m * k, 1), b = noise(k * n, 2), bias = noise(n, 3), other = noise(m * n, 4);
        Doubles base = multiply({&a, 0, k, 1}, {&b, 0, n, 1}, m, n, k);
        add_column(base, bias);
        CAPTURE(m); CAPTURE(n); CAPTURE(fused);
        {
          Case c;  // bias, residual, Relu: all in the tile
          int x = c.input({1, m, k}, a), r = c.input({1, m, n}, other), w = c.constant({k, n}, b), z = c.constant({n}, bias);
          int p = c.value({1, m, n}), q = c.value({1, m, n}), s = c.value({1, m, n}), y = c.value({1, m, n});
          c.node("MatMul", {x, w}, {p});
          c.node("Add", {p, z}, {q});
          c.node("Add", {r, q}, {s});
          c.node("Relu", {s}, {y});
          c.output(y);
          if (fused) c.fuse();
          Doubles expected;
          for (std::size_t i = 0; i < base.size(); ++i) expected.push_back(std::max(0.0, base[i] + other[i]));
          check_all(c, {expected});
        }
        {
          Case c;  // bias, Gelu, residual, scale by column, clip: steps
          int x = c.input({m, k}, a), r = c.input({m, n}, other), w = c.constant({k, n}, b), z = c.constant({n}, bias);
          int half = c.constant({}, {0.5}), lo = c.constant({}, {-0.25}), hi = c.constant({}, {3});
          int p = c.value({m, n}), q = c.value({m, n}), g = c.value({m, n}), s = c.value({m, n}), t = c.value({m, n}), u = c.value({m, n}), y = c.value({m, n});
          c.node("MatMul", {x, w}, {p});
          c.node("Add", {p, z}, {q});
          c.node("Gelu", {q}, {g}, {{"approximate", std::string("none")}});
          c.node("Add", {g, r}, {s});
          c.node("Mul", {z, s}, {t});
          c.node("Mul", {t, half}, {u});
          c.node("Clip", {u, lo, hi}, {y});
          c.output(y);
          if (fused) c.fuse();
          Doubles expected;
          for (std::size_t i = 0; i < base.size(); ++i) {
            double g1 = 0.5 * base[i] * (1 + std::erf(base[i] / std::sqrt(2.0))) + other[i];
            expected.push_back(std::min(3.0, std::max(-0.25, g1 * bias[i % bias.size()] * 0.5)));
          }
          check_all(c, {expected});
        }
        {
          Case c;  // Silu as x * sigmoid(x): the product is used twice
          int x = c.input({m, k}, a), w = c.constant({k, n}, b), z = c.constant({n}, bias);
          int p = c.value({m, n}), s = c.value({m, n}), y = c.value({m, n});
          c.node("Gemm", {x, w, z}, {p}, {{"transA", 0}, {"transB", 0}, {"alpha", 1.0}, {"beta", 1.0}});
          c.node("Sigmoid", {p}, {s});
          c.node("Mul", {p, s}, {y});
          c.output(y);
          if (fused) c.fuse();
          Doubles expected;
          for (double v : base) expected.push_back(v / (1 + std::exp(-v)));
          check_all(c, {expected});
        }
      }
}

TEST_CASE("cpu: what a product cannot do is said, not done wrong") {
  Device device("threads=1");
  Case doubles;
  int x = doubles.input({2, 3}, noise(6, 1), infini::DType::f64), w = doubles.input({3, 2}, noise(6, 2), infini::DType::f64), y = doubles.value({2, 2}, infini::DType::f64);
  doubles.node("MatMul", {x, w}, {y});
  doubles.output(y);
  std::string reason;
  CHECK(doubles.offers(device, &reason).empty());
  CHECK(reason == "MatMul of f64: the kernel is for f32");
  Device wrong("threads=0");
  CHECK(wrong.handle == nullptr);
  CHECK(wrong.error == "threads=0 is not a number from 1 to 1024");
  Device odd("colour=red");
  CHECK(odd.handle == nullptr);
}
