// Pooling and transposed convolution of the CPU backend against double-precision loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/backends/cpu_case.h"
#include "tests/backends/cpu_spatial.h"

using namespace cpu_test;

namespace {

// average: 0 maximum, 1 average of what lies in the data, 2 average with the padding counted.
Doubles pooled(const Spatial& s, const Doubles& x, std::int64_t planes, int average) {
  Doubles y;
  std::int64_t in = count(s.in), out = count(s.out), taps = count(s.kernel);
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t p = 0; p < out; ++p) {
      double best = -std::numeric_limits<double>::infinity(), sum = 0, found = 0;
      for (std::int64_t t = 0; t < taps; ++t) {
        std::int64_t q = s.read(p, t);
        if (q < 0) continue;
        double v = x[static_cast<std::size_t>(plane * in + q)];
        best = std::max(best, v);
        sum += v;
        ++found;
      }
      if (average == 2) found = static_cast<double>(taps);
      y.push_back(average ? sum / found : best);
    }
  return y;
}

void check_pool(const Spatial& s, std::int64_t images, std::int64_t channels, bool ceil, bool padded_average = true) {
  Extents x{images, channels}, y = x;
  x.insert(x.end(), s.in.begin(), s.in.end());
  y.insert(y.end(), s.out.begin(), s.out.end());
  Doubles data = noise(count(x), 1);
  for (int average : {0, 1, 2}) {
    if (average == 2 && !padded_average) continue;
    Case c;
    int in = c.input(x, data), out = c.value(y);
    std::vector<Attribute> attributes = s.attributes();
    attributes.push_back({"ceil_mode", std::int64_t{ceil}});
    if (average) attributes.push_back({"count_include_pad", std::int64_t{average - 1}});
    c.node(average ? "AveragePool" : "MaxPool", {in}, {out}, attributes);
    c.output(out);
    INFO(s.text(), " channels ", channels, " average ", average);
    check_all(c, {pooled(s, data, images * channels, average)}, 1e-6);
  }
}

}  // namespace

