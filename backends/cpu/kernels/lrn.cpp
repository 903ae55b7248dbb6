// LRN of f32: y = x / (bias + alpha / size * sum of the squares of `size` neighbouring channels)^beta.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/cpu/kernel.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// As the tensor lies in memory: outer x channels x inner numbers.
struct Lrn {
  std::int64_t outer = 1, channels = 1, inner = 1, before = 0, after = 0;
  float share = 0, bias = 1, beta = 0.75f;
};

constexpr std::int64_t tile = 64;

// Up to a tile of columns of one outer index.
void run_tile(const Lrn& l, const float* x, float* y, std::int64_t columns) {
  for (std::int64_t c = 0; c < l.channels; ++c) {
    std::array<float, tile> squares{};
    for (std::int64_t k = std::max<std::int64_t>(0, c - l.before); k < std::min(l.channels, c + l.after + 1); ++k)
      for (std::int64_t j = 0; j < columns; ++j) squares[static_cast<std::size_t>(j)] += x[k * l.inner + j] * x[k * l.inner + j];
    for (std::int64_t j = 0; j < columns; ++j) y[c * l.inner + j] = x[c * l.inner + j] / std::pow(l.bias + l.share * squares[static_cast<std::size_t>(j)], l.beta);
  }
}

Status run(const Lrn& l, Pool& pool, const float* x, float* y) {
  std::int64_t across = (l.inner + tile - 1) / tile;
  pool.run(l.outer * across, [&](std::int64_t chunk, int) {
    std::int64_t column = chunk % across * tile, place = chunk / across * l.channels * l.inner + column;
    run_tile(l, x + place, y + place, std::min(tile, l.inner - column));
  });
  return {};
}

}  // namespace

Offers lrn_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->is("LRN")) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y || x->input < 0 || x->rank() < 2) return unsupported("LRN of a constant, or with no result");
  if (x->dtype != DType::f32) return unsupported(text("LRN of ", infini::name(x->dtype), ": the kernel is for f32"));
  // A window wider than the channels reaches no further.
  std::int64_t size = node->integer("size", 1), channels = x->extents[1];
  Lrn l{.channels = channels, .before = std::min((size - 1) / 2, channels), .after = std::min(size / 2, channels), .share = node->number("alpha", 1e-4f) / static_cast<float>(size),
        .bias = node->number("bias", 1), .beta = node->number("beta", 0.75f)};
  for (const Order& order : {Order{}, channels_last(x->rank())}) {
    if (!offers.empty() && order.empty()) break;
    std::int64_t spatial = count(x->extents, 2, x->rank());
    l.outer = x->extents[0] * (order.empty() ? 1 : spatial);
    l.inner = order.empty() ? spatial : 1;
    Candidate c;
    c.kernel = order.empty() ? "lrn" : "lrn_nhwc";
    if (!order.empty()) c.input_orders = c.output_orders = {order};
    c.cost_ns = device.cost(static_cast<double>(x->count()) * (30.0 + 2.0 * static_cast<double>(l.before + l.after)), 2.0 * static_cast<double>(x->bytes()), 0.25);
    c.prepare = [l, from = x->input, to = y->output](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
      return kernel_of([=](const Launch& launch) { return run(l, launch.device.pool, launch.input<float>(from), launch.output<float>(to)); });
    };
    offers.push_back(std::move(c));
  }
  return offers;
}

}  // namespace infini::cpu
