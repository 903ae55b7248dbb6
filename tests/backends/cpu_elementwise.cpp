// Elementwise nodes of the CPU backend: accuracy against double precision, broadcasting, chains, element types.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "libcore/base/text.h"
#include "tests/backends/cpu_case.h"

using namespace cpu_test;
using infini::DType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double none = std::numeric_limits<double>::quiet_NaN();

// Floats over all magnitudes and densely over the usual range, exact in f32.
Doubles many_numbers(bool positive) {
  Doubles x{0.0, 1.0, 0.5, 1e-30, 1e-40, 88.5, 89.0, 104.0, 3e38, infinity};
  for (int i = 0; i < 6000; ++i) x.push_back(static_cast<double>(static_cast<float>(0.002 * i)));
  for (int e = -149; e < 128; ++e)
    for (double m : {1.0, 1.25, 1.6, 1.99}) x.push_back(static_cast<double>(static_cast<float>(std::ldexp(m, e))));
  for (double& v : x) v = static_cast<double>(static_cast<float>(v));
  std::size_t size = x.size();
  for (std::size_t i = 0; i < size && !positive; ++i) x.push_back(-x[i]);
  x.push_back(none);
  return x;
}

// Distance in units of the last place of the float nearest to `expected`.
double ulps(double actual, double expected) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual) ? 0 : infinity;
  float nearest = static_cast<float>(expected);
  if (std::isinf(nearest) || std::isinf(actual)) return static_cast<double>(nearest) == actual ? 0 : infinity;
  double step = std::ldexp(1.0, std::max(-149, std::ilogb(std::max(std::abs(expected), 1e-45)) - 23));
  return std::abs(actual - expected) / step;
}

void check_function(const char* op, double (*function)(double), bool positive, double limit) {
  Doubles x = many_numbers(positive);
  std::int64_t n = static_cast<std::int64_t>(x.size());
  for (const char* options : {"threads=1 isa=portable", "threads=2 isa=avx2", "threads=2 isa=avx512"}) {
    Device device(options);
    if (!device.handle) continue;
    Case c;
    int in = c.input({n}, x), out = c.value({n});
    c.node(op, {in}, {out});
    c.output(out);
    std::vector<Offered> offers = c.offers(device);
    REQUIRE(!offers.empty());
    Doubles y = c.run(device, offers[0])[0];
    double worst = 0, at = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (double d = ulps(y[i], function(x[i])); d > worst) worst = d, at = x[i];
    INFO(std::string(op), " ", std::string(options), ": worst at ", at);
    CHECK(worst <= limit);
  }
}

void check_unary(const char* op, const std::function<double(double)>& f, std::vector<Attribute> attributes = {}, double limit = 1e-6) {
  Doubles x = noise(2 * 3 * 5 * 70, 1), y;
  for (double& v : x) v *= 5;
  for (double v : x) y.push_back(f(v));
  Case c;
  int in = c.input({2, 3, 5, 70}, x), out = c.value({2, 3, 5, 70});
  c.node(op, {in}, {out}, std::move(attributes));
  c.output(out);
  check_all(c, {y}, limit, op);
}

}  // namespace

