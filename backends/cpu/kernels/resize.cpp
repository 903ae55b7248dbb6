// Resize of f32 over up to three spatial axes: nearest and linear, in either layout. Each axis becomes a table of the two elements that a
// result lies between.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/cpu/kernel.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// A result's place on one axis: first * (1 - part) + second * part.
struct Between {
  std::int64_t first = 0, second = 0;
  float part = 0;
};

struct Resize {
  std::int64_t images = 1, channels = 1;
  std::array<std::int64_t, 3> in{1, 1, 1};
  std::array<std::vector<Between>, 3> axes;
  int input = 0, output = 0;

  std::int64_t pixels_in() const { return in[0] * in[1] * in[2]; }
  std::int64_t rows_out() const { return static_cast<std::int64_t>(axes[0].size() * axes[1].size()); }
};

// Up to eight input pixels and their weights for one result.
struct Mix {
  int count = 0;
  std::int64_t pixel[8];
  float weight[8];
};

Mix mix_of(const Resize& r, const Between& d, const Between& h, const Between& w) {
  Mix mix;
  for (int corner = 0; corner < 8; ++corner) {
    const Between* by_axis[3] = {&d, &h, &w};
    std::int64_t pixel = 0;
    float weight = 1;
    for (int axis = 0; axis < 3; ++axis) {
      bool second = (corner >> axis & 1) != 0;
      pixel = pixel * r.in[static_cast<std::size_t>(axis)] + (second ? by_axis[axis]->second : by_axis[axis]->first);
      weight *= second ? by_axis[axis]->part : 1 - by_axis[axis]->part;
    }
    if (weight == 0) continue;
    mix.pixel[mix.count] = pixel;
    mix.weight[mix.count++] = weight;
  }
  return mix;
}

// One row of results: image `image`, depth and height taken from `row`; element (pixel, channel) lies at pixel * pixel_step + channel * channel_step.
void resize_row(const Resize& r, std::int64_t row, const float* x, float* y, std::int64_t pixel_step, std::int64_t channel_step) {
  std::int64_t heights = static_cast<std::int64_t>(r.axes[1].size()), width = static_cast<std::int64_t>(r.axes[2].size());
  std::int64_t out_channel_step = channel_step == 1 ? 1 : r.rows_out() * width;
  const Between &d = r.axes[0][static_cast<std::size_t>(row / heights)], &h = r.axes[1][static_cast<std::size_t>(row % heights)];
  for (std::int64_t i = 0; i < width; ++i) {
    Mix mix = mix_of(r, d, h, r.axes[2][static_cast<std::size_t>(i)]);
    float* to = y + (row * width + i) * pixel_step;
    for (std::int64_t c = 0; c < r.channels; ++c) {
      float sum = mix.weight[0] * x[mix.pixel[0] * pixel_step + c * channel_step];
      for (int k = 1; k < mix.count; ++k) sum += mix.weight[k] * x[mix.pixel[k] * pixel_step + c * channel_step];
      to[c * out_channel_step] = sum;
    }
  }
}

void run(const Resize& r, const Launch& launch, bool last) {
  const float* x = launch.input<float>(r.input);
  float* y = launch.output<float>(r.output);
  std::int64_t rows = r.rows_out(), width = static_cast<std::int64_t>(r.axes[2].size());
  launch.device.pool.run(r.images * rows, [&](std::int64_t chunk, int) {
    std::int64_t image = chunk / rows;
    resize_row(r, chunk % rows, x + image * r.channels * r.pixels_in(), y + image * r.channels * rows * width, last ? r.channels : 1, last ? 1 : r.pixels_in());
  });
}

// Where result `i` of `out` lies on an axis of `in`; NaN for a mode that is not here.
double original(std::string_view mode, double i, double in, double out, double scale) {
  if (mode == "half_pixel") return (i + 0.5) / scale - 0.5;
  if (mode == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (mode == "align_corners") return out > 1 ? i * (in - 1) / (scale * in - 1) : 0;  // ONNX: by the length before rounding
  if (mode == "asymmetric") return i / scale;
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / (scale * in)) + (i + 0.5) / scale - 0.5;
  return std::nan("");
}

