// f16 and bf16 regions of the CPU backend, which compute in f32, against double precision rounded once.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "libcore/tensor/element.h"
#include "tests/backends/cpu_case.h"

using namespace cpu_test;
using infini::DType;

namespace {

Doubles rounded(Doubles x, DType dtype) {
  for (double& v : x) v = infini::decode_float(dtype, infini::encode_float(dtype, v));
  return x;
}

// Sums differ in order, so a number may be rounded to the neighbour: rarely, and by one part in 2^10 or 2^7.
double limit(DType dtype) { return dtype == DType::f16 ? 1e-4 : 1e-3; }

std::size_t at(std::int64_t a) { return static_cast<std::size_t>(a); }

bool all_widened(Case& c) {
  Device device("threads=1");
  std::vector<Offered> offers = c.offers(device);
  return !offers.empty() && std::all_of(offers.begin(), offers.end(), [](const Offered& o) { return o.kernel.ends_with("_widened"); });
}

}  // namespace

TEST_CASE("cpu: a convolution of f16 and bf16, with bias and padding") {
  constexpr std::int64_t n = 2, channels = 20, height = 7, width = 6, filters = 9;
  for (DType dtype : {DType::f16, DType::bf16}) {
    Doubles x = rounded(noise(n * channels * height * width, 1), dtype), w = rounded(noise(filters * channels * 9, 2), dtype), b = rounded(noise(filters, 3), dtype), y;
    for (std::int64_t image = 0; image < n; ++image)
      for (std::int64_t f = 0; f < filters; ++f)
        for (std::int64_t row = 0; row < height; ++row)
          for (std::int64_t column = 0; column < width; ++column) {
            double sum = b[at(f)];
            for (std::int64_t c = 0; c < channels; ++c)
              for (std::int64_t i = std::max<std::int64_t>(0, 1 - row); i < std::min<std::int64_t>(3, height + 1 - row); ++i)
                for (std::int64_t j = std::max<std::int64_t>(0, 1 - column); j < std::min<std::int64_t>(3, width + 1 - column); ++j)
                  sum += x[at(((image * channels + c) * height + row + i - 1) * width + column + j - 1)] * w[at(((f * channels + c) * 3 + i) * 3 + j)];
            y.push_back(sum);
          }
    for (bool constant : {true, false}) {
      Case c;
      int in = c.input({n, channels, height, width}, x, dtype), out = c.value({n, filters, height, width}, dtype);
      int weights = constant ? c.constant({filters, channels, 3, 3}, w, dtype) : c.input({filters, channels, 3, 3}, w, dtype);
      int bias = c.constant({filters}, b, dtype);
      using Ints = std::vector<std::int64_t>;
      c.node("Conv", {in, weights, bias}, {out}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{1, 1}}, {"dilations", Ints{1, 1}}, {"group", std::int64_t{1}}, {"auto_pad", std::string("NOTSET")}});
      c.output(out);
      CHECK(all_widened(c));
      check_all(c, {rounded(y, dtype)}, limit(dtype));
    }
  }
}

TEST_CASE("cpu: a matrix product of f16 and bf16 sums in more than their precision") {
  // 4096 times 1 + 2^-9: a sum in f16 would stop at 2048.
  for (DType dtype : {DType::f16, DType::bf16}) {
    constexpr std::int64_t m = 3, k = 4096, n = 5;
    Doubles a(m * k, 1.0), b(k * n, dtype == DType::f16 ? 1.0 + 1.0 / 512 : 1.0);
    Case c;
    int left = c.input({m, k}, a, dtype), right = c.constant({k, n}, b, dtype), out = c.value({m, n}, dtype);
    c.node("MatMul", {left, right}, {out});
    c.output(out);
    CHECK(all_widened(c));
    check_exact(c, {Doubles(m * n, dtype == DType::f16 ? 4104.0 : 4096.0)});
  }
}

TEST_CASE("cpu: Softmax and LogSoftmax of f16, bf16 and f64 round every step, as ONNX's function bodies do") {
  constexpr std::int64_t rows = 7, n = 33, inner = 5;
  for (DType dtype : {DType::f16, DType::bf16, DType::f64})
    for (bool logarithm : {false, true}) {
      Doubles x = rounded(noise(rows * n * inner, 4), dtype), y(x.size());
      for (std::int64_t r = 0; r < rows * inner; ++r) {
        auto place = [&](std::int64_t i) { return at((r / inner * n + i) * inner + r % inner); };
        Doubles shifted, e;
        double top = -2, sum = 0;
        for (std::int64_t i = 0; i < n; ++i) top = std::max(top, x[place(i)]);
        for (std::int64_t i = 0; i < n; ++i) shifted.push_back(x[place(i)] - top);
        shifted = rounded(shifted, dtype);
        for (double v : shifted) e.push_back(std::exp(v));
        e = rounded(e, dtype);
        for (double v : e) sum += v;
        sum = rounded({sum}, dtype)[0];
        double log_sum = rounded({std::log(sum)}, dtype)[0];
        for (std::int64_t i = 0; i < n; ++i) y[place(i)] = logarithm ? shifted[at(i)] - log_sum : e[at(i)] / sum;
      }
      Case c;
      int in = c.input({rows, n, inner}, x, dtype), out = c.value({rows, n, inner}, dtype);
      c.node(logarithm ? "LogSoftmax" : "Softmax", {in}, {out}, {{"axis", std::int64_t{1}}});
      c.output(out);
      check_all(c, {rounded(y, dtype)}, dtype == DType::f64 ? 1e-14 : 1e-6);
    }
}

TEST_CASE("cpu: f16 operands that are empty, and a refusal that says what f32 lacks") {
  Case c;
  int in = c.input({0, 4}, {}, DType::f16), right = c.constant({4, 3}, Doubles(12, 1.0), DType::f16), out = c.value({0, 3}, DType::f16);
  c.node("MatMul", {in, right}, {out});
  c.output(out);
  check_exact(c, {Doubles{}});

  Case refused;
  int image = refused.input({1, 1, 4}, Doubles(4, 1.0), DType::f16), result = refused.value({1, 1, 2}, DType::f16);
  refused.node("MaxPool", {image}, {result, refused.value({1, 1, 2}, DType::i64)}, {{"kernel_shape", std::vector<std::int64_t>{2}}, {"strides", std::vector<std::int64_t>{2}}});
  refused.output(result);
  Device device("threads=1");
  std::string reason;
  CHECK(refused.offers(device, &reason).empty());
  CHECK_MESSAGE(reason.find("widened to f32: MaxPool") != std::string::npos, reason);
}
