// Depthwise convolution of f32, channels last: one result a channel, taps found by pointers as in conv.cpp.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/spatial.h"
#include "backends/cpu/kernels/window.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

constexpr int tile = 4;  // output pixels at a time

struct Depthwise {
  Window window;
  std::vector<Tap> taps;
  std::int64_t images = 1, channels = 1;
  const it_spatial_kernels* spatial = nullptr;
  const it_vector_kernels* vectors = nullptr;
  std::vector<float> turned;   // constant weights as [tap][channel]
  Operand weights;             // others: turned at launch
  Epilogue epilogue;
  int input = 0, output = 0;
  bool one_group = false;      // planted fault
};

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(Depthwise d, int threads)
      : d_(std::move(d)), zeros_(static_cast<std::size_t>(d_.channels), 0.0f), scratch_(static_cast<std::size_t>(threads)) {}
  std::span<const float> packed() const override { return d_.turned; }
  Status launch(const Launch& launch) override;

 private:
  struct Scratch {
    std::vector<const float*> pointers;
    std::vector<float> temps;
  };
  void pixels(const float* x, const float* w, float* y, const BoundEpilogue& bound, std::int64_t first, std::int64_t count, Scratch& scratch) const;

  Depthwise d_;
  std::vector<float> zeros_;
  std::vector<Scratch> scratch_;
};

void DepthwiseKernel::pixels(const float* x, const float* w, float* y, const BoundEpilogue& bound, std::int64_t first, std::int64_t count,
                             Scratch& scratch) const {
  Corner corner[tile];
  float* rows[tile];
  it_depthwise a{};
  a.taps = static_cast<std::int64_t>(d_.taps.size());
  a.channels = d_.channels;
  a.w = w;
  a.bias = bound.bias;
  a.has_residual = bound.residual != nullptr;
  if (a.has_residual) a.residual = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(bound.residual) - reinterpret_cast<std::uintptr_t>(y));
  a.lo = d_.epilogue.lo;
  a.hi = d_.epilogue.hi;
  a.y = rows;
  for (std::int64_t done = 0; done < count; done += tile) {
    std::int64_t n = std::min<std::int64_t>(tile, count - done);
    corners(d_.window, first + done, n, corner);
    const float** pointer = scratch.pointers.data();
    for (const Tap& tap : d_.taps)
      for (std::int64_t p = 0; p < n; ++p)
        *pointer++ = inside(d_.window, corner[p], tap) ? x + (corner[p].flat + tap.flat) * d_.channels : zeros_.data();
    for (std::int64_t p = 0; p < n; ++p) rows[p] = y + (first + done + p) * d_.channels;
    a.x = scratch.pointers.data();
    a.pixels = static_cast<std::int32_t>(n);
    d_.spatial->depthwise(&a);
  }
  if (!d_.epilogue.plain())
    run_steps(bound, *d_.vectors, y, y + first * d_.channels, count, d_.channels, d_.channels, 0, scratch.temps.data());
}

// Weights [channel][1][tap] as [tap][channel]; may be unaligned.
void turn(const Depthwise& d, const std::byte* from, float* to) {
  std::int64_t taps = static_cast<std::int64_t>(d.taps.size());
  for (std::int64_t c = 0; c < d.channels; ++c)
    for (std::int64_t t = 0; t < taps; ++t) std::memcpy(to + t * d.channels + c, from + 4 * ((d.one_group ? 0 : c) * taps + t), sizeof(float));
}

Status DepthwiseKernel::launch(const Launch& launch) {
  BoundEpilogue bound(d_.epilogue, launch);
  const float* w = d_.turned.data();
  if (d_.weights.exists()) {
    float* room = static_cast<float*>(launch.workspace);
    turn(d_, reinterpret_cast<const std::byte*>(d_.weights.at(launch)), room);
    w = room;
  }
  std::int64_t pixels_all = d_.images * d_.window.pixels_out(), grain = std::clamp<std::int64_t>(16384 / std::max<std::int64_t>(1, d_.channels), tile, 256);
  grain = (grain + tile - 1) / tile * tile;
  for (Scratch& scratch : scratch_) {
    scratch.pointers.resize(d_.taps.size() * tile);
    scratch.temps.resize(static_cast<std::size_t>(d_.epilogue.program.temps * block_floats));
  }
  const float* x = launch.input<float>(d_.input);
  float* y = launch.output<float>(d_.output);
  launch.device.pool.run((pixels_all + grain - 1) / grain, [&](std::int64_t chunk, int thread) {
    std::int64_t first = chunk * grain;
    pixels(x, w, y, bound, first, std::min(grain, pixels_all - first), scratch_[static_cast<std::size_t>(thread)]);
  });
  return {};
}

