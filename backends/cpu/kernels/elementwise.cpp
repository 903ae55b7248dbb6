// Elementwise f32 nodes, one or a chain, with NumPy broadcasting: a program run on blocks that stay in the first-level cache.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/grid.h"
#include "backends/cpu/kernels/program.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Elementwise {
  Program program;
  std::vector<Operand> operands;
  Grid grid;
  const it_vector_kernels* vectors = nullptr;
  std::int64_t grain = 0;
  int output = 0;
};

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(Elementwise e, int threads) : e_(std::move(e)), temps_(static_cast<std::size_t>(threads)) {
    for (std::vector<float>& temps : temps_) temps.resize(static_cast<std::size_t>(e_.program.temps * block_floats));
  }
  Status launch(const Launch& launch) override;

 private:
  Elementwise e_;
  std::vector<std::vector<float>> temps_;
};

Status ElementwiseKernel::launch(const Launch& launch) {
  const float* data[max_grid_operands];
  for (std::size_t i = 0; i < e_.operands.size(); ++i) data[i] = e_.operands[i].at(launch);
  float* y = launch.output<float>(e_.output);
  for_blocks(launch.device.pool, e_.grid, block_floats, e_.grain, [&](const GridBlock& b, int thread) {
    Source sources[max_grid_operands];
    for (std::size_t i = 0; i < e_.operands.size(); ++i)
      sources[i] = {data[i] + b.offsets[i], e_.grid.row_stride(i), static_cast<std::int32_t>(e_.grid.column_stride(i))};
    Block block{b.rows, b.columns, y + b.result, e_.grid.columns()};
    run_program(e_.program, *e_.vectors, block, {sources, e_.operands.size()}, temps_[static_cast<std::size_t>(thread)].data());
  });
  return {};
}

// Operands of the result's rank lie in the result's order; smaller ones row-major.
Order order_of(const Value& operand, const Value& result, const Order& order) { return operand.rank() == result.rank() ? order : Order{}; }

Result<Elementwise> plan(const Region& region, Device& device, const Order& order) {
  if (region.outputs.size() != 1) return unsupported(text("an elementwise region with ", region.outputs.size(), " results; the kernel makes one"));
  IT_TRY(Program program, Program::compile(region, 0, region.nodes.size(), region.outputs[0]));
  const Value& result = region.values[static_cast<std::size_t>(region.outputs[0])];
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<Operand> operands;
  if (program.externals.size() > max_grid_operands) return unsupported(text("an elementwise region with ", program.externals.size(), " operands"));
  for (int external : program.externals) {
    const Value& value = region.values[static_cast<std::size_t>(external)];
    if (value.rank() > result.rank()) return unsupported("an elementwise region with an operand of higher rank than its result");
    Order own = order_of(value, result, order);
    strides.push_back(broadcast_strides(value.extents, own, result.extents));
    operands.push_back(Operand::of(value, own));
  }
  if (device.has(Fault::elementwise_broadcast))
    for (std::vector<std::int64_t>& list : strides) {
      bool repeats = false;
      for (std::size_t axis = 0; axis < list.size(); ++axis) repeats = repeats || (list[axis] == 0 && result.extents[axis] > 1);
      if (repeats) std::fill(list.begin(), list.end(), 0);
    }
  Elementwise e{std::move(program), std::move(operands), Grid(result.extents, order, strides), &IT_CPU_TABLE(device.isa, it_vector), 0, 0};
  for (std::size_t i = 0; i < e.operands.size(); ++i)
    if (e.grid.column_stride(i) > 1) return unsupported("an elementwise region with an operand that lies across the result");
  e.grain = std::max<std::int64_t>(block_floats, static_cast<std::int64_t>(8000.0 / cost_per_element(e.program, device)));
  e.output = result.output;
  return e;
}

Result<Candidate> candidate(const Region& region, Device& device, const Order& order) {
  IT_TRY(Elementwise e, plan(region, device, order));
  const Value& result = region.values[static_cast<std::size_t>(region.outputs[0])];
  Candidate c;
  c.kernel = text(order.empty() ? "elementwise_" : "elementwise_nhwc_", name(device.isa));
  double bytes = 4.0 * static_cast<double>(result.count()), each = cost_per_element(e.program, device);
  for (int input : region.inputs) {
    const Value& value = region.values[static_cast<std::size_t>(input)];
    c.input_orders.push_back(order_of(value, result, order));
    bytes += 4.0 * static_cast<double>(value.count());
    if (value.dtype == DType::f32 && value.extents == result.extents) c.in_place.push_back({value.input, result.output, 0});
  }
  c.output_orders = {order};
  c.cost_ns = std::max(device.cost(0, bytes), 700.0 + each * static_cast<double>(result.count()) / device.pool.threads());
  c.prepare = [&region, &device, order](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    IT_TRY(Elementwise made, plan(region, device, order));
    return std::unique_ptr<Kernel>(std::make_unique<ElementwiseKernel>(std::move(made), device.pool.threads()));
  };
  return c;
}

}  // namespace

Offers elementwise_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  if (region.nodes.empty() || !std::all_of(region.nodes.begin(), region.nodes.end(), is_elementwise)) return offers;
  bool single = region.nodes.size() == 1;
  const Value* first = region.input(region.nodes[0], 0);
  if (single && first && first->dtype != DType::f32) return offers;  // the typed family's
  IT_TRY(Candidate plain, candidate(region, device, {}));
  offers.push_back(std::move(plain));
  Order last = channels_last(region.values[static_cast<std::size_t>(region.outputs[0])].rank());
  if (last.empty()) return offers;
  if (Result<Candidate> other = candidate(region, device, last)) offers.push_back(std::move(*other));
  return offers;
}

}  // namespace infini::cpu