double nearest(std::string_view mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

Result<std::vector<Between>> axis_table(const Node& node, std::int64_t in, std::int64_t out, double scale) {
  std::string_view coordinates = node.string("coordinate_transformation_mode", "half_pixel"), mode = node.string("nearest_mode", "round_prefer_floor");
  bool is_nearest = node.string("mode", "nearest") == "nearest";
  std::vector<Between> table;
  for (std::int64_t i = 0; i < out; ++i) {
    double place = original(coordinates, static_cast<double>(i), static_cast<double>(in), static_cast<double>(out), scale);
    if (std::isnan(place)) return unsupported(text("Resize with coordinates ", coordinates));
    double low = is_nearest ? nearest(mode, place) : std::floor(place);
    Between b;
    b.first = std::clamp<std::int64_t>(static_cast<std::int64_t>(low), 0, in - 1);
    b.second = is_nearest ? b.first : std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + 1, 0, in - 1);
    b.part = is_nearest ? 0 : static_cast<float>(place - low);
    table.push_back(b);
  }
  return table;
}

// The scale of each axis of the operand, from scales or sizes.
Result<std::vector<double>> scales_of(const Region& region, const Node& node, const Value& x, const Value& y) {
  const Value *scales = region.input(node, 2), *sizes = region.input(node, 3);
  bool by_scale = scales && scales->count() > 0;
  if (by_scale ? !scales->is_constant() : !sizes) return unsupported("Resize whose scales are not known before it runs");
  if (!by_scale && node.string("keep_aspect_ratio_policy", "stretch") != "stretch") return unsupported("Resize that keeps the aspect ratio");
  std::vector<std::int64_t> axes = node.integers("axes");
  std::vector<float> given = by_scale ? scales->floats() : std::vector<float>{};
  std::vector<double> result(x.rank());
  for (std::size_t axis = 0; axis < x.rank(); ++axis) result[axis] = by_scale ? 1.0 : static_cast<double>(y.extents[axis]) / static_cast<double>(std::max<std::int64_t>(1, x.extents[axis]));
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::int64_t axis = axes.empty() ? static_cast<std::int64_t>(i) : axes[i];
    result[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis)] = static_cast<double>(given[i]);
  }
  return result;
}

Result<Resize> plan(const Region& region, const Node& node) {
  const Value *x = region.input(node, 0), *y = region.output(node, 0);
  if (!x || !y || x->input < 0) return unsupported("Resize of a constant, or with no result");
  if (x->dtype != DType::f32) return unsupported(text("Resize of ", infini::name(x->dtype), ": the kernel is for f32"));
  std::string_view mode = node.string("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return unsupported(text("Resize in mode ", mode));
  if (node.integer("antialias", 0) != 0) return unsupported("Resize with antialias");
  if (x->rank() < 3 || x->rank() > 5 || x->extents[0] != y->extents[0] || x->extents[1] != y->extents[1] || x->count() == 0)
    return unsupported(text("Resize from [", join(x->extents, ","), "] to [", join(y->extents, ","), "]: the kernel is for one to three spatial axes"));
  IT_TRY(std::vector<double> scales, scales_of(region, node, *x, *y));
  if (scales[0] != 1 || scales[1] != 1) return unsupported("Resize of images or channels");
  Resize r;
  r.images = x->extents[0];
  r.channels = x->extents[1];
  std::size_t spatial = x->rank() - 2;
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t axis = i + spatial - 1;  // of the operand: 2 and up for the last `spatial` of the three
    bool present = i + spatial >= 3;
    r.in[i] = present ? x->extents[axis] : 1;
    if (!present) {
      r.axes[i] = {Between{}};
      continue;
    }
    IT_TRY(r.axes[i], axis_table(node, x->extents[axis], y->extents[axis], scales[axis]));
  }
  r.input = x->input;
  r.output = y->output;
  return r;
}

}  // namespace

Offers resize_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->is("Resize")) return offers;
  IT_TRY(Resize r, plan(region, *node));
  const Value &x = *region.input(*node, 0), &y = *region.output(*node, 0);
  for (bool last : {true, false}) {
    Candidate c;
    c.kernel = last ? "resize_nhwc" : "resize_nchw";
    for (int input : region.inputs) c.input_orders.push_back(last && input == node->inputs[0] ? channels_last(x.rank()) : Order{});
    c.output_orders = {last ? channels_last(y.rank()) : Order{}};
    c.cost_ns = device.cost((last ? 20.0 : 40.0) * static_cast<double>(y.count()), 4.0 * static_cast<double>(x.count() + y.count()), 0.2);
    c.prepare = [r, last](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
      return kernel_of([r, last](const Launch& launch) -> Status {
        run(r, launch, last);
        return {};
      });
    };
    offers.push_back(std::move(c));
  }
  return offers;
}

}  // namespace infini::cpu
