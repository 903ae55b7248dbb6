// Softmax, normalisations and reductions of the CPU backend against double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/text.h"
#include "tests/backends/cpu_case.h"

using namespace cpu_test;
using infini::DType;

namespace {

// The tensor as outer x n x inner around one axis.
struct Around {
  std::int64_t outer = 1, n, inner = 1;
  Around(const Extents& e, std::size_t axis) : n(e[axis]) {
    for (std::size_t i = 0; i < axis; ++i) outer *= e[i];
    for (std::size_t i = axis + 1; i < e.size(); ++i) inner *= e[i];
  }
  std::size_t at(std::int64_t o, std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>((o * n + i) * inner + j); }
};

Doubles spread(Doubles x, double factor, double shift = 0) {
  for (double& v : x) v = v * factor + shift;
  return x;
}

}  // namespace

TEST_CASE("cpu: Softmax and LogSoftmax over every axis") {
  for (const Extents& e : {Extents{3, 5, 4, 7}, Extents{2, 1000}, Extents{5, 40, 33}, Extents{2, 3, 70, 130}, Extents{1}, Extents{0, 4}})
    for (std::size_t axis = 0; axis < e.size(); ++axis)
      for (bool logarithm : {false, true}) {
        Around a(e, axis);
        Doubles x = spread(noise(count(e), 1), 20), y(x.size());
        for (std::int64_t o = 0; o < a.outer; ++o)
          for (std::int64_t j = 0; j < a.inner; ++j) {
            double top = -1e300, sum = 0;
            for (std::int64_t i = 0; i < a.n; ++i) top = std::max(top, x[a.at(o, i, j)]);
            for (std::int64_t i = 0; i < a.n; ++i) sum += std::exp(x[a.at(o, i, j)] - top);
            for (std::int64_t i = 0; i < a.n; ++i) {
              double v = x[a.at(o, i, j)] - top;
              y[a.at(o, i, j)] = logarithm ? v - std::log(sum) : std::exp(v) / sum;
            }
          }
        Case c;
        int in = c.input(e, x), out = c.value(e);
        c.node(logarithm ? "LogSoftmax" : "Softmax", {in}, {out}, {{"axis", static_cast<std::int64_t>(axis)}});
        c.output(out);
        check_all(c, {y}, 1e-6, infini::join(e, "x").c_str());
      }
}

TEST_CASE("cpu: LayerNormalization and RMSNormalization") {
  for (std::int64_t n : {1, 3, 16, 100, 768, 70000})
    for (double shift : {0.0, 30.0})
      for (bool rms : {false, true}) {
        std::int64_t rows = n > 1000 ? 2 : 9;
        Doubles x = spread(noise(rows * n, 1), 1, shift), scale = noise(n, 2), bias = noise(n, 3), y, means, factors;
        for (std::int64_t r = 0; r < rows; ++r) {
          double mean = 0, variance = 0;
          for (std::int64_t i = 0; i < n && !rms; ++i) mean += x[static_cast<std::size_t>(r * n + i)] / static_cast<double>(n);
          for (std::int64_t i = 0; i < n; ++i) variance += std::pow(x[static_cast<std::size_t>(r * n + i)] - mean, 2) / static_cast<double>(n);
          double factor = 1 / std::sqrt(variance + 1e-5);
          means.push_back(mean), factors.push_back(factor);
          for (std::int64_t i = 0; i < n; ++i) {
            std::size_t k = static_cast<std::size_t>(i);
            y.push_back((x[static_cast<std::size_t>(r * n + i)] - mean) * factor * scale[k] + (rms ? 0 : bias[k]));
          }
        }
        Case d;
        int a = d.input({rows, n}, x), s = d.constant({n}, scale), b = d.input({n}, bias), out = d.value({rows, n}), mean = d.value({rows, 1}), factor = d.value({rows, 1});
        if (rms) d.node("RMSNormalization", {a, s}, {out}, {{"axis", -1}, {"epsilon", 1e-5}});
        else d.node("LayerNormalization", {a, s, b}, {out, mean, factor}, {{"axis", -1}, {"epsilon", 1e-5}});
        d.output(out);
        if (!rms) d.output(mean), d.output(factor);
        // Numbers near 30 leave the mean's last place as error after the subtraction; the one-number row has only that.
        double limit = shift == 0 ? 1e-6 : n == 1 ? 1 : 5e-6;
        INFO("n ", n, " shift ", shift, " rms ", rms);
        if (rms) check_all(d, {y}, limit);
        else check_all(d, {y, means, factors}, limit);
      }
}

