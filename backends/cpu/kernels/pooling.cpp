// MaxPool, AveragePool, GlobalMaxPool and GlobalAveragePool of f32. Channels last: vectors of channels over pointers to pixels;
// row-major: window by window.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/spatial.h"
#include "backends/cpu/kernels/window.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Pooling {
  Window window;
  std::vector<Tap> taps;
  std::int64_t images = 1, channels = 1;
  bool maximum = false;
  bool counts_padding = false;
  bool wrong_divisor = false;  // planted fault
  const it_spatial_kernels* spatial = nullptr;
};

// What an average divides by: the taps inside the data, or inside data and padding. Over no tap at all it is 0 / 0, not a number.
std::int64_t divisor(const Pooling& p, const Corner& corner, std::int64_t inside_count) {
  std::int64_t count = inside_count;
  if (p.counts_padding) {
    const Window& w = p.window;
    count = 0;
    for (const Tap& tap : p.taps) {
      count += corner.depth + tap.depth < w.in[0] + w.pad_end[0] && corner.height + tap.height < w.in[1] + w.pad_end[1] &&
               corner.width + tap.width < w.in[2] + w.pad_end[2];
    }
  }
  return count + (p.wrong_divisor ? 1 : 0);
}

// One output pixel, all channels. pointers: room for all taps.
void pool_pixel(const Pooling& p, const Corner& corner, const float* x, float* y, const float** pointers) {
  std::int64_t found = 0;
  for (const Tap& tap : p.taps)
    if (inside(p.window, corner, tap)) pointers[found++] = x + (corner.flat + tap.flat) * p.channels;
  if (found == 0) {
    std::fill(y, y + p.channels, p.maximum ? -std::numeric_limits<float>::infinity() : 0.0f / static_cast<float>(divisor(p, corner, 0)));
    return;
  }
  it_pool a{pointers, found, p.channels, y, p.maximum, 1.0f / static_cast<float>(divisor(p, corner, found))};
  p.spatial->pool(&a);
}

void pool_channels_last(Pool& pool, const Pooling& p, const float* x, float* y) {
  std::int64_t pixels = p.images * p.window.pixels_out();
  std::int64_t work = std::max<std::int64_t>(1, p.channels * static_cast<std::int64_t>(p.taps.size())), grain = std::clamp<std::int64_t>(65536 / work, 1, 256);
  pool.run((pixels + grain - 1) / grain, [&](std::int64_t chunk, int) {
    std::vector<const float*> pointers(p.taps.size());
    std::vector<Corner> corner(static_cast<std::size_t>(std::min(grain, pixels - chunk * grain)));
    corners(p.window, chunk * grain, static_cast<std::int64_t>(corner.size()), corner.data());
    for (std::size_t i = 0; i < corner.size(); ++i)
      pool_pixel(p, corner[i], x, y + (chunk * grain + static_cast<std::int64_t>(i)) * p.channels, pointers.data());
  });
}

// One channel of one image, row-major.
void pool_plane(const Pooling& p, const float* x, float* y) {
  std::vector<Corner> corner(static_cast<std::size_t>(p.window.pixels_out()));
  corners(p.window, 0, p.window.pixels_out(), corner.data());
  for (std::size_t i = 0; i < corner.size(); ++i) {
    float best = -std::numeric_limits<float>::infinity();
    double sum = 0;
    std::int64_t found = 0;
    for (const Tap& tap : p.taps) {
      if (!inside(p.window, corner[i], tap)) continue;
      float v = x[corner[i].flat + tap.flat];
      best = v > best || std::isnan(v) ? v : best;
      sum += static_cast<double>(v);
      ++found;
    }
    if (p.maximum) y[i] = best;
    else y[i] = static_cast<float>(sum / static_cast<double>(divisor(p, corner[i], found)));
  }
}

void pool_row_major(Pool& pool, const Pooling& p, const float* x, float* y) {
  pool.run(p.images * p.channels, [&](std::int64_t plane, int) { pool_plane(p, x + plane * p.window.pixels_in(), y + plane * p.window.pixels_out()); });
}

Result<Pooling> plan(const Region& region, Device& device) {
  const Node& node = region.nodes[0];
  const Value *x = region.input(node, 0), *y = region.output(node, 0);
  if (!x || !y || x->is_constant()) return unsupported(text(node.op(), " of a constant, or with no result"));
  if (x->dtype != DType::f32) return unsupported(text(node.op(), " of ", infini::name(x->dtype), ": the kernel is for f32"));
  if (region.output(node, 1)) return unsupported("MaxPool with Indices: the kernel makes values alone");
  if (x->rank() < 3) return unsupported(text(node.op(), " of rank ", x->rank()));
  Pooling p;
  bool global = node.op().substr(0, 6) == "Global";
  Extents kernel = node.integers("kernel_shape");
  if (global) {
    // All pixels in one window, whatever their axes.
    p.window.in[2] = p.window.kernel[2] = count(x->extents, 2, x->rank());
  } else {
    IT_TRY(p.window, Window::of(node, x->extents, kernel, y->extents));
  }
  if (device.has(Fault::pool_window) && p.window.kernel[2] > 1) --p.window.kernel[2];
  p.taps = taps_of(p.window);
  p.images = x->extents[0];
  p.channels = x->extents[1];
  p.maximum = node.is("MaxPool") || node.is("GlobalMaxPool");
  p.counts_padding = node.integer("count_include_pad", 0) != 0;
  p.wrong_divisor = device.has(Fault::pool_divisor);
  p.spatial = &IT_CPU_TABLE(device.isa, it_spatial);
  return p;
}

Candidate candidate(const Region& region, Device& device, const Pooling& p, bool last) {
  const Value &x = *region.input(region.nodes[0], 0), &y = *region.output(region.nodes[0], 0);
  Candidate c;
  c.kernel = last ? text("pool_nhwc_", name(device.isa)) : std::string("pool_nchw");
  if (last) c.input_orders = c.output_orders = {channels_last(x.rank())};
  double reads = static_cast<double>(y.count()) * static_cast<double>(p.taps.size());
  c.cost_ns = device.cost(last ? reads : reads * 60, 4 * static_cast<double>(x.count() + y.count()), last ? 0.2 : 1.0);
  int input = x.input, output = y.output;
  c.prepare = [p, last, input, output](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    return kernel_of([p, last, input, output](const Launch& launch) -> Status {
      auto run = last ? pool_channels_last : pool_row_major;
      run(launch.device.pool, p, launch.input<float>(input), launch.output<float>(output));
      return {};
    });
  };
  return c;
}

}  // namespace

Offers pooling_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("MaxPool") || node->is("AveragePool") || node->is("GlobalMaxPool") || node->is("GlobalAveragePool"))) return offers;
  IT_TRY(Pooling p, plan(region, device));
  offers.push_back(candidate(region, device, p, true));
  offers.push_back(candidate(region, device, p, false));
  return offers;
}

}  // namespace infini::cpu
