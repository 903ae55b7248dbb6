// Transposed convolution of f32, channels last, by phases: result pixels that are equal modulo the strides read the same taps, so each
// phase is a convolution without zeros in between.
#include <algorithm>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/matrix.h"
#include "backends/cpu/kernels/window.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// The result pixels first + step * j, j < count, by axis; `base`: the input pixel that tap distance 0 reads for j = 0.
struct Phase {
  Window::Triple first{}, count{}, base{};
  std::vector<Tap> taps;                  // distances, mostly negative
  std::vector<std::int64_t> weight_taps;  // their places among the weights
  Panels panels;                          // of one group
  std::int64_t offset = 0;                // of its panels in the packed weights
  std::int64_t pixels() const { return count[0] * count[1] * count[2]; }
};

struct Transposed {
  Window window;  // `in` and `out` are this operator's; pad: what is cut off in front of the result
  std::vector<Phase> phases;
  std::int64_t images = 1, channels = 1, results = 1, groups = 1, floats = 0;
  const it_tile_kernels* tiles = nullptr;
  const it_vector_kernels* vectors = nullptr;
  std::shared_ptr<Buffer> packed;  // null: the weights are not constant
  Operand weights;
  Epilogue epilogue;
  int input = 0, output = 0;
};

struct Left {
  const Transposed* conv;
  const Phase* phase;
  const float* data;
  const float* zeros;
  float* result;
};

// Position of pixel number `row` of a phase, axis by axis; returns the image.
std::int64_t position(const Phase& phase, std::int64_t row, Window::Triple& j) {
  for (std::size_t axis = 3; axis-- > 0;) {
    j[axis] = row % phase.count[axis];
    row /= phase.count[axis];
  }
  return row;
}

void left_rows(const void* context, std::int64_t group, std::int64_t first, std::int64_t rows, const float** pointers) {
  const Left& left = *static_cast<const Left*>(context);
  const Window& w = left.conv->window;
  Corner corner[8];
  for (std::int64_t r = 0; r < rows; ++r) {
    Window::Triple j;
    std::int64_t image = position(*left.phase, first + r, j);
    for (std::size_t axis = 0; axis < 3; ++axis) j[axis] += left.phase->base[axis];
    corner[r] = {static_cast<std::int32_t>(j[0]), static_cast<std::int32_t>(j[1]), static_cast<std::int32_t>(j[2]),
                 ((image * w.in[0] + j[0]) * w.in[1] + j[1]) * w.in[2] + j[2]};
  }
  const float* base = left.data + group * (left.conv->channels / left.conv->groups);
  for (const Tap& tap : left.phase->taps)
    for (std::int64_t r = 0; r < rows; ++r)
      *pointers++ = inside(w, corner[r], tap) ? base + (corner[r].flat + tap.flat) * left.conv->channels : left.zeros;
}

void result_rows(const void* context, std::int64_t group, std::int64_t first, std::int64_t rows, float** pointers) {
  const Left& left = *static_cast<const Left*>(context);
  const Window& w = left.conv->window;
  const Phase& phase = *left.phase;
  for (std::int64_t r = 0; r < rows; ++r) {
    Window::Triple j;
    std::int64_t image = position(phase, first + r, j);
    for (std::size_t axis = 0; axis < 3; ++axis) j[axis] = phase.first[axis] + j[axis] * w.stride[axis];
    std::int64_t pixel = ((image * w.out[0] + j[0]) * w.out[1] + j[1]) * w.out[2] + j[2];
    pointers[r] = left.result + pixel * left.conv->results + group * (left.conv->results / left.conv->groups);
  }
}

void pack(Pool& pool, const Transposed& t, const std::byte* weights, float* to) {
  std::int64_t taps = t.window.taps(), results = t.results / t.groups, channels = t.channels / t.groups;
  for (const Phase& phase : t.phases) {
    Weights form;
    form.taps = static_cast<std::int64_t>(phase.taps.size());
    form.inner = channels;
    form.inner_stride = results * taps;
    form.column_stride = taps;
    form.tap_places = phase.weight_taps;
    std::int64_t count = phase.panels.count();
    pool.run(t.groups * count, [&](std::int64_t i, int) {
      Weights from = form;
      from.data = weights + 4 * (i / count) * channels * results * taps;
      pack_panel(phase.panels, from, i % count, to + phase.offset + i / count * phase.panels.floats());
    });
  }
}

class TransposedKernel final : public Kernel {
 public:
  TransposedKernel(Transposed t, int threads) : t_(std::move(t)), scratch_(threads), zeros_(static_cast<std::size_t>(t_.channels), 0.0f) {}
  std::span<const float> packed() const override { return t_.packed ? std::span<const float>(t_.packed->data(), t_.packed->size()) : std::span<const float>(); }
  Status launch(const Launch& launch) override;