TEST_CASE("cpu: InstanceNormalization, GroupNormalization, BatchNormalization") {
  for (const Extents& e : {Extents{2, 6, 5, 7}, Extents{1, 70, 9}, Extents{3, 4, 2, 3, 5}})
    for (const std::string op : {"InstanceNormalization", "GroupNormalization", "BatchNormalization"}) {
      std::int64_t channels = e[1], n = count(e) / e[0] / channels, groups = op == "GroupNormalization" ? 2 : channels, parts = channels / groups;
      Doubles x = noise(count(e), 1), scale = noise(channels, 2), bias = noise(channels, 3), mean = noise(channels, 4), variance = spread(noise(channels, 5), 0.4, 0.6), y;
      for (std::int64_t r = 0; r < e[0] * groups; ++r) {
        double m = 0, v = 0, size = static_cast<double>(parts * n);
        for (std::int64_t i = 0; i < parts * n; ++i) m += x[static_cast<std::size_t>(r * parts * n + i)] / size;
        for (std::int64_t i = 0; i < parts * n; ++i) v += std::pow(x[static_cast<std::size_t>(r * parts * n + i)] - m, 2) / size;
        for (std::int64_t i = 0; i < parts * n; ++i) {
          std::size_t channel = static_cast<std::size_t>((r * parts + i / n) % channels);
          double from = op == "BatchNormalization" ? mean[channel] : m, spread_found = op == "BatchNormalization" ? variance[channel] : v;
          y.push_back((x[static_cast<std::size_t>(r * parts * n + i)] - from) / std::sqrt(spread_found + 1e-3) * scale[channel] + bias[channel]);
        }
      }
      Case c;
      std::vector<int> ins{c.input(e, x), c.constant({channels}, scale), c.input({channels}, bias)};
      if (op == "BatchNormalization") ins.push_back(c.constant({channels}, mean)), ins.push_back(c.constant({channels}, variance));
      int out = c.value(e);
      c.node(op, ins, {out}, {{"epsilon", 1e-3}, {"num_groups", groups}});
      c.output(out);
      check_all(c, {y}, 1e-6, op.c_str());
    }
}

TEST_CASE("cpu: LRN over windows of any width") {
  for (const Extents& e : {Extents{2, 7, 5, 9}, Extents{1, 3, 130}, Extents{3, 5}})
    for (std::int64_t size : {1, 2, 5, 6, 100}) {
      Around a(e, 1);
      Doubles x = spread(noise(count(e), 1), 10), y(x.size());
      for (std::int64_t o = 0; o < a.outer; ++o)
        for (std::int64_t j = 0; j < a.inner; ++j)
          for (std::int64_t c = 0; c < a.n; ++c) {
            double squares = 0;
            for (std::int64_t k = std::max<std::int64_t>(0, c - (size - 1) / 2); k <= std::min(a.n - 1, c + size / 2); ++k) squares += x[a.at(o, k, j)] * x[a.at(o, k, j)];
            y[a.at(o, c, j)] = x[a.at(o, c, j)] / std::pow(1.5 + 0.02 / static_cast<double>(size) * squares, 0.6);
          }
      Case c;
      int in = c.input(e, x), out = c.value(e);
      c.node("LRN", {in}, {out}, {{"alpha", 0.02}, {"beta", 0.6}, {"bias", 1.5}, {"size", size}});
      c.output(out);
      check_all(c, {y}, 1e-6, infini::join(e, "x").c_str());
    }
}

