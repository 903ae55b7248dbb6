// LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization and BatchNormalization (inference) of f32.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/vector.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

enum class Kind { layer, rms, group, batch, batch_channels_last };

struct Normalization {
  Kind kind = Kind::layer;
  std::int64_t rows = 1;      // each with moments of its own; batch: images
  std::int64_t parts = 1;     // group: channels in a row; batch: channels
  std::int64_t n = 1;         // numbers in a row, or in a channel's part of it
  std::int64_t channels = 1;
  float epsilon = 0;
  double lost = 0;            // planted fault: the variance is divided by so many numbers less
  Operand scale, shift, mean, variance;
  int input = 0, output = 0, mean_out = -1, factor_out = -1;
  const it_rows_kernels* kernels = nullptr;
  const it_vector_kernels* vectors = nullptr;

  float factor(float variance_found, double count) const {
    double v = static_cast<double>(variance_found) * (lost > 0 && count > 1 ? count / (count - lost) : 1.0);
    return static_cast<float>(1.0 / std::sqrt(v + (lost > 0 ? 0.0 : static_cast<double>(epsilon))));
  }
};

template <class Body>
void for_rows(Pool& pool, std::int64_t rows, std::int64_t length, Body body) {
  std::int64_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, length));
  pool.run((rows + grain - 1) / grain, [&](std::int64_t chunk, int) {
    for (std::int64_t r = chunk * grain; r < std::min(rows, (chunk + 1) * grain); ++r) body(r);
  });
}

void run_layer(const Normalization& k, const Launch& launch) {
  const float *x = launch.input<float>(k.input), *scale = k.scale.exists() ? k.scale.at(launch) : nullptr, *shift = k.shift.exists() ? k.shift.at(launch) : nullptr;
  float* y = launch.output<float>(k.output);
  for_rows(launch.device.pool, k.rows, k.n, [&](std::int64_t r) {
    float mean = 0, variance = 0;
    k.kernels->moments(x + r * k.n, k.n, k.kind == Kind::rms, &mean, &variance);
    float factor = k.factor(variance, static_cast<double>(k.n));
    k.kernels->normalize(x + r * k.n, y + r * k.n, k.n, mean, factor, scale, shift, 0);
    if (k.mean_out >= 0) launch.output<float>(k.mean_out)[r] = mean;
    if (k.factor_out >= 0) launch.output<float>(k.factor_out)[r] = factor;
  });
}

void run_group(const Normalization& k, const Launch& launch) {
  const float *x = launch.input<float>(k.input), *scale = k.scale.at(launch), *shift = k.shift.at(launch);
  float* y = launch.output<float>(k.output);
  for_rows(launch.device.pool, k.rows, k.parts * k.n, [&](std::int64_t r) {
    const float* row = x + r * k.parts * k.n;
    float mean = 0, variance = 0;
    k.kernels->moments(row, k.parts * k.n, 0, &mean, &variance);
    float factor = k.factor(variance, static_cast<double>(k.parts * k.n));
    for (std::int64_t p = 0; p < k.parts; ++p) {
      std::int64_t channel = (r * k.parts + p) % k.channels;
      k.kernels->normalize(row + p * k.n, y + (r * k.parts + p) * k.n, k.n, mean, factor * scale[channel], nullptr, nullptr, shift[channel]);
    }
  });
}

// factors: room for a number a channel.
void run_batch(const Normalization& k, const Launch& launch, float* factors) {
  const float *x = launch.input<float>(k.input), *scale = k.scale.at(launch), *shift = k.shift.at(launch), *mean = k.mean.at(launch), *variance = k.variance.at(launch);
  float* y = launch.output<float>(k.output);
  for (std::int64_t c = 0; c < k.channels; ++c) factors[c] = scale[c] * k.factor(variance[c], 0);
  if (k.kind == Kind::batch) {
    for_rows(launch.device.pool, k.rows * k.channels, k.n, [&](std::int64_t r) {
      std::int64_t c = r % k.channels;
      k.kernels->normalize(x + r * k.n, y + r * k.n, k.n, mean[c], factors[c], nullptr, nullptr, shift[c]);
    });
    return;
  }
  std::int64_t high = std::max<std::int64_t>(1, 4096 / k.channels), pixels = k.rows * k.n;
  launch.device.pool.run((pixels + high - 1) / high, [&](std::int64_t chunk, int) {
    std::int64_t first = chunk * high * k.channels;
    auto apply = [&](int op, const float* left, const float* right) {
      it_vector v{op, std::min(high, pixels - chunk * high), k.channels, y + first, k.channels, {left, right}, {k.channels, 0}, {1, 1}, {0, 0}};
      k.vectors->run(&v);
    };
    apply(IT_V_SUB, x + first, mean);
    apply(IT_V_MUL, y + first, factors);
    apply(IT_V_ADD, y + first, shift);
  });
}

// Scale and bias of LayerNormalization: of the normalised axes' shape, or one number.
Result<Operand> spread_out(const Value& value, std::int64_t n) {
  if (value.count() == n) return Operand::of(value);
  if (value.count() == 1 && value.is_constant()) return Operand::of(std::vector<float>(static_cast<std::size_t>(n), value.floats()[0]));
  return unsupported(text("a normalisation over ", n, " numbers with a scale or bias of ", value.count()));
}

