// Every planted fault of the CPU backend changes a result that it should change; without one, nothing is wrong.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "tests/backends/cpu_case.h"

using namespace cpu_test;

namespace {

// Builds a region whose result the fault must change.
void gemm(Case& c, const char* after) {
  std::int64_t m = 7, k = 37, n = 70;
  int x = c.input({m, k}, noise(m * k, 1)), w = c.constant({k, n}, noise(k * n, 2)), b = c.constant({n}, noise(n, 3)), r = c.input({m, n}, noise(m * n, 4));
  int p = c.value({m, n}), q = c.value({m, n}), s = c.value({m, n}), y = c.value({m, n});
  c.node("MatMul", {x, w}, {p});
  c.node("Add", {p, b}, {q});
  c.node("Add", {q, r}, {s});
  c.node(after, {s}, {y});
  c.output(y);
}

void batched(Case& c) {
  int a = c.input({3, 4, 5}, noise(60, 1)), b = c.input({3, 5, 6}, noise(90, 2)), y = c.value({3, 4, 6});
  c.node("MatMul", {a, b}, {y});
  c.output(y);
}

void conv(Case& c, std::int64_t stride, std::int64_t dilation, std::int64_t groups) {
  std::int64_t channels = 16, size = 9, out = (size + 2 * dilation - 2 * dilation - 1) / stride + 1;
  int x = c.input({1, channels, size, size}, noise(channels * size * size, 1));
  int w = c.constant({channels, channels / groups, 3, 3}, noise(channels * channels / groups * 9, 2)), y = c.value({1, channels, out, out});
  c.node("Conv", {x, w}, {y},
         {{"kernel_shape", Extents{3, 3}}, {"strides", Extents{stride, stride}}, {"dilations", Extents{dilation, dilation}},
          {"pads", Extents{dilation, dilation, dilation, dilation}}, {"group", groups}});
  c.output(y);
}

void conv_transpose(Case& c) {
  int x = c.input({1, 4, 3, 3}, noise(36, 1)), w = c.constant({4, 5, 4, 4}, noise(320, 2)), y = c.value({1, 5, 6, 6});
  c.node("ConvTranspose", {x, w}, {y}, {{"kernel_shape", Extents{4, 4}}, {"strides", Extents{2, 2}}, {"pads", Extents{1, 1, 1, 1}}});
  c.output(y);
}

void pool(Case& c, const char* op) {
  int x = c.input({1, 5, 6, 6}, noise(180, 1)), y = c.value({1, 5, 3, 3});
  c.node(op, {x}, {y}, {{"kernel_shape", Extents{2, 2}}, {"strides", Extents{2, 2}}});
  c.output(y);
}

void one(Case& c, const char* op) {
  int x = c.input({3, 10}, noise(30, 1)), s = c.constant({10}, noise(10, 2)), b = c.constant({10}, noise(10, 3)), y = c.value({3, 10});
  std::string name = op;
  if (name == "Softmax") c.node(op, {x}, {y}, {{"axis", -1}});
  else if (name == "Mul") c.node(op, {x, s}, {y});
  else c.node(op, {x, s, b}, {y}, {{"axis", -1}, {"epsilon", 1e-5}});
  c.output(y);
}

struct Planted {
  const char* fault;
  std::function<void(Case&)> build;
};

const Planted planted[] = {
    {"gemm_last_column", [](Case& c) { gemm(c, "Relu"); }},
    {"gemm_k_tail", [](Case& c) { gemm(c, "Relu"); }},
    {"gemm_bias_shift", [](Case& c) { gemm(c, "Relu"); }},
    {"gemm_bias_dropped", [](Case& c) { gemm(c, "Relu"); }},
    {"gemm_activation_dropped", [](Case& c) { gemm(c, "Relu"); }},
    {"gemm_activation_dropped", [](Case& c) { gemm(c, "Tanh"); }},
    {"gemm_residual_dropped", [](Case& c) { gemm(c, "Tanh"); }},
    {"gemm_batch_repeat", batched},
    {"conv_last_channel", [](Case& c) { conv(c, 1, 1, 1); }},
    {"conv_border_row", [](Case& c) { conv(c, 1, 1, 1); }},
    {"conv_stride_phase", [](Case& c) { conv(c, 2, 1, 1); }},
    {"conv_stride_phase", [](Case& c) { conv(c, 2, 1, 16); }},
    {"conv_dilation", [](Case& c) { conv(c, 1, 2, 1); }},
    {"conv_last_tap", [](Case& c) { conv(c, 1, 1, 1); }},
    {"conv_group_shift", [](Case& c) { conv(c, 1, 1, 2); }},
    {"conv_group_shift", [](Case& c) { conv(c, 1, 1, 16); }},
    {"depthwise_channel_tail", [](Case& c) { conv(c, 1, 1, 16); }},
    {"deconv_phase", conv_transpose},
    {"pool_window", [](Case& c) { pool(c, "MaxPool"); }},
    {"pool_divisor", [](Case& c) { pool(c, "AveragePool"); }},
    {"norm_epsilon", [](Case& c) { one(c, "LayerNormalization"); }},
    {"softmax_tail", [](Case& c) { one(c, "Softmax"); }},
    {"elementwise_broadcast", [](Case& c) { one(c, "Mul"); }},
};

}  // namespace

TEST_CASE("cpu: each planted fault shows") {
  for (const Planted& p : planted)
    for (const char* isa : {"portable", "avx2", "avx512"}) {
      Device good(std::string("threads=2 isa=") + isa), bad(std::string("threads=2 isa=") + isa + " fault=" + p.fault);
      if (!good.handle) continue;
      REQUIRE(bad.handle);
      Case c;
      p.build(c);
      std::vector<Offered> offers = c.offers(good);
      REQUIRE(!offers.empty());
      for (const Offered& offered : offers) {
        INFO(std::string(p.fault), " ", offered.kernel);
        Doubles right = c.run(good, offered).at(0), wrong = c.run(bad, offered).at(0);
        CHECK(relative_l2(wrong, right) > 1e-4);
      }
    }
  Device unknown("fault=gremlin");
  CHECK(unknown.handle == nullptr);
  CHECK(unknown.error == "the cpu device has no planted fault \"gremlin\"");
}