TEST_CASE("cpu: reductions over any axes, kept or not") {
  Extents e{3, 4, 5, 33};
  Doubles x = spread(noise(count(e), 1), 0.5, 1.2);
  for (const Extents& axes : {Extents{0}, Extents{1}, Extents{2}, Extents{3}, Extents{-1}, Extents{2, 3}, Extents{0, 1}, Extents{1, 3}, Extents{0, 2}, Extents{0, 2, 3}, Extents{0, 1, 2, 3}, Extents{}})
    for (bool keep : {true, false})
      for (const std::string op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum"}) {
        bool reduced[4] = {axes.empty(), axes.empty(), axes.empty(), axes.empty()};
        for (std::int64_t axis : axes) reduced[axis < 0 ? axis + 4 : axis] = true;
        Extents kept, shape;
        for (std::size_t i = 0; i < 4; ++i) {
          kept.push_back(reduced[i] ? 1 : e[i]);
          if (keep || !reduced[i]) shape.push_back(kept.back());
        }
        double start = op == "ReduceProd" ? 1 : op == "ReduceMax" ? -1e300 : op == "ReduceMin" ? 1e300 : 0;
        Doubles y(static_cast<std::size_t>(count(kept)), start);
        for (std::int64_t i = 0; i < count(e); ++i) {
          std::int64_t index[4] = {i / (4 * 5 * 33), i / (5 * 33) % 4, i / 33 % 5, i % 33}, place = 0;
          for (std::size_t k = 0; k < 4; ++k) place = place * kept[k] + (reduced[k] ? 0 : index[k]);
          double& r = y[static_cast<std::size_t>(place)];
          double v = x[static_cast<std::size_t>(i)];
          if (op == "ReduceMax") r = std::max(r, v);
          else if (op == "ReduceMin") r = std::min(r, v);
          else if (op == "ReduceProd") r *= v;
          else if (op == "ReduceL1") r += std::abs(v);
          else if (op == "ReduceL2" || op == "ReduceSumSquare") r += v * v;
          else r += v;
        }
        double size = static_cast<double>(count(e)) / static_cast<double>(count(kept));
        for (double& r : y) r = op == "ReduceMean" ? r / size : op == "ReduceL2" ? std::sqrt(r) : op == "ReduceLogSum" ? std::log(r) : r;
        if (op == "ReduceProd" && (std::abs(y[0]) < 1e-20 || std::abs(y[0]) > 1e20)) continue;  // beyond f32
        Case c;
        int in = c.input(e, x), list = c.constant({static_cast<std::int64_t>(axes.size())}, Doubles(axes.begin(), axes.end()), DType::i64), out = c.value(shape);
        c.node(op, {in, list}, {out}, {{"keepdims", std::int64_t{keep}}, {"noop_with_empty_axes", 0}});
        c.output(out);
        INFO(op, " axes ", infini::join(axes, ","), " keep ", keep);
        check_all(c, {y}, op == "ReduceProd" ? 1e-5 : 1e-6);
      }
  double none = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t place : {0, 17, 40})
    for (const char* op : {"ReduceMax", "ReduceMin"}) {
      Doubles z = noise(41, 1);
      z[static_cast<std::size_t>(place)] = none;
      Case c;
      int in = c.input({41}, z), out = c.value({1});
      c.node(op, {in}, {out}, {{"keepdims", 1}});
      c.output(out);
      check_all(c, {{none}});
    }
}

TEST_CASE("cpu: long sums keep their precision") {
  for (std::int64_t inner : {1, 20}) {
    std::int64_t n = 200000;
    Doubles x = spread(noise(n * inner, 1), 0.5, 1), y(static_cast<std::size_t>(inner));
    for (std::size_t i = 0; i < x.size(); ++i) y[i % static_cast<std::size_t>(inner)] += x[i];
    Case c;
    int in = c.input({n, inner}, x), axes = c.constant({1}, {0}, DType::i64), out = c.value({inner});
    c.node("ReduceSum", {in, axes}, {out}, {{"keepdims", 0}});
    c.output(out);
    check_all(c, {y});
  }
}
