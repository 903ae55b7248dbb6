// Nodes that move elements by one rule of strides: Transpose, Slice, Expand, Tile, DepthToSpace, SpaceToDepth.
#include <algorithm>
#include <optional>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/grid.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Move {
  std::vector<Axis> axes;      // outermost first as the result lies in memory
  std::int64_t offset = 0;     // of the first element read, in elements
};

// The result's axes in its memory order, each reading with the stride given (by result axis).
std::vector<Axis> axes_of(const Extents& result, const Order& order, const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> to = strides_of(result, order);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    axes.push_back({result[axis], from[axis], to[axis]});
  }
  return axes;
}

Result<Move> transpose(const Region&, const Node& node, const Value& x, const Value& y, const Order&) {
  std::vector<std::int64_t> perm = node.integers("perm"), own = strides_of(x.extents, {}), from;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) from.push_back(own[perm.empty() ? x.rank() - 1 - axis : static_cast<std::size_t>(perm[axis])]);
  return Move{axes_of(y.extents, {}, from), 0};
}

Result<Move> expand(const Region&, const Node&, const Value& x, const Value& y, const Order& order) {
  Order own = x.rank() == y.rank() ? order : Order{};
  return Move{axes_of(y.extents, order, broadcast_strides(x.extents, own, y.extents)), 0};
}

Result<Move> tile(const Region&, const Node&, const Value& x, const Value& y, const Order&) {
  std::vector<std::int64_t> from = strides_of(x.extents, {}), to = strides_of(y.extents, {});
  Move move;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (x.extents[axis] == 0) return move.axes.push_back({0, 0, 0}), move;
    move.axes.push_back({y.extents[axis] / x.extents[axis], 0, to[axis] * x.extents[axis]});
    move.axes.push_back({x.extents[axis], from[axis], to[axis]});
  }
  return move;
}

// The integers of an operand, if they are known.
Result<std::vector<std::int64_t>> known(const Region& region, const Node& node, std::size_t position, std::string_view what) {
  const Value* value = region.input(node, position);
  if (!value) return std::vector<std::int64_t>{};
  if (!value->is_constant()) return unsupported(text(node.op(), " whose ", what, " are not known before it runs"));
  return value->ints();
}

Result<Move> slice(const Region& region, const Node& node, const Value& x, const Value& y, const Order& order) {
  IT_TRY(std::vector<std::int64_t> starts, known(region, node, 1, "starts"));
  IT_TRY(std::vector<std::int64_t> axes, known(region, node, 3, "axes"));
  IT_TRY(std::vector<std::int64_t> steps, known(region, node, 4, "steps"));
  std::vector<std::int64_t> from = strides_of(x.extents, order);
  Move move;
  std::int64_t rank = static_cast<std::int64_t>(x.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::int64_t given = i < axes.size() ? axes[i] : static_cast<std::int64_t>(i), step = i < steps.size() ? steps[i] : 1;
    std::size_t axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
    std::int64_t extent = x.extents[axis], start = starts[i] < 0 ? starts[i] + extent : starts[i];
    start = std::clamp<std::int64_t>(start, 0, step < 0 ? std::max<std::int64_t>(extent, 1) - 1 : extent);
    move.offset += start * from[axis];
    from[axis] = y.extents[axis] > 1 ? from[axis] * step : 0;  // a step beyond the axis is taken by no second element
  }
  move.axes = axes_of(y.extents, order, from);
  return move;
}

// split: the extents of the operand cut finer; perm: the axes of that in the order of the result.
Move split_and_turn(const Extents& split, const std::vector<std::size_t>& perm) {
  std::vector<std::int64_t> from = strides_of(split, {});
  Extents turned;
  for (std::size_t axis : perm) turned.push_back(split[axis]);
  std::vector<std::int64_t> to = strides_of(turned, {});
  Move move;
  for (std::size_t i = 0; i < perm.size(); ++i) move.axes.push_back({turned[i], from[perm[i]], to[i]});
  return move;
}

Result<Move> depth_to_space(const Region&, const Node& node, const Value& x, const Value&, const Order&) {
  std::int64_t b = node.integer("blocksize", 1), depth = x.extents[1] / (b * b), n = x.extents[0], h = x.extents[2], w = x.extents[3];
  if (node.string("mode", "DCR") == "CRD") return split_and_turn({n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3});
  return split_and_turn({n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2});
}

Result<Move> space_to_depth(const Region&, const Node& node, const Value& x, const Value&, const Order&) {
  std::int64_t b = node.integer("blocksize", 1);
  Extents split = {x.extents[0], x.extents[1], x.extents[2] / b, b, x.extents[3] / b, b};
  if (node.string("mode", "DCR") == "CRD") return split_and_turn(split, {0, 1, 3, 5, 2, 4});
  return split_and_turn(split, {0, 3, 5, 1, 2, 4});
}

struct Row {
  std::string_view op;
  Result<Move> (*of)(const Region&, const Node&, const Value& x, const Value& y, const Order& order);
  bool any_order;  // works the same when both sides are channels last
};
constexpr Row table[] = {{"Transpose", transpose, false}, {"Slice", slice, true},
                         {"Expand", expand, true},        {"Tile", tile, false},
                         {"DepthToSpace", depth_to_space, false}, {"SpaceToDepth", space_to_depth, false}};

Result<Candidate> candidate(const Region& region, Device& device, const Row& row, const Order& order) {
  const Node& node = region.nodes[0];
  const Value &x = *region.input(node, 0), &y = *region.output(node, 0);
  IT_TRY(Move move, row.of(region, node, x, y, order));
  Candidate c;
  c.kernel = text("move_", order.empty() ? "" : "nhwc_", row.op);
  c.numerics = IT_EXACT;
  for (int input : region.inputs) c.input_orders.push_back(input == node.inputs[0] && x.rank() == y.rank() ? order : Order{});
  c.output_orders = {order};
  c.cost_ns = device.cost(0, static_cast<double>(y.bytes() * 2)) + 300;
  std::size_t width = element_bytes(x.dtype);
  RawOperand from = RawOperand::of(x);
  int to = y.output;
  c.prepare = [move, width, from, to](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    return kernel_of([move, width, from, to](const Launch& launch) -> Status {
      const std::byte* data = from.at(launch) + move.offset * static_cast<std::int64_t>(width);
      move_strided(&launch.device.pool, width, move.axes, data, launch.output<std::byte>(to));
      return {};
    });
  };
  return c;
}

}  // namespace

Offers moves_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node) return offers;
  for (const Row& row : table) {
    if (!node->is(row.op)) continue;
    const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
    if (!x || !y) return unsupported(text(row.op, " with an operand left out"));
    if (!can_move(x->dtype)) return unsupported(text(row.op, " of ", infini::name(x->dtype), ": elements are not whole bytes"));
    IT_TRY(Candidate plain, candidate(region, device, row, {}));
    offers.push_back(std::move(plain));
    Order last = row.any_order && !x->is_constant() && x->rank() == y->rank() ? channels_last(y->rank()) : Order{};
    if (last.empty()) return offers;
    if (Result<Candidate> other = candidate(region, device, row, last)) offers.push_back(std::move(*other));
  }
  return offers;
}

}  // namespace infini::cpu