Result<Depthwise> plan(const Region& region, Device& device) {
  const Node& node = region.nodes[0];
  const Value &x = *region.input(node, 0), &w = *region.input(node, 1), *b = region.input(node, 2);
  for (const Value* operand : {&x, &w, b})
    if (operand && operand->dtype != DType::f32) return unsupported(text("Conv of ", infini::name(operand->dtype), ": the kernel is for f32"));
  const Value* y = region.output(node, 0);
  if (!y || x.is_constant()) return unsupported("Conv of a constant or with no result");
  Depthwise d;
  IT_TRY(d.window, Window::of(node, x.extents, Extents(w.extents.begin() + 2, w.extents.end()), y->extents));
  for (std::size_t i = 0; i < 3; ++i) {
    if (device.has(Fault::conv_stride_phase) && d.window.stride[i] > 1) d.window.pad[i] -= 1;
    if (device.has(Fault::conv_dilation)) d.window.dilation[i] = 1;
  }
  d.one_group = device.has(Fault::conv_group_shift);
  d.images = x.extents[0];
  d.channels = x.extents[1];
  d.taps = taps_of(d.window);
  d.spatial = &IT_CPU_TABLE(device.isa, it_spatial);
  d.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  if (!w.is_constant()) d.weights = Operand::of(w);
  IT_TRY(d.epilogue, Epilogue::make(region, device, 1, channels_last(x.rank()), b ? Operand::of(*b) : Operand{}));
  d.input = x.input;
  d.output = result_of(region).output;
  return d;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Region& region, Device& device) {
  IT_TRY(Depthwise d, plan(region, device));
  if (!d.weights.exists()) {
    d.turned.resize(d.taps.size() * static_cast<std::size_t>(d.channels));
    turn(d, region.input(region.nodes[0], 1)->data, d.turned.data());
    if (device.has(Fault::depthwise_channel_tail) && d.channels > 1)
      for (std::size_t t = 1; t <= d.taps.size(); ++t) d.turned[t * static_cast<std::size_t>(d.channels) - 1] = d.turned[t * static_cast<std::size_t>(d.channels) - 2];
  }
  return std::unique_ptr<Kernel>(std::make_unique<DepthwiseKernel>(std::move(d), device.pool.threads()));
}

}  // namespace

Offers depthwise_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  if (region.nodes.empty() || !region.nodes[0].is("Conv")) return offers;
  const Value *x = region.input(region.nodes[0], 0), *w = region.input(region.nodes[0], 1);
  std::int64_t groups = region.nodes[0].integer("group", 1);
  if (!x || !w || w->rank() < 3 || x->rank() != w->rank() || groups < 2 || groups != x->extents[1] || groups != w->extents[0] || w->extents[1] != 1) return offers;
  IT_TRY(Depthwise d, plan(region, device));
  Candidate candidate;
  candidate.kernel = text("depthwise_nhwc_", name(device.isa));
  Order order = channels_last(x->rank());
  candidate.input_orders = orders_beside(region, region.nodes[0].inputs[0], order, d.epilogue);
  candidate.output_orders = {order};
  std::size_t weights = d.taps.size() * static_cast<std::size_t>(d.channels) * sizeof(float);
  (d.weights.exists() ? candidate.workspace : candidate.packed) = weights;
  double results = static_cast<double>(d.images * d.window.pixels_out() * d.channels);
  candidate.cost_ns = device.cost(2 * results * static_cast<double>(d.taps.size()), 4 * (results + static_cast<double>(x->count())), 0.35) +
                      cost_per_element(d.epilogue.program, device) * results / device.pool.threads();
  candidate.prepare = [&region, &device](std::span<const float>) { return make_kernel(region, device); };
  offers.push_back(std::move(candidate));
  return offers;
}

}  // namespace infini::cpu