TEST_CASE("cpu: MaxPool and AveragePool") {
  for (std::int64_t channels : {1, 5, 16, 70}) {
    check_pool(Spatial({9, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}), 2, channels, false);
    check_pool(Spatial({9, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}), 1, channels, false);
    check_pool(Spatial({9, 8}, {3, 2}, {1, 1}, {2, 1}, {1, 0}, {0, 1}), 1, channels, false);
    check_pool(Spatial({7, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, true), 1, channels, true, false);
    check_pool(Spatial({17}, {3}, {2}, {1}, {1}, {0}), 1, channels, false);
    check_pool(Spatial({4, 5, 6}, {2, 2, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {1, 0, 1}), 2, channels, false);
  }
  check_pool(Spatial::automatic("SAME_UPPER", {9, 8}, {3, 2}, {2, 2}, {1, 1}), 1, 5, false, false);
  check_pool(Spatial::automatic("SAME_LOWER", {9, 8}, {3, 2}, {2, 2}, {1, 1}), 1, 5, false, false);
}

TEST_CASE("cpu: an average over a window that ceil_mode lets run out counts the padding alone") {
  // In 4, kernel 3, stride 2, padding 1 each side, ceil: windows begin at -1, 1, 3; the last covers 3, 4 (padding), 5 (nothing).
  Case c;
  int in = c.input({1, 1, 4}, {1, 2, 3, 4}), out = c.value({1, 1, 3});
  c.node("AveragePool", {in}, {out}, {{"kernel_shape", Extents{3}}, {"strides", Extents{2}}, {"pads", Extents{1, 1}}, {"ceil_mode", 1}, {"count_include_pad", 1}});
  c.output(out);
  check_all(c, {{1.0, 3.0, 2.0}});
}

TEST_CASE("cpu: a window wholly in the padding: the mean of nothing, of zeros, and no maximum") {
  double nan = std::numeric_limits<double>::quiet_NaN(), lowest = -std::numeric_limits<double>::infinity();
  for (int kind : {0, 1, 2}) {
    Case c;
    int in = c.input({1, 1, 2}, {3, 5}), out = c.value({1, 1, 5});
    std::vector<Attribute> attributes = {{"kernel_shape", Extents{2}}, {"pads", Extents{2, 2}}};
    if (kind < 2) attributes.push_back({"count_include_pad", std::int64_t{kind}});
    c.node(kind < 2 ? "AveragePool" : "MaxPool", {in}, {out}, attributes);
    c.output(out);
    Doubles expected[] = {{nan, 3, 4, 5, nan}, {0, 1.5, 4, 2.5, 0}, {lowest, 3, 5, 5, lowest}};
    check_all(c, {expected[kind]});
  }
}

TEST_CASE("cpu: steps and padding too far for 32 bits have no effect where nothing takes them, else are refused") {
  constexpr std::int64_t far = std::int64_t{1} << 40, farthest = INT64_MAX;
  auto offered = [](const std::string& op, std::int64_t result, std::vector<Attribute> attributes, std::vector<std::int64_t> weights) {
    Case c;
    std::vector<int> operands = {c.input({1, 1, 1}, {3})};
    if (!weights.empty()) operands.push_back(c.constant({1, 1, weights[0]}, Doubles(static_cast<std::size_t>(weights[0]), 2)));
    int out = c.value({1, 1, result});
    c.node(op, operands, {out}, std::move(attributes));
    c.output(out);
    Device device("threads=1");
    return c.offers(device).size();
  };
  for (const char* op : {"Conv", "MaxPool", "ConvTranspose"}) {
    bool pool = op == std::string("MaxPool");
    Case c;
    std::vector<int> operands = {c.input({1, 1, 1}, {3})};
    if (!pool) operands.push_back(c.constant({1, 1, 1}, {2}));
    int out = c.value({1, 1, 1});
    c.node(op, operands, {out}, {{"kernel_shape", Extents{1}}, {"strides", Extents{farthest}}, {"dilations", Extents{farthest}}});
    c.output(out);
    INFO(op);
    check_all(c, {{pool ? 3.0 : 6.0}});
    std::vector<std::int64_t> weights = pool ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2};
    CHECK(offered(op, 1, {{"kernel_shape", Extents{2}}, {"dilations", Extents{far}}, {"pads", Extents{0, far}}}, weights) == 0);
    CHECK(offered(op, 2, {{"kernel_shape", Extents{2}}, {"strides", Extents{far}}, {"pads", Extents{far, 1}}}, weights) == 0);
  }
  CHECK(offered("MaxPool", 1, {{"kernel_shape", Extents{far}}, {"pads", Extents{0, far}}}, {}) == 0);
  CHECK(offered("ConvTranspose", 3, {{"output_padding", Extents{farthest}}, {"output_shape", Extents{3}}}, {1}) == 0);
}

TEST_CASE("cpu: global pools, and NaN wins a maximum") {
  for (std::int64_t channels : {3, 64, 100}) {
    Doubles x = noise(2 * channels * 42, 1), mean, best;
    for (std::int64_t p = 0; p < 2 * channels; ++p) {
      auto begin = x.begin() + p * 42;
      double sum = 0;
      for (auto i = begin; i < begin + 42; ++i) sum += *i;
      mean.push_back(sum / 42);
      best.push_back(*std::max_element(begin, begin + 42));
    }
    for (bool maximum : {false, true}) {
      Case c;
      int in = c.input({2, channels, 6, 7}, x), out = c.value({2, channels, 1, 1});
      c.node(maximum ? "GlobalMaxPool" : "GlobalAveragePool", {in}, {out});
      c.output(out);
      check_all(c, {maximum ? best : mean});
    }
  }
  double nan = std::numeric_limits<double>::quiet_NaN();
  Case c;
  int in = c.input({1, 1, 4}, {1, nan, 3, 4}), out = c.value({1, 1, 2});
  c.node("MaxPool", {in}, {out}, {{"kernel_shape", Extents{2}}, {"strides", Extents{2}}});
  c.output(out);
  check_all(c, {{nan, 4}});
}

TEST_CASE("cpu: ConvTranspose over kernels, strides, dilations, groups and padding") {
  for (std::int64_t kernel : {1, 2, 3, 4})
    for (std::int64_t stride : {1, 2, 3})
      for (std::int64_t pad : {0, 1})
        for (std::int64_t dilation : {1, 2})
          for (std::int64_t groups : {1, 2})
            for (bool constant : {true, false}) {
              std::int64_t channels = 6, results = 10, h = 4, w = 5, extra = stride - 1;
              std::int64_t oh = (h - 1) * stride + dilation * (kernel - 1) + 1 - 2 * pad + extra, ow = (w - 1) * stride + dilation * (kernel - 1) + 1 - 2 * pad;
              if (oh < 1 || ow < 1) continue;
              std::int64_t each = results / groups;
              Doubles x = noise(2 * channels * h * w, 1), k = noise(channels * each * kernel * kernel, 2), bias = noise(results, 3);
              Doubles y(static_cast<std::size_t>(2 * results * oh * ow));
              for (std::size_t i = 0; i < y.size(); ++i) y[i] = bias[i / static_cast<std::size_t>(oh * ow) % static_cast<std::size_t>(results)];
              for (std::int64_t n = 0; n < 2; ++n)
                for (std::int64_t c = 0; c < channels; ++c)
                  for (std::int64_t o = 0; o < each; ++o)
                    for (std::int64_t i = 0; i < h * w; ++i)
                      for (std::int64_t t = 0; t < kernel * kernel; ++t) {
                        std::int64_t r = i / w * stride + t / kernel * dilation - pad, q = i % w * stride + t % kernel * dilation - pad;
                        if (r < 0 || r >= oh || q < 0 || q >= ow) continue;
                        std::int64_t result = c / (channels / groups) * each + o;
                        y[static_cast<std::size_t>(((n * results + result) * oh + r) * ow + q)] +=
                            x[static_cast<std::size_t>((n * channels + c) * h * w + i)] * k[static_cast<std::size_t>((c * each + o) * kernel * kernel + t)];
                      }
              Case c;
              Extents shape{channels, each, kernel, kernel};
              int in = c.input({2, channels, h, w}, x), weights = constant ? c.constant(shape, k) : c.input(shape, k), b = c.constant({results}, bias);
              int out = c.value({2, results, oh, ow}), relu = c.value({2, results, oh, ow});
              c.node("ConvTranspose", {in, weights, b}, {out},
                     {{"kernel_shape", Extents{kernel, kernel}}, {"strides", Extents{stride, stride}}, {"dilations", Extents{dilation, dilation}},
                      {"pads", Extents{pad, pad, pad, pad}}, {"output_padding", Extents{extra, 0}}, {"group", groups}, {"auto_pad", std::string("NOTSET")}});
              c.node("Tanh", {out}, {relu});
              c.output(relu);
              for (double& v : y) v = std::tanh(v);
              CAPTURE(kernel); CAPTURE(stride); CAPTURE(pad); CAPTURE(dilation); CAPTURE(groups);
              check_all(c, {y});
            }
}
