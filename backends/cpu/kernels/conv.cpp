// Convolution of f32, channels last: a matrix product whose left rows are pixels, tap after tap, found by pointers; taps outside the input
// read a row of zeros. Inputs of few channels are first copied with their border, so that a window's row is one run of numbers.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/matrix.h"
#include "backends/cpu/kernels/window.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Conv {
  Window window;                    // of the copy with its border, if there is one
  std::vector<Tap> taps;
  std::int64_t images = 1, channels = 1, results = 1, groups = 1;
  std::int64_t taps_each = 1, run = 1;  // of the product: taps, and floats that follow one another at each
  bool bordered = false, planar = false;  // planar: the input is row-major (NCHW)
  Window original;                  // with the border not yet copied
  const it_tile_kernels* tiles = nullptr;
  const it_vector_kernels* vectors = nullptr;
  Panels panels;                    // of one group
  std::shared_ptr<Buffer> packed;   // null: the weights are not constant
  Operand weights;                  // not constant: packed at launch
  Weights form;
  Epilogue epilogue;
  int input = 0, output = 0;
  bool reads_border_row = false;    // planted fault
  std::int64_t group_step = 0;      // channels from group to group
  std::size_t border_floats = 0, weight_floats = 0;
};

struct Left {
  const Conv* conv;
  const float* data;
  const float* zeros;
};

void left_rows(const void* context, std::int64_t group, std::int64_t first, std::int64_t rows, const float** pointers) {
  const Left& left = *static_cast<const Left*>(context);
  const Conv& conv = *left.conv;
  const Window& w = conv.window;
  Corner corner[8];
  corners(w, first, rows, corner);
  const float* base = left.data + group * conv.group_step;
  for (const Tap& tap : conv.taps) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* place = base + (corner[r].flat + tap.flat) * conv.channels;
      *pointers++ = inside(w, corner[r], tap) ? place : left.zeros;
    }
  }
  if (!conv.reads_border_row) return;
  pointers -= static_cast<std::int64_t>(conv.taps.size()) * rows;
  for (const Tap& tap : conv.taps)
    for (std::int64_t r = 0; r < rows; ++r, ++pointers)
      if (corner[r].height + tap.height < 0) *pointers = base;
}

class ConvKernel final : public Kernel {
 public:
  ConvKernel(Conv conv, int threads) : c_(std::move(conv)), scratch_(threads), zeros_(static_cast<std::size_t>(c_.run + 16), 0.0f) {}
  std::span<const float> packed() const override { return c_.packed ? std::span<const float>(c_.packed->data(), c_.packed->size()) : std::span<const float>(); }
  Status launch(const Launch& launch) override;

 private:
  void copy_with_border(Pool& pool, const float* from, float* to) const;
  void copy_row(const float* from, float* to, std::int64_t image, std::int64_t depth, std::int64_t height) const;

  Conv c_;
  ProductScratch scratch_;
  std::vector<float> zeros_;
};

// One row of the copy: `to` has window.in[2] pixels.
void ConvKernel::copy_row(const float* from, float* to, std::int64_t image, std::int64_t depth, std::int64_t height) const {
  const Window &o = c_.original, &w = c_.window;
  std::int64_t channels = c_.channels, d = depth - o.pad[0], h = height - o.pad[1];
  std::int64_t before = std::clamp<std::int64_t>(o.pad[2], 0, w.in[2]), middle = std::clamp<std::int64_t>(w.in[2] - before, 0, o.in[2]);
  if (d < 0 || d >= o.in[0] || h < 0 || h >= o.in[1]) {
    std::fill(to, to + w.in[2] * channels, 0.0f);
    return;
  }
  std::fill(to, to + before * channels, 0.0f);
  float* inner = to + before * channels;
  std::int64_t plane = o.pixels_in();
  if (c_.planar) {
    const float* row = from + image * channels * plane + (d * o.in[1] + h) * o.in[2];
    for (std::int64_t channel = 0; channel < channels; ++channel)
      for (std::int64_t x = 0; x < middle; ++x) inner[x * channels + channel] = row[channel * plane + x];
  } else {
    std::memcpy(inner, from + (image * plane + (d * o.in[1] + h) * o.in[2]) * channels, static_cast<std::size_t>(middle * channels) * sizeof(float));
  }
  std::fill(inner + middle * channels, to + w.in[2] * channels, 0.0f);
}

void ConvKernel::copy_with_border(Pool& pool, const float* from, float* to) const {
  const Window& w = c_.window;
  std::int64_t rows = c_.images * w.in[0] * w.in[1], row = w.in[2] * c_.channels, grain = std::max<std::int64_t>(1, 8192 / row);
  pool.run((rows + grain - 1) / grain, [&](std::int64_t chunk, int) {
    for (std::int64_t i = chunk * grain; i < std::min(rows, (chunk + 1) * grain); ++i)
      copy_row(from, to + i * row, i / (w.in[0] * w.in[1]), i / w.in[1] % w.in[0], i % w.in[1]);
  });
}