Status plan_layer(const Region& region, const Node& node, const Value& x, Normalization& k) {
  std::int64_t axis = node.integer("axis", -1);
  std::size_t first = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis);
  k.kind = node.is("LayerNormalization") ? Kind::layer : Kind::rms;
  k.rows = count(x.extents, 0, first);
  k.n = count(x.extents, first, x.rank());
  const Value *scale = region.input(node, 1), *shift = region.input(node, 2);
  if (scale) {
    IT_TRY(k.scale, spread_out(*scale, k.n));
  }
  if (shift) {
    IT_TRY(k.shift, spread_out(*shift, k.n));
  }
  if (const Value* mean = region.output(node, 1)) k.mean_out = mean->output;
  if (const Value* factor = region.output(node, 2)) k.factor_out = factor->output;
  return {};
}

Status plan_channels(const Region& region, const Node& node, const Value& x, bool last, Normalization& k) {
  const Value *scale = region.input(node, 1), *shift = region.input(node, 2), *mean = region.input(node, 3), *variance = region.input(node, 4);
  std::int64_t images = x.extents[0];
  k.channels = x.extents[1];
  k.n = count(x.extents, 2, x.rank());
  if (!scale || !shift || scale->count() != k.channels || shift->count() != k.channels) return unsupported(text(node.op(), " with scales that are not one a channel"));
  k.scale = Operand::of(*scale);
  k.shift = Operand::of(*shift);
  if (node.is("BatchNormalization")) {
    if (node.integer("training_mode", 0) != 0 || region.output(node, 1) || !mean || !variance) return unsupported("BatchNormalization in training");
    k.mean = Operand::of(*mean);
    k.variance = Operand::of(*variance);
    k.kind = last || x.rank() == 2 ? Kind::batch_channels_last : Kind::batch;
    k.rows = images;
    return {};
  }
  k.kind = Kind::group;
  std::int64_t groups = node.is("InstanceNormalization") ? k.channels : node.integer("num_groups", 1);
  if (groups < 1 || k.channels % groups != 0) return usage_error(text(node.op(), " with ", k.channels, " channels in ", groups, " groups"));
  k.rows = images * groups;
  k.parts = k.channels / groups;
  return {};
}

Result<Normalization> plan(const Region& region, Device& device, bool last) {
  const Node& node = region.nodes[0];
  const Value *x = region.input(node, 0), *y = region.output(node, 0);
  if (!x || !y || x->input < 0 || x->count() == 0) return unsupported(text(node.op(), " of a constant, of nothing, or with no result"));
  for (int input : node.inputs)
    if (input >= 0 && region.values[static_cast<std::size_t>(input)].dtype != DType::f32)
      return unsupported(text(node.op(), " of ", infini::name(region.values[static_cast<std::size_t>(input)].dtype), ": the kernel is for f32"));
  Normalization k;
  k.epsilon = node.number("epsilon", 1e-5f);
  k.lost = device.has(Fault::norm_epsilon) ? 1 : 0;
  k.kernels = &IT_CPU_TABLE(device.isa, it_rows);
  k.vectors = &IT_CPU_TABLE(device.isa, it_vector);
  k.input = x->input;
  k.output = y->output;
  bool by_row = node.is("LayerNormalization") || node.is("RMSNormalization");
  if (!by_row && x->rank() < 2) return unsupported(text(node.op(), " of rank ", x->rank()));
  IT_TRY_VOID(by_row ? plan_layer(region, node, *x, k) : plan_channels(region, node, *x, last, k));
  return k;
}

class NormalizationKernel final : public Kernel {
 public:
  explicit NormalizationKernel(Normalization k) : k_(std::move(k)), factors_(static_cast<std::size_t>(k_.channels)) {}
  Status launch(const Launch& launch) override {
    switch (k_.kind) {
      case Kind::layer:
      case Kind::rms: run_layer(k_, launch); break;
      case Kind::group: run_group(k_, launch); break;
      case Kind::batch:
      case Kind::batch_channels_last: run_batch(k_, launch, factors_.data()); break;
    }
    return {};
  }

 private:
  Normalization k_;
  std::vector<float> factors_;
};

Result<Candidate> candidate(const Region& region, Device& device, bool last) {
  IT_TRY(Normalization k, plan(region, device, last));
  const Node& node = region.nodes[0];
  const Value &x = *region.input(node, 0), &y = *region.output(node, 0);
  Candidate c;
  c.kernel = text("normalization_", last ? "nhwc_" : "", name(device.isa));
  for (int input : region.inputs) c.input_orders.push_back(last && input == node.inputs[0] ? channels_last(x.rank()) : Order{});
  c.output_orders.assign(region.outputs.size(), last ? channels_last(x.rank()) : Order{});
  c.in_place = {{x.input, y.output, 0}};
  c.cost_ns = device.cost(8.0 * static_cast<double>(x.count()), 8.0 * static_cast<double>(x.count()), 0.2);
  c.prepare = [&region, &device, last](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    IT_TRY(Normalization made, plan(region, device, last));
    return std::unique_ptr<Kernel>(std::make_unique<NormalizationKernel>(std::move(made)));
  };
  return c;
}

}  // namespace

Offers normalization_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node) return offers;
  bool batch = node->is("BatchNormalization");
  if (!batch && !node->is("LayerNormalization") && !node->is("RMSNormalization") && !node->is("InstanceNormalization") && !node->is("GroupNormalization")) return offers;
  if (const Value* x = region.input(*node, 0); batch && x && x->rank() > 2) {
    IT_TRY(Candidate last, candidate(region, device, true));
    offers.push_back(std::move(last));
  }
  IT_TRY(Candidate plain, candidate(region, device, false));
  offers.push_back(std::move(plain));
  return offers;
}

}  // namespace infini::cpu