TEST_CASE("cpu: exp, log, erf, tanh, sigmoid and their kin are within 4 units of the last place") {
  check_function("Exp", [](double x) { return std::exp(x); }, false, 4);
  check_function("Log", [](double x) { return std::log(x); }, false, 4);
  check_function("Erf", [](double x) { return std::erf(x); }, false, 4);
  check_function("Tanh", [](double x) { return std::tanh(x); }, false, 4);
  check_function("Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, false, 4);
  check_function("Sqrt", [](double x) { return std::sqrt(x); }, false, 0.5);
  check_function("Softplus", [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, false, 4);
  check_function("Floor", [](double x) { return std::floor(x); }, false, 0);
  check_function("Ceil", [](double x) { return std::ceil(x); }, false, 0);
  check_function("Round", [](double x) { return std::nearbyint(x); }, false, 0);
  check_function("Relu", [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }, false, 0);
  check_function("Sin", [](double x) { return std::sin(x); }, false, 1);
}

TEST_CASE("cpu: every elementwise operator with attributes") {
  check_unary("LeakyRelu", [](double x) { return x < 0 ? 0.1 * x : x; }, {{"alpha", 0.1}});
  check_unary("Elu", [](double x) { return x < 0 ? 2 * std::expm1(x) : x; }, {{"alpha", 2.0}});
  check_unary("Celu", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, {{"alpha", 2.0}});
  check_unary("Selu", [](double x) { return 1.05070102214813232421875 * (x < 0 ? 1.67326319217681884765625 * std::expm1(x) : x); });
  check_unary("ThresholdedRelu", [](double x) { return x > 2 ? x : 0; }, {{"alpha", 2.0}});
  check_unary("HardSigmoid", [](double x) { return std::min(1.0, std::max(0.0, 0.25 * x + 0.5)); }, {{"alpha", 0.25}, {"beta", 0.5}});
  check_unary("HardSwish", [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); });
  check_unary("Softsign", [](double x) { return x / (1 + std::abs(x)); });
  check_unary("Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  check_unary("Swish", [](double x) { return x / (1 + std::exp(-1.5 * x)); }, {{"alpha", 1.5}});
  check_unary("Shrink", [](double x) { return x < -1 ? x + 0.5 : x > 1 ? x - 0.5 : 0; }, {{"bias", 0.5}, {"lambd", 1.0}});
  check_unary("Gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, {{"approximate", std::string("none")}});
  check_unary("Gelu", [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, {{"approximate", std::string("tanh")}});
  check_unary("Sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; });
  check_unary("Reciprocal", [](double x) { return 1 / x; });
  check_unary("Atan", [](double x) { return std::atan(x); });
}

TEST_CASE("cpu: binary operators broadcast as NumPy does, in either layout") {
  struct Shapes {
    Extents a, b, y;
  };
  for (const Shapes& s : {Shapes{{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}}, {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}}, {{2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5}},
                          {{2, 3, 4, 5}, {1, 3, 1, 1}, {2, 3, 4, 5}}, {{2, 3, 1, 1}, {2, 3, 4, 5}, {2, 3, 4, 5}}, {{2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 4, 5}},
                          {{}, {2, 3}, {2, 3}}, {{40, 1}, {1, 50}, {40, 50}}, {{2, 3, 4, 5}, {4, 1}, {2, 3, 4, 5}}, {{1, 1, 700}, {3, 5, 1}, {3, 5, 700}},
                          {{0, 3}, {1, 3}, {0, 3}}, {{3000}, {1}, {3000}}, {{1, 2, 8, 300}, {1, 1, 8, 300}, {1, 2, 8, 300}}}) {
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"})
      for (bool constant : {false, true}) {
        Doubles a = noise(count(s.a), 1), b = noise(count(s.b), 2), y;
        for (std::int64_t i = 0; i < count(s.y); ++i) {
          auto at = [&](const Extents& e, const Doubles& data) {
            std::int64_t rest = i, place = 0, step = 1;
            for (std::size_t k = 1; k <= s.y.size(); ++k) {
              std::int64_t index = rest % s.y[s.y.size() - k];
              rest /= s.y[s.y.size() - k];
              if (k > e.size()) continue;
              if (e[e.size() - k] != 1) place += index * step;
              step *= e[e.size() - k];
            }
            return data[static_cast<std::size_t>(place)];
          };
          double p = at(s.a, a), q = at(s.b, b);
          std::string o = op;
          y.push_back(o == "Add" ? p + q : o == "Sub" ? p - q : o == "Mul" ? p * q : o == "Div" ? p / q : o == "Max" ? std::max(p, q) : o == "Min" ? std::min(p, q) : p < 0 ? p * q : p);
        }
        Case c;
        int x = c.input(s.a, a), z = constant ? c.constant(s.b, b) : c.input(s.b, b), out = c.value(s.y);
        c.node(op, {x, z}, {out});
        c.output(out);
        INFO(std::string(op), " ", infini::join(s.a, "x"), " ", infini::join(s.b, "x"));
        check_all(c, {y});
      }
  }
}

TEST_CASE("cpu: NaN goes through Max, Min, Clip and Relu; variadic operators; Pow") {
  for (const char* op : {"Max", "Min"}) {
    Case c;
    int a = c.input({4}, {none, 1, 2, none}), b = c.input({4}, {1, none, 3, none}), y = c.value({4});
    c.node(op, {a, b}, {y});
    c.output(y);
    check_exact(c, {{none, none, std::string(op) == "Max" ? 3.0 : 2.0, none}});
  }
  Case clip;
  int a = clip.input({5}, {none, -3, 0.5, 9, -infinity}), lo = clip.constant({}, {-1}), hi = clip.input({}, {2}), y = clip.value({5});
  clip.node("Clip", {a, lo, hi}, {y});
  clip.output(y);
  check_exact(clip, {{none, -1, 0.5, 2, -1}});
  Case open;
  a = open.input({3}, {-3, 0.5, 9}), y = open.value({3});
  open.node("Clip", {a, -1, -1}, {y});
  open.output(y);
  check_exact(open, {{-3, 0.5, 9}});
  Case mean;
  a = mean.input({3}, {1, 2, 3});
  int b = mean.input({3}, {4, 5, 6}), d = mean.input({1}, {10});
  y = mean.value({3});
  mean.node("Mean", {a, b, d}, {y});
  mean.output(y);
  check_all(mean, {{5, 17.0 / 3, 19.0 / 3}});
  for (double exponent : {2.0, 3.0, 0.5, -1.0, 2.5}) {
    Case power;
    a = power.input({4}, {0.5, 1, 2, 3}), b = power.constant({}, {exponent}), y = power.value({4});
    power.node("Pow", {a, b}, {y});
    power.output(y);
    check_all(power, {{std::pow(0.5, exponent), 1, std::pow(2, exponent), std::pow(3, exponent)}});
  }
}

TEST_CASE("cpu: chains in one region, values used twice, operands that broadcast") {
  // Gelu with tanh as exported: 0.5 x (1 + tanh(c (x + 0.044715 x^3))), then + row.
  Extents e{3, 7, 130};
  Doubles x = noise(count(e), 1), row = noise(130, 2), expected;
  for (std::size_t i = 0; i < x.size(); ++i)
    expected.push_back(0.5 * x[i] * (1 + std::tanh(std::sqrt(2 / M_PI) * (x[i] + 0.044715 * x[i] * x[i] * x[i]))) + row[i % 130]);
  for (bool fused : {false, true}) {
    Case c;
    int in = c.input(e, x), r = c.input({130}, row), three = c.constant({}, {3}), k = c.constant({}, {0.044715}), s = c.constant({}, {std::sqrt(2 / M_PI)});
    int one = c.constant({1}, {1}), half = c.constant({1, 1}, {0.5});
    int v[8];
    for (int& value : v) value = c.value(e);
    c.node("Pow", {in, three}, {v[0]});
    c.node("Mul", {v[0], k}, {v[1]});
    c.node("Add", {in, v[1]}, {v[2]});
    c.node("Mul", {v[2], s}, {v[3]});
    c.node("Tanh", {v[3]}, {v[4]});
    c.node("Add", {v[4], one}, {v[5]});
    c.node("Mul", {in, half}, {v[6]});
    c.node("Mul", {v[6], v[5]}, {v[7]});
    int y = c.value(e);
    c.node("Add", {v[7], r}, {y});
    c.output(y);
    if (fused) c.fuse();
    check_all(c, {expected});
  }
}

TEST_CASE("cpu: integers, halves, doubles, comparisons, logic, Where") {
  auto check2 = [](const char* op, DType in, DType out, const Doubles& a, const Doubles& b, const Doubles& y, std::vector<Attribute> attributes = {}) {
    Case c;
    std::int64_t n = static_cast<std::int64_t>(a.size());
    int p = c.input({n}, a, in), q = c.input({n}, b, in), r = c.value({n}, out);
    c.node(op, {p, q}, {r}, std::move(attributes));
    c.output(r);
    check_exact(c, {y}, op);
  };
  check2("Add", DType::i32, DType::i32, {1, 2147483647, -5}, {2, 1, 3}, {3, -2147483648.0, -2});
  check2("Mul", DType::i8, DType::i8, {100, -3, 7}, {2, 5, 7}, {-56, -15, 49});
  check2("Div", DType::i64, DType::i64, {7, -7, 5}, {2, 2, -1}, {3, -3, -5});
  check2("Mod", DType::i32, DType::i32, {7, -7, 7}, {3, 3, -3}, {1, 2, -2});
  check2("Mod", DType::i32, DType::i32, {7, -7, 7}, {3, 3, -3}, {1, -1, 1}, {{"fmod", 1}});
  check2("Sub", DType::u8, DType::u8, {1, 200}, {2, 100}, {255, 100});
  check2("Add", DType::f16, DType::f16, {1, 2048, 0.5}, {0.5, 1, 0.25}, {1.5, 2048, 0.75});
  check2("Mul", DType::bf16, DType::bf16, {1.5, 3}, {1.5, 0.5}, {2.25, 1.5});
  check2("Div", DType::f64, DType::f64, {1, 2}, {3, 5}, {1.0 / 3, 0.4});
  check2("Equal", DType::f32, DType::boolean, {1, none, 2}, {1, none, 3}, {1, 0, 0});
  check2("Less", DType::i64, DType::boolean, {1, 5, 3}, {2, 5, 1}, {1, 0, 0});
  check2("GreaterOrEqual", DType::f32, DType::boolean, {1, 5, none}, {2, 5, 1}, {0, 1, 0});
  check2("And", DType::boolean, DType::boolean, {1, 1, 0}, {1, 0, 0}, {1, 0, 0});
  check2("Xor", DType::boolean, DType::boolean, {1, 1, 0}, {1, 0, 0}, {0, 1, 0});
  check2("BitwiseAnd", DType::u16, DType::u16, {12, 7}, {10, 2}, {8, 2});
  check2("Max", DType::i64, DType::i64, {3, -4}, {1, 9}, {3, 9});
  Case w;
  int t = w.input({2, 1}, {1, 0}, DType::boolean), a = w.input({3}, {1, 2, 3}, DType::i64), b = w.constant({2, 3}, {4, 5, 6, 7, 8, 9}, DType::i64), y = w.value({2, 3}, DType::i64);
  w.node("Where", {t, a, b}, {y});
  w.output(y);
  check_exact(w, {{1, 2, 3, 7, 8, 9}});
  Case n;
  t = n.input({3}, {1, 0, 1}, DType::boolean), y = n.value({3}, DType::boolean);
  n.node("Not", {t}, {y});
  n.output(y);
  check_exact(n, {{0, 1, 0}});
}

TEST_CASE("cpu: Cast between plain types") {
  auto check = [](DType from, DType to, const Doubles& x, const Doubles& y) {
    Case c;
    std::int64_t n = static_cast<std::int64_t>(x.size());
    int a = c.input({n}, x, from), b = c.value({n}, to);
    c.node("Cast", {a}, {b}, {{"to", static_cast<std::int64_t>(to)}});
    c.output(b);
    check_exact(c, {y});
  };
  check(DType::f32, DType::i32, {1.9, -1.9, 0}, {1, -1, 0});
  check(DType::f32, DType::f16, {1.0, 65504, 70000, 1.0 / 3}, {1.0, 65504, infinity, 0.333251953125});
  check(DType::f64, DType::bf16, {1.0, 3.1415926}, {1.0, 3.140625});
  check(DType::i64, DType::f32, {16777217, -3}, {16777216, -3});
  check(DType::i64, DType::u8, {257, -1}, {1, 255});
  check(DType::f32, DType::boolean, {0, -0.0, 0.1, none}, {0, 0, 1, 1});
  check(DType::boolean, DType::f32, {1, 0}, {1, 0});
  check(DType::bf16, DType::f32, {1.5, -2}, {1.5, -2});
  for (DType from : {DType::f32, DType::f64, DType::bf16}) check(from, DType::u64, {0x1p62, 0x1p63, 0x1.8p63}, {0x1p62, 0x1p63, 0x1.8p63});
}