void pack_groups(Pool& pool, const Conv& c, const std::byte* weights, float* to) {
  std::int64_t count = c.panels.count();
  pool.run(c.groups * count, [&](std::int64_t i, int) {
    Weights from = c.form;
    from.data = weights + 4 * (i / count) * (c.results / c.groups) * from.column_stride;
    pack_panel(c.panels, from, i % count, to + i / count * c.panels.floats());
  });
}

Status ConvKernel::launch(const Launch& launch) {
  float* room = static_cast<float*>(launch.workspace);
  const float* data = launch.input<float>(c_.input);
  BoundEpilogue bound(c_.epilogue, launch);
  if (c_.bordered) {
    copy_with_border(launch.device.pool, data, room);
    data = room;
  }
  const float* packed = c_.packed ? c_.packed->data() : nullptr;
  if (c_.weights.exists()) {
    pack_groups(launch.device.pool, c_, reinterpret_cast<const std::byte*>(c_.weights.at(launch)), room + c_.border_floats);
    packed = room + c_.border_floats;
  }
  Left left{&c_, data, zeros_.data()};
  Product p;
  p.kernels = c_.tiles;
  p.vectors = c_.vectors;
  p.batches = c_.groups;
  p.m = c_.images * c_.window.pixels_out();
  p.n = c_.results / c_.groups;
  p.taps = c_.taps_each;
  p.k = c_.run;
  p.left = left_rows;
  p.context = &left;
  p.b = packed;
  p.c = launch.output<float>(c_.output);
  p.ldc = c_.results;
  for (std::int64_t g = 0; g < c_.groups; ++g) {
    p.b_offset.push_back(g * c_.panels.floats());
    p.c_offset.push_back(g * p.n);
    p.column.push_back(g * p.n);
  }
  run_product(launch.device.pool, p, bound, scratch_);
  return {};
}

// The copy with its border: windows of it have no padding, and a kernel row is one tap.
void plan_border(Conv& c) {
  c.bordered = true;
  c.original = c.window;
  Window& w = c.window;
  for (std::size_t i = 0; i < 3; ++i) {
    w.in[i] = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    w.pad[i] = w.pad_end[i] = 0;
  }
  c.border_floats = static_cast<std::size_t>(c.images * w.pixels_in() * c.channels);
  if (w.dilation[2] != 1) return;
  c.run = w.kernel[2] * c.channels;
  c.taps_each = w.kernel[0] * w.kernel[1];
}

void plant_in_window(Conv& c, const Device& device) {
  Window& w = c.window;
  for (std::size_t i = 0; i < 3; ++i) {
    if (device.has(Fault::conv_stride_phase) && w.stride[i] > 1) w.pad[i] -= 1;
    if (device.has(Fault::conv_dilation)) w.dilation[i] = 1;
  }
  c.reads_border_row = device.has(Fault::conv_border_row);
}

void plant_in_weights(const Conv& c, const Device& device, float* packed) {
  for (std::int64_t panel = 0; panel < c.panels.count(); ++panel) {
    float* rows = packed + c.panels.offset(panel);
    std::int64_t stride = c.panels.stride(panel), depth = c.panels.depth(), tap = c.channels / c.groups;
    if (device.has(Fault::conv_last_tap) && depth > tap) std::fill(rows + (depth - tap) * stride, rows + depth * stride, 0.0f);
    if (device.has(Fault::conv_last_channel) && panel + 1 == c.panels.count())
      for (std::int64_t i = 0; i < depth; ++i) rows[i * stride + c.panels.columns(panel) - 1] = 0;
  }
}

