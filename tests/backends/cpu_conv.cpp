// Convolutions of the CPU backend against double-precision loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/backends/cpu_case.h"
#include "tests/backends/cpu_spatial.h"

using namespace cpu_test;

namespace {

// What a convolution of these sizes should give.
Doubles convolved(const Spatial& s, const Doubles& x, const Doubles& w, const Doubles& bias, std::int64_t images, std::int64_t channels,
                  std::int64_t results, std::int64_t groups) {
  std::int64_t in = count(s.in), out = count(s.out), taps = count(s.kernel), each = channels / groups;
  Doubles y;
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t o = 0; o < results; ++o)
      for (std::int64_t p = 0; p < out; ++p) {
        double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(o)];
        for (std::int64_t t = 0; t < taps; ++t) {
          std::int64_t q = s.read(p, t);
          if (q < 0) continue;
          for (std::int64_t c = 0; c < each; ++c) {
            std::int64_t channel = o / (results / groups) * each + c;
            sum += x[static_cast<std::size_t>((n * channels + channel) * in + q)] * w[static_cast<std::size_t>((o * each + c) * taps + t)];
          }
        }
        y.push_back(sum);
      }
  return y;
}

struct Sizes {
  std::int64_t images, channels, results, groups;
};

void check_conv(const Spatial& s, const Sizes& z, bool constant = true, bool biased = true) {
  Extents x{z.images, z.channels}, w{z.results, z.channels / z.groups}, y{z.images, z.results};
  x.insert(x.end(), s.in.begin(), s.in.end());
  w.insert(w.end(), s.kernel.begin(), s.kernel.end());
  y.insert(y.end(), s.out.begin(), s.out.end());
  Doubles data = noise(count(x), 1), weights = noise(count(w), 2), bias = biased ? noise(z.results, 3) : Doubles{};
  Case c;
  std::vector<int> ins{c.input(x, data), constant ? c.constant(w, weights) : c.input(w, weights)};
  if (biased) ins.push_back(constant ? c.constant({z.results}, bias) : c.input({z.results}, bias));
  int out = c.value(y);
  c.node("Conv", ins, {out}, s.attributes(z.groups));
  c.output(out);
  INFO(s.text(), " images ", z.images, " channels ", z.channels, " results ", z.results, " groups ", z.groups, " constant ", constant);
  check_all(c, {convolved(s, data, weights, bias, z.images, z.channels, z.results, z.groups)});
}

}  // namespace

TEST_CASE("cpu: Conv in two dimensions, over kernels, strides, padding and dilations") {
  for (std::int64_t kernel : {1, 2, 3, 5})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t pad : {0, 1, 2})
        for (std::int64_t dilation : {1, 2}) {
          Spatial s({9, 11}, {kernel, kernel}, {stride, stride}, {dilation, dilation}, {pad, pad}, {pad, pad});
          if (!s.valid()) continue;
          check_conv(s, {1, 3, 5, 1});
          check_conv(s, {2, 20, 18, 1});
        }
}

TEST_CASE("cpu: Conv with uneven padding, strides and kernels") {
  for (const Spatial& s : {Spatial({9, 11}, {3, 2}, {2, 1}, {1, 2}, {0, 1}, {2, 0}), Spatial({5, 4}, {5, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}),
                           Spatial({7, 7}, {1, 7}, {1, 1}, {1, 1}, {0, 3}, {0, 3}), Spatial({3, 3}, {3, 3}, {1, 1}, {3, 3}, {3, 3}, {3, 3}),
                           Spatial({8, 8}, {2, 2}, {4, 4}, {1, 1}, {0, 0}, {0, 0}), Spatial({1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1})})
    for (const Sizes& z : {Sizes{1, 1, 1, 1}, Sizes{3, 4, 6, 1}, Sizes{1, 32, 70, 1}, Sizes{1, 17, 33, 1}, Sizes{2, 3, 64, 1}}) check_conv(s, z);
}

TEST_CASE("cpu: Conv with groups, weights that are not constant, no bias") {
  Spatial s({6, 7}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1});
  for (const Sizes& z : {Sizes{1, 8, 12, 2}, Sizes{2, 12, 12, 3}, Sizes{1, 64, 64, 2}, Sizes{1, 4, 8, 4}, Sizes{1, 6, 6, 6}, Sizes{2, 40, 40, 40}})
    for (bool constant : {true, false})
      for (bool biased : {true, false}) check_conv(s, z, constant, biased);
}