 private:
  Transposed t_;
  ProductScratch scratch_;
  std::vector<float> zeros_;
};

Status TransposedKernel::launch(const Launch& launch) {
  BoundEpilogue bound(t_.epilogue, launch);
  const float* packed = t_.packed ? t_.packed->data() : nullptr;
  if (t_.weights.exists()) {
    float* room = static_cast<float*>(launch.workspace);
    pack(launch.device.pool, t_, reinterpret_cast<const std::byte*>(t_.weights.at(launch)), room);
    packed = room;
  }
  for (const Phase& phase : t_.phases) {
    Left left{&t_, &phase, launch.input<float>(t_.input), zeros_.data(), launch.output<float>(t_.output)};
    Product p;
    p.kernels = t_.tiles;
    p.vectors = t_.vectors;
    p.batches = t_.groups;
    p.m = t_.images * phase.pixels();
    p.n = t_.results / t_.groups;
    p.taps = static_cast<std::int64_t>(phase.taps.size());
    p.k = t_.channels / t_.groups;
    p.left = left_rows;
    p.result = result_rows;
    p.context = &left;
    p.b = packed + phase.offset;
    p.c = left.result;
    for (std::int64_t g = 0; g < t_.groups; ++g) {
      p.b_offset.push_back(g * phase.panels.floats());
      p.column.push_back(g * p.n);
    }
    run_product(launch.device.pool, p, bound, scratch_);
  }
  return {};
}

// One axis of a phase: the result pixels with (pixel + pad) % stride == residue, and the taps that reach them.
struct AxisPhase {
  std::int64_t first = 0, count = 0, base = 0;
  std::vector<std::int64_t> taps, distances;
};

AxisPhase axis_phase(const Window& w, std::size_t axis, std::int64_t residue) {
  AxisPhase p;
  std::int64_t stride = w.stride[axis], pad = w.pad[axis];
  p.first = ((residue - pad) % stride + stride) % stride;
  p.count = p.first < w.out[axis] ? (w.out[axis] - p.first + stride - 1) / stride : 0;
  p.base = (p.first + pad - residue) / stride;
  for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
    if ((k * w.dilation[axis] - residue) % stride != 0) continue;
    p.taps.push_back(k);
    p.distances.push_back(-(k * w.dilation[axis] - residue) / stride);
  }
  return p;
}

void add_phase(Transposed& t, const AxisPhase (&axes)[3]) {
  const Window& w = t.window;
  Phase phase;
  for (std::size_t i = 0; i < 3; ++i) {
    phase.first[i] = axes[i].first;
    phase.count[i] = axes[i].count;
    phase.base[i] = axes[i].base;
  }
  if (phase.pixels() == 0) return;
  for (std::size_t d = 0; d < axes[0].taps.size(); ++d)
    for (std::size_t h = 0; h < axes[1].taps.size(); ++h)
      for (std::size_t x = 0; x < axes[2].taps.size(); ++x) {
        std::int64_t depth = axes[0].distances[d], height = axes[1].distances[h], width = axes[2].distances[x];
        phase.taps.push_back({static_cast<std::int32_t>(depth), static_cast<std::int32_t>(height), static_cast<std::int32_t>(width),
                              (depth * w.in[1] + height) * w.in[2] + width});
        phase.weight_taps.push_back((axes[0].taps[d] * w.kernel[1] + axes[1].taps[h]) * w.kernel[2] + axes[2].taps[x]);
      }
  phase.panels = Panels(*t.tiles, static_cast<std::int64_t>(phase.taps.size()) * (t.channels / t.groups), t.results / t.groups);
  phase.offset = t.floats;
  t.floats += t.groups * phase.panels.floats();
  t.phases.push_back(std::move(phase));
}

