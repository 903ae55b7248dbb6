// Pad of every plain type, in every mode: around a moved box one value, or elements of the operand again.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

using Run = std::function<Status(const Launch&)>;

struct Pad {
  const Value *x, *y, *value;
  std::vector<std::int64_t> before;  // by axis; negative amounts cut off
  std::string_view mode;
};

Result<Pad> read(const Region& region, const Node& node) {
  const Value *pads = region.input(node, 1), *given = region.input(node, 3);
  if (!pads || !pads->is_constant() || (given && !given->is_constant())) return unsupported("Pad whose pads are not known before it runs");
  Pad pad{region.input(node, 0), region.output(node, 0), region.input(node, 2), {}, node.string("mode", "constant")};
  std::vector<std::int64_t> amounts = pads->ints(), axes = given ? given->ints() : std::vector<std::int64_t>{};
  std::size_t rank = pad.x->rank(), count = given ? axes.size() : rank;
  pad.before.assign(rank, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t axis = given ? axes[i] : static_cast<std::int64_t>(i);
    pad.before[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] = amounts[i];
  }
  return pad;
}

Run with_value(const Pad& pad, const Order& order) {
  const Value &x = *pad.x, &y = *pad.y;
  std::vector<std::int64_t> from = strides_of(x.extents, order), to = strides_of(y.extents, order);
  Extents box;
  std::int64_t source = 0, target = 0;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    std::int64_t first = -std::clamp<std::int64_t>(pad.before[axis], -x.extents[axis], 0), place = std::clamp<std::int64_t>(pad.before[axis], 0, y.extents[axis]);
    box.push_back(std::max<std::int64_t>(0, std::min(x.extents[axis] - first, y.extents[axis] - place)));
    source += first * from[axis];
    target += place * to[axis];
  }
  auto width = static_cast<std::int64_t>(element_bytes(x.dtype));
  return [axes = box_axes(box, x.extents, y.extents, order), operand = RawOperand::of(x), value = pad.value ? RawOperand::of(*pad.value) : RawOperand{}, source, target, width,
          output = y.output, n = y.count()](const Launch& launch) -> Status {
    static constexpr std::byte zeros[16] = {};
    bool given = value.input >= 0 || value.data;
    std::byte* result = launch.output<std::byte>(output);
    fill_elements(launch.device.pool, static_cast<std::size_t>(width), given ? value.at(launch) : zeros, result, n);
    move_strided(&launch.device.pool, static_cast<std::size_t>(width), axes, operand.at(launch) + source * width, result + target * width);
    return {};
  };
}

// The position inside an axis that position i, perhaps outside, stands for.
std::int64_t source_of(std::string_view mode, std::int64_t i, std::int64_t extent) {
  auto floor_mod = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == "edge") return std::clamp<std::int64_t>(i, 0, extent - 1);
  if (mode == "wrap") return floor_mod(i, extent);
  std::int64_t period = std::max<std::int64_t>(2 * (extent - 1), 1), phase = floor_mod(i, period);  // reflect: 0 1 2 1 0 1 ...
  return std::min(phase, period - phase);
}

// One axis, as it lies in memory.
struct Side {
  std::int64_t in, out, before;
  std::int64_t stride;  // of the operand, in bytes
};

// The innermost axis: what lies inside at once, the rest element by element.
void copy_row(std::string_view mode, const Side& side, const std::byte* from, std::byte* to) {
  std::int64_t first = std::clamp<std::int64_t>(side.before, 0, side.out), beyond = std::clamp<std::int64_t>(side.before + side.in, first, side.out), width = side.stride;
  auto one_by_one = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) std::memcpy(to + i * width, from + source_of(mode, i - side.before, side.in) * width, static_cast<std::size_t>(width));
  };
  one_by_one(0, first);
  if (beyond > first) std::memcpy(to + first * width, from + (first - side.before) * width, static_cast<std::size_t>((beyond - first) * width));
  one_by_one(beyond, side.out);
}

Run with_copies(const Pad& pad, const Order& order) {
  const Value &x = *pad.x, &y = *pad.y;
  auto width = static_cast<std::int64_t>(element_bytes(x.dtype));
  std::vector<std::int64_t> strides = strides_of(x.extents, order);
  std::vector<Side> sides;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    sides.push_back({x.extents[axis], y.extents[axis], pad.before[axis], strides[axis] * width});
  }
  if (sides.empty()) sides.push_back({1, 1, 0, width});
  std::int64_t rows = y.count() / std::max<std::int64_t>(1, sides.back().out);
  return [sides = std::move(sides), mode = std::string(pad.mode), operand = RawOperand::of(x), rows, output = y.output](const Launch& launch) -> Status {
    const Side& last = sides.back();
    std::int64_t grain = std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, last.out));
    launch.device.pool.run((rows + grain - 1) / grain, [&](std::int64_t chunk, int) {
      for (std::int64_t row = chunk * grain; row < std::min(rows, (chunk + 1) * grain); ++row) {
        const std::byte* from = operand.at(launch);
        std::int64_t rest = row;
        for (std::size_t axis = sides.size() - 1; axis-- > 0;) {
          const Side& side = sides[axis];
          from += source_of(mode, rest % side.out - side.before, side.in) * side.stride;
          rest /= side.out;
        }
        copy_row(mode, last, from, launch.output<std::byte>(output) + row * last.out * last.stride);
      }
    });
    return {};
  };
}

}  // namespace

Offers pad_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->is("Pad")) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y) return unsupported("Pad with an operand left out");
  if (!can_move(x->dtype)) return unsupported(text("Pad of ", infini::name(x->dtype), ": elements are not whole bytes"));
  IT_TRY(Pad pad, read(region, *node));
  for (const Order& order : {Order{}, x->is_constant() ? Order{} : channels_last(x->rank())}) {
    if (!offers.empty() && order.empty()) break;
    Candidate c;
    c.kernel = text("pad_", order.empty() ? "" : "nhwc_", pad.mode);
    c.numerics = IT_EXACT;
    for (int input : region.inputs) c.input_orders.push_back(input == node->inputs[0] ? order : Order{});
    c.output_orders = {order};
    c.cost_ns = device.cost(0, 2.0 * static_cast<double>(x->bytes() + y->bytes())) + 200.0;
    c.prepare = [run = pad.mode == "constant" ? with_value(pad, order) : with_copies(pad, order)](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of(run); };
    offers.push_back(std::move(c));
  }
  return offers;
}

}  // namespace infini::cpu