TEST_CASE("cpu: Conv in one and three dimensions") {
  for (std::int64_t stride : {1, 2})
    for (std::int64_t dilation : {1, 2}) {
      Spatial one({23}, {4}, {stride}, {dilation}, {2}, {1}), three({4, 5, 6}, {2, 3, 2}, {1, stride, 1}, {1, 1, dilation}, {0, 1, 1}, {1, 1, 0});
      for (const Sizes& z : {Sizes{2, 5, 7, 1}, Sizes{1, 24, 40, 1}, Sizes{1, 8, 8, 8}, Sizes{1, 6, 4, 2}}) check_conv(one, z), check_conv(three, z);
    }
}

TEST_CASE("cpu: Conv with automatic padding") {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    for (std::int64_t stride : {1, 2, 3}) {
      Spatial s = Spatial::automatic(mode, {8, 9}, {4, 3}, {stride, stride}, {1, 1});
      check_conv(s, {1, 3, 4, 1});
      check_conv(s, {1, 16, 16, 1});
      check_conv(s, {1, 16, 16, 16});
    }
}

TEST_CASE("cpu: Conv of the sizes of real networks") {
  check_conv(Spatial({28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}), {1, 128, 64, 1});
  check_conv(Spatial({14, 14}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}), {1, 512, 130, 1});
  check_conv(Spatial({14, 14}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}), {2, 64, 128, 1});
  check_conv(Spatial({7, 7}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}), {1, 512, 64, 1});
  check_conv(Spatial({64, 64}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}), {1, 3, 64, 1});
  check_conv(Spatial({32, 32}, {16, 16}, {16, 16}, {1, 1}, {0, 0}, {0, 0}), {1, 3, 96, 1});
  check_conv(Spatial({28, 28}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}), {1, 144, 144, 144});
}

TEST_CASE("cpu: Conv followed by bias, residual and activations") {
  Spatial s({9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1});
  for (std::int64_t groups : {1, 2, 24}) {
    std::int64_t channels = 24, results = groups == 1 ? 70 : 24;
    Extents x{2, channels, 9, 10}, w{results, channels / groups, 3, 3}, y{2, results, 9, 10};
    Doubles data = noise(count(x), 1), weights = noise(count(w), 2), bias = noise(results, 3), other = noise(count(y), 4), scale = noise(results, 5);
    Doubles base = convolved(s, data, weights, bias, 2, channels, results, groups);
    for (bool fused : {true, false}) {
      INFO("groups ", groups, " fused ", fused);
      {
        Case c;  // residual, then Relu
        int in = c.input(x, data), res = c.input(y, other), k = c.constant(w, weights), b = c.constant({results}, bias);
        int p = c.value(y), q = c.value(y), out = c.value(y);
        c.node("Conv", {in, k, b}, {p}, s.attributes(groups));
        c.node("Add", {p, res}, {q});
        c.node("Relu", {q}, {out});
        c.output(out);
        if (fused) c.fuse();
        Doubles expected;
        for (std::size_t i = 0; i < base.size(); ++i) expected.push_back(std::max(0.0, base[i] + other[i]));
        check_all(c, {expected});
      }
      {
        Case c;  // Clip to [0, 6], times a number a channel, HardSwish
        int in = c.input(x, data), k = c.constant(w, weights), b = c.constant({results, 1, 1}, bias), f = c.constant({1, results, 1, 1}, scale);
        int lo = c.constant({}, {0}), hi = c.constant({}, {6});
        int p = c.value(y), q = c.value(y), r = c.value(y), t = c.value(y), out = c.value(y);
        c.node("Conv", {in, k}, {p}, s.attributes(groups));
        c.node("Add", {b, p}, {q});
        c.node("Clip", {q, lo, hi}, {r});
        c.node("Mul", {r, f}, {t});
        c.node("HardSwish", {t}, {out});
        c.output(out);
        if (fused) c.fuse();
        Doubles expected;
        for (std::size_t i = 0; i < base.size(); ++i) {
          double v = std::min(6.0, std::max(0.0, base[i])) * scale[i / 90 % static_cast<std::size_t>(results)];
          expected.push_back(v * std::min(1.0, std::max(0.0, v / 6 + 0.5)));
        }
        check_all(c, {expected});
      }
    }
  }
}