// Where the result's extents are given, they settle what is cut off in front (ONNX, ConvTranspose: output_shape and auto_pad).
Status settle_pads(const Node& node, std::size_t spatial, Window& w) {
  std::string_view mode = node.string("auto_pad", "NOTSET");
  bool settled = !node.integers("output_shape").empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER";
  std::vector<std::int64_t> extra = node.integers("output_padding");
  for (std::size_t i = 0; settled && i < spatial; ++i) {
    std::size_t axis = 3 - spatial + i;
    std::int64_t total = w.stride[axis] * (w.in[axis] - 1) + (w.kernel[axis] - 1) * w.dilation[axis] + 1 - w.out[axis], behind = i < extra.size() ? extra[i] : 0;
    if (total > INT32_MAX / 4 || behind > INT32_MAX / 4) return unsupported(text("ConvTranspose that cuts off ", std::max(total, behind), " positions"));
    total = std::max<std::int64_t>(0, total + behind);
    w.pad[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return {};
}

Result<Transposed> plan(const Region& region, Device& device) {
  const Node& node = region.nodes[0];
  const Value *x = region.input(node, 0), *w = region.input(node, 1), *b = region.input(node, 2), *y = region.output(node, 0);
  if (!x || !w || !y || x->is_constant() || w->rank() < 3) return unsupported("ConvTranspose of a constant, or with an operand left out");
  for (const Value* operand : {x, w, b})
    if (operand && operand->dtype != DType::f32) return unsupported(text("ConvTranspose of ", infini::name(operand->dtype), ": the kernel is for f32"));
  Transposed t;
  IT_TRY(t.window, Window::of(node, x->extents, Extents(w->extents.begin() + 2, w->extents.end()), y->extents));
  IT_TRY_VOID(settle_pads(node, w->rank() - 2, t.window));
  const Window& win = t.window;
  constexpr std::int64_t most_phases = 1 << 16;
  if (win.stride[0] > most_phases || win.stride[1] > most_phases / win.stride[0] || win.stride[2] > most_phases / win.stride[0] / win.stride[1])
    return unsupported(text("ConvTranspose with strides ", join(win.stride, ","), "; the kernel goes through up to ", most_phases, " phases"));
  t.images = x->extents[0];
  t.channels = x->extents[1];
  t.groups = node.integer("group", 1);
  t.results = w->extents[1] * t.groups;
  if (t.groups < 1 || t.channels % t.groups != 0 || w->extents[0] != t.channels)
    return usage_error(text("ConvTranspose with ", t.channels, " channels in ", t.groups, " groups"));
  t.tiles = &IT_CPU_TABLE(device.isa, it_tile);
  t.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  for (std::int64_t d = 0; d < win.stride[0]; ++d)
    for (std::int64_t h = 0; h < win.stride[1]; ++h)
      for (std::int64_t c = 0; c < win.stride[2]; ++c) add_phase(t, {axis_phase(win, 0, d), axis_phase(win, 1, h), axis_phase(win, 2, c)});
  if (!w->is_constant()) t.weights = Operand::of(*w);
  IT_TRY(t.epilogue, Epilogue::make(region, device, 1, channels_last(y->rank()), b ? Operand::of(*b) : Operand{}));
  t.input = x->input;
  t.output = result_of(region).output;
  return t;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Region& region, Device& device, std::span<const float> kept) {
  IT_TRY(Transposed t, plan(region, device));
  if (!t.weights.exists()) {
    const std::byte* weights = region.input(region.nodes[0], 1)->data;
    std::string key = text("deconv ", reinterpret_cast<std::uintptr_t>(weights), " ", t.channels, " ", t.results, " ", t.groups);
    for (const Phase& phase : t.phases) key += text(" ", phase.offset, ":", join(phase.weight_taps, ","));
    IT_TRY(t.packed, pack_once(device, key, static_cast<std::size_t>(t.floats), kept, [&](float* to) { pack(device.pool, t, weights, to); }));
  }
  bool alike = t.phases.size() > 1 && t.phases.front().panels.floats() == t.phases.back().panels.floats();
  if (device.has(Fault::deconv_phase) && alike) std::swap(t.phases.front().offset, t.phases.back().offset);
  return std::unique_ptr<Kernel>(std::make_unique<TransposedKernel>(std::move(t), device.pool.threads()));
}

}  // namespace

Offers conv_transpose_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  if (region.nodes.empty() || !region.nodes[0].is("ConvTranspose")) return offers;
  IT_TRY(Transposed t, plan(region, device));
  const Value& x = *region.input(region.nodes[0], 0);
  Candidate candidate;
  candidate.kernel = text("conv_transpose_phases_nhwc_", name(device.isa));
  Order order = channels_last(x.rank());
  candidate.input_orders = orders_beside(region, region.nodes[0].inputs[0], order, t.epilogue);
  candidate.output_orders = {order};
  std::size_t weights = static_cast<std::size_t>(t.floats) * sizeof(float);
  (t.weights.exists() ? candidate.workspace : candidate.packed) = weights;
  double flops = 0, results = static_cast<double>(t.images * t.window.pixels_out() * t.results);
  for (const Phase& phase : t.phases) flops += 2.0 * static_cast<double>(t.images * phase.pixels() * t.results * phase.panels.depth());
  candidate.cost_ns = device.cost(flops, static_cast<double>(weights) + 4 * results, 0.7) + 700.0 * static_cast<double>(t.phases.size() - (t.phases.empty() ? 0 : 1)) +
                      cost_per_element(t.epilogue.program, device) * results / device.pool.threads();
  candidate.prepare = [&region, &device](std::span<const float> kept) { return make_kernel(region, device, kept); };
  offers.push_back(std::move(candidate));
  return offers;
}

}  // namespace infini::cpu