Result<Conv> plan(const Region& region, Device& device, bool bordered, bool planar) {
  const Node& node = region.nodes[0];
  const Value *x = region.input(node, 0), *w = region.input(node, 1), *b = region.input(node, 2);
  if (!x || !w || x->is_constant()) return unsupported("Conv of a constant or of nothing");
  for (const Value* operand : {x, w, b})
    if (operand && operand->dtype != DType::f32) return unsupported(text("Conv of ", infini::name(operand->dtype), ": the kernel is for f32"));
  const Value* y = region.output(node, 0);
  if (!y || w->rank() < 3) return unsupported(text("Conv with weights of rank ", w->rank()));
  Conv c;
  IT_TRY(c.window, Window::of(node, x->extents, Extents(w->extents.begin() + 2, w->extents.end()), y->extents));
  plant_in_window(c, device);
  c.images = x->extents[0];
  c.channels = x->extents[1];
  c.results = w->extents[0];
  c.groups = node.integer("group", 1);
  if (c.groups < 1 || c.results % c.groups != 0 || c.channels != w->extents[1] * c.groups) return usage_error(text("Conv with ", c.channels, " channels in ", c.groups, " groups"));
  c.run = c.channels / c.groups;
  c.taps_each = c.window.taps();
  c.planar = planar;
  if (bordered) plan_border(c);
  c.taps = taps_of(c.window);
  if (c.taps_each != c.window.taps()) {
    std::vector<Tap> rows;
    for (std::size_t i = 0; i < c.taps.size(); i += static_cast<std::size_t>(c.window.kernel[2])) rows.push_back(c.taps[i]);
    c.taps = std::move(rows);
  }
  c.group_step = device.has(Fault::conv_group_shift) ? 0 : c.channels / c.groups;
  c.tiles = &IT_CPU_TABLE(device.isa, it_tile);
  c.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  std::int64_t inner = c.channels / c.groups, taps = c.window.taps();
  c.panels = Panels(*c.tiles, taps * inner, c.results / c.groups);
  c.form.taps = taps;
  c.form.inner = inner;
  c.form.tap_stride = 1;
  c.form.inner_stride = taps;
  c.form.column_stride = taps * inner;
  if (!w->is_constant()) {
    c.weights = Operand::of(*w);
    c.weight_floats = static_cast<std::size_t>(c.groups * c.panels.floats());
  }
  IT_TRY(c.epilogue, Epilogue::make(region, device, 1, channels_last(y->rank()), b ? Operand::of(*b) : Operand{}));
  c.input = x->input;
  c.output = result_of(region).output;
  return c;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Region& region, Device& device, bool bordered, bool planar, std::span<const float> kept) {
  IT_TRY(Conv c, plan(region, device, bordered, planar));
  if (!c.weights.exists()) {
    const std::byte* weights = region.input(region.nodes[0], 1)->data;
    std::string key = text("conv ", reinterpret_cast<std::uintptr_t>(weights), " ", c.results, " ", c.groups, " ", c.form.taps, " ", c.form.inner);
    IT_TRY(c.packed, pack_once(device, key, static_cast<std::size_t>(c.groups * c.panels.floats()), kept, [&](float* to) {
      pack_groups(device.pool, c, weights, to);
      if (device.fault != Fault::none) plant_in_weights(c, device, to);
    }));
  }
  return std::unique_ptr<Kernel>(std::make_unique<ConvKernel>(std::move(c), device.pool.threads()));
}

Result<Candidate> candidate(const Region& region, Device& device, bool bordered, bool planar) {
  IT_TRY(Conv c, plan(region, device, bordered, planar));
  const Value& x = *region.input(region.nodes[0], 0);
  Candidate result;
  std::string form = c.window.pointwise() ? "1x1" : bordered ? "bordered" : "direct";
  result.kernel = text("conv_", form, planar ? "_nchw_" : "_nhwc_", name(device.isa));
  Order order = channels_last(x.rank());
  result.input_orders = orders_beside(region, region.nodes[0].inputs[0], order, c.epilogue);
  if (planar) result.input_orders[static_cast<std::size_t>(x.input)] = {};
  result.output_orders = {order};
  result.workspace = (c.border_floats + c.weight_floats) * sizeof(float);
  if (!c.weights.exists()) result.packed = static_cast<std::size_t>(c.groups * c.panels.floats()) * sizeof(float);
  double m = static_cast<double>(c.images * c.window.pixels_out()), weights = static_cast<double>(c.results * c.panels.depth());
  // Narrow groups and short runs leave registers and loops half empty.
  double columns = static_cast<double>(c.results / c.groups), wide = c.tiles->width;
  double efficiency = 0.85 * std::min(1.0, columns / wide) * std::min(1.0, 0.2 + static_cast<double>(c.run) / 20.0);
  double bytes = 4 * (weights + m * static_cast<double>(c.results) + static_cast<double>(x.count()) * (bordered ? 3 : 1));
  result.cost_ns = device.cost(2 * m * weights, bytes, efficiency) + (bordered ? 700.0 : 0.0) +
                   cost_per_element(c.epilogue.program, device) * m * static_cast<double>(c.results) / device.pool.threads();
  result.prepare = [&region, &device, bordered, planar](std::span<const float> kept) { return make_kernel(region, device, bordered, planar, kept); };
  return result;
}

}  // namespace

Offers conv_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  if (region.nodes.empty() || !region.nodes[0].is("Conv")) return offers;
  if (const Value* w = region.input(region.nodes[0], 1); w && w->rank() > 1) {
    std::int64_t groups = region.nodes[0].integer("group", 1);
    if (groups > 1 && w->extents[1] == 1 && w->extents[0] == groups) return offers;  // depthwise
  }
  IT_TRY(Candidate direct, candidate(region, device, false, false));
  const Value& x = *region.input(region.nodes[0], 0);
  bool few = x.extents[1] <= 8 && region.nodes[0].integer("group", 1) == 1 && count(x.extents, 2, x.rank()) > 1;
  if (few) {
    IT_TRY(Candidate nchw, candidate(region, device, true, true));
    IT_TRY(Candidate nhwc, candidate(region, device, true, false));
    offers.push_back(std::move(nchw));
    offers.push_back(std::move(nhwc));
  }
  offers.push_back(std::move(direct));
  return offers;
}

}  // namespace infini::cpu
