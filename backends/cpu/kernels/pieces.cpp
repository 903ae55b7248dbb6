// Nodes that put tensors side by side or take them apart: Concat and Split.
#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// One tensor's box inside another: loops and where each side begins, in elements.
struct Piece {
  std::vector<Axis> axes;
  std::int64_t from = 0, to = 0;
  RawOperand operand;
  int output = 0;
};

struct Pieces {
  std::vector<Piece> list;
  std::size_t width = 0;
};

std::size_t axis_of(const Node& node, std::size_t rank, std::int64_t otherwise) {
  std::int64_t axis = node.integer("axis", otherwise);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

Result<Pieces> concat(const Region& region, const Node& node, const Order& order) {
  const Value& y = *region.output(node, 0);
  std::size_t axis = axis_of(node, y.rank(), 0);
  std::vector<std::int64_t> to = strides_of(y.extents, order);
  Pieces pieces;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value* x = region.input(node, i);
    if (!x) return unsupported("Concat with an operand left out");
    // A constant lies row-major whatever the order.
    Piece piece{box_axes(x->extents, x->extents, y.extents, order), 0, place * to[axis], RawOperand::of(*x), y.output};
    if (x->is_constant() && !order.empty()) return unsupported("Concat of a constant, channels last");
    pieces.list.push_back(std::move(piece));
    place += x->extents[axis];
  }
  return pieces;
}

Result<Pieces> split(const Region& region, const Node& node, const Order& order) {
  const Value& x = *region.input(node, 0);
  std::size_t axis = axis_of(node, x.rank(), 0);
  std::vector<std::int64_t> from = strides_of(x.extents, order);
  Pieces pieces;
  std::int64_t place = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* y = region.output(node, i);
    if (!y) return unsupported("Split with a result that is not wanted");
    pieces.list.push_back({box_axes(y->extents, x.extents, y->extents, order), place * from[axis], 0, RawOperand::of(x), y->output});
    place += y->extents[axis];
  }
  return pieces;
}

Status run(const Pieces& p, const Launch& launch) {
  std::int64_t width = static_cast<std::int64_t>(p.width);
  for (const Piece& piece : p.list)
    move_strided(&launch.device.pool, p.width, piece.axes, piece.operand.at(launch) + piece.from * width, launch.output<std::byte>(piece.output) + piece.to * width);
  return {};
}

Result<Candidate> candidate(const Region& region, Device& device, const Order& order) {
  const Node& node = region.nodes[0];
  IT_TRY(Pieces pieces, node.is("Concat") ? concat(region, node, order) : split(region, node, order));
  const Value& x = *region.input(node, 0);
  pieces.width = element_bytes(x.dtype);
  Candidate c;
  c.kernel = text("pieces_", order.empty() ? "" : "nhwc_", node.op());
  c.numerics = IT_EXACT;
  double bytes = 0;
  for (int input : region.inputs) {
    const Value& value = region.values[static_cast<std::size_t>(input)];
    bool data = node.is("Concat") || input == node.inputs[0];
    c.input_orders.push_back(data ? order : Order{});
    bytes += static_cast<double>(value.bytes());
  }
  c.output_orders.assign(region.outputs.size(), order);
  c.cost_ns = device.cost(0, bytes * 2) + 200.0 * static_cast<double>(pieces.list.size());
  c.prepare = [pieces](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of([pieces](const Launch& launch) { return run(pieces, launch); }); };
  return c;
}

}  // namespace

Offers pieces_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("Concat") || node->is("Split"))) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y) return unsupported(text(node->op(), " with an operand left out"));
  if (!can_move(x->dtype)) return unsupported(text(node->op(), " of ", infini::name(x->dtype), ": elements are not whole bytes"));
  IT_TRY(Candidate plain, candidate(region, device, {}));
  offers.push_back(std::move(plain));
  Order last = x->is_constant() ? Order{} : channels_last(x->rank());
  if (last.empty()) return offers;
  if (Result<Candidate> other = candidate(region, device, last)) offers.push_back(std::move(*other));
  return offers;
}

}  // namespace infini::cpu
