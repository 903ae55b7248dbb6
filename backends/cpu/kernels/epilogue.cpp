#include "backends/cpu/kernels/epilogue.h"

#include <algorithm>

#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {

Operand Operand::of(const Value& value) { return of(value, {}); }

Operand Operand::of(const Value& value, const Order& order) {
  Operand operand;
  if (!value.is_constant()) {
    operand.input_ = value.input;
    return operand;
  }
  operand.constant_ = order.empty() ? value.floats() : reordered(value.floats(), value.extents, order);
  return operand;
}

Operand Operand::of(std::vector<float> numbers) {
  Operand operand;
  operand.constant_ = std::move(numbers);
  return operand;
}

void Operand::shift() {
  if (!constant_.empty()) std::rotate(constant_.begin(), constant_.begin() + 1, constant_.end());
}

std::vector<Order> orders_beside(const Region& region, int first, const Order& order, const Epilogue& epilogue) {
  std::vector<Order> orders;
  for (int input : region.inputs) {
    bool beside = input == first || std::find(epilogue.full.begin(), epilogue.full.end(), input) != epilogue.full.end();
    orders.push_back(beside ? order : Order{});
  }
  return orders;
}

const Value& result_of(const Region& region) { return region.values[static_cast<std::size_t>(region.nodes.back().outputs[0])]; }

namespace {

// Right-aligned against the result, as NumPy broadcasts.
Result<Spread> spread_of(const Value& operand, const Value& result, std::size_t column_axis) {
  if (operand.count() == 1) return Spread::single;
  std::size_t lead = operand.rank() <= result.rank() ? result.rank() - operand.rank() : result.rank() + 1;
  bool full = lead <= result.rank() && operand.count() == result.count();
  bool column = lead <= result.rank() && operand.count() == result.extents[column_axis];
  for (std::size_t axis = 0; axis < operand.rank() && lead <= result.rank(); ++axis) {
    std::int64_t mine = operand.extents[axis], whole = result.extents[axis + lead];
    full = full && mine == whole;
    column = column && mine == (axis + lead == column_axis ? whole : 1);
  }
  if (full) return Spread::full;
  if (column) return Spread::column;
  return unsupported(text("an operand [", join(operand.extents, ","), "] beside a product [", join(result.extents, ","),
                          "]; it is fused where it has the same shape, one number a column, or one number"));
}

class Reader {
 public:
  Reader(const Region& region, const Device& device, std::size_t column_axis, const Order& order, Epilogue& epilogue)
      : region_(region), device_(device), result_(result_of(region)), column_axis_(column_axis), order_(order), epilogue_(epilogue) {
    uses_.assign(region.values.size(), 0);
    for (const Node& node : region.nodes)
      for (int input : node.inputs)
        if (input >= 0) ++uses_[static_cast<std::size_t>(input)];
  }

  // The leading nodes that the matrix tile does itself; returns the first node that it does not.
  Result<std::size_t> prefix(int& current);
  Status rest(std::size_t first, int current);

 private:
  Result<bool> add_to_tile(const Node& node, int current);
  bool bound_in_tile(const Node& node);
  const Value& value(int index) const { return region_.values[static_cast<std::size_t>(index)]; }

  const Region& region_;
  const Device& device_;
  const Value& result_;
  std::size_t column_axis_;
  const Order& order_;
  Epilogue& epilogue_;
  std::vector<int> uses_;
};

Result<bool> Reader::add_to_tile(const Node& node, int current) {
  if (!node.is("Add") || node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return false;
  int other = node.inputs[node.inputs[0] == current ? 1 : 0];
  if (other < 0 || value(other).dtype != DType::f32 || (!value(other).is_constant() && value(other).input < 0)) return false;
  IT_TRY(Spread spread, spread_of(value(other), result_, column_axis_));
  if (spread == Spread::column && !epilogue_.bias.exists() && !epilogue_.residual.exists()) {
    if (!device_.has(Fault::gemm_bias_dropped)) epilogue_.bias = Operand::of(value(other));
    return true;
  }
  if (spread == Spread::full && !epilogue_.residual.exists()) {
    epilogue_.full.push_back(other);
    if (!device_.has(Fault::gemm_residual_dropped)) epilogue_.residual = Operand::of(value(other), order_);
    return true;
  }
  return false;
}

bool Reader::bound_in_tile(const Node& node) {
  if (node.is("Relu")) {
    epilogue_.lo = 0;
    return true;
  }
  if (!node.is("Clip")) return false;
  float bounds[2] = {epilogue_.lo, epilogue_.hi};
  for (std::size_t i = 1; i < node.inputs.size() && i < 3; ++i) {
    if (node.inputs[i] < 0) continue;
    const Value& bound = value(node.inputs[i]);
    if (!bound.is_constant() || bound.count() != 1 || bound.dtype != DType::f32) return false;
    bounds[i - 1] = bound.floats()[0];
  }
  epilogue_.lo = bounds[0];
  epilogue_.hi = bounds[1];
  return true;
}

Result<std::size_t> Reader::prefix(int& current) {
  std::size_t next = 1;
  for (; next < region_.nodes.size(); ++next) {
    const Node& node = region_.nodes[next];
    bool chained = std::find(node.inputs.begin(), node.inputs.end(), current) != node.inputs.end();
    if (!chained || uses_[static_cast<std::size_t>(current)] != 1 || node.outputs.size() != 1) break;
    if (bound_in_tile(node)) {
      current = node.outputs[0];
      return next + 1;
    }
    IT_TRY(bool added, add_to_tile(node, current));
    if (!added) break;
    current = node.outputs[0];
  }
  return next;
}

Status Reader::rest(std::size_t first, int current) {
  IT_TRY(epilogue_.program, Program::compile(region_, first, region_.nodes.size(), region_.nodes.back().outputs[0], current));
  for (std::size_t i = 1; i < epilogue_.program.externals.size(); ++i) {
    const Value& external = value(epilogue_.program.externals[i]);
    if (!external.is_constant() && external.input < 0) return unsupported("a fused region that uses the product before its bias or residual again");
    IT_TRY(Spread spread, spread_of(external, result_, column_axis_));
    if (spread == Spread::full) epilogue_.full.push_back(epilogue_.program.externals[i]);
    epilogue_.spreads.push_back(spread);
    epilogue_.operands.push_back(Operand::of(external, spread == Spread::full ? order_ : Order{}));
  }
  if (device_.has(Fault::gemm_activation_dropped)) epilogue_.program.steps.clear();
  return {};
}

}  // namespace

Result<Epilogue> Epilogue::make(const Region& region, const Device& device, std::size_t column_axis, const Order& order, Operand bias) {
  Epilogue epilogue;
  if (!device.has(Fault::gemm_bias_dropped)) epilogue.bias = std::move(bias);
  const Node& product = region.nodes[0];
  if (product.outputs.empty() || product.outputs[0] < 0) return unsupported("a product whose result is not wanted");
  int current = product.outputs[0];
  const Value &made = region.values[static_cast<std::size_t>(current)], &result = result_of(region);
  if (made.dtype != DType::f32 || result.dtype != DType::f32) return unsupported(text(product.op(), " of ", infini::name(made.dtype), ": the kernel is for f32"));
  if (made.extents != result.extents) return unsupported("a fused region that broadcasts the product");
  for (std::size_t i = 0; i + 1 < region.nodes.size(); ++i)
    for (int output : region.nodes[i].outputs)
      if (output >= 0 && region.values[static_cast<std::size_t>(output)].output >= 0)
        return unsupported("a fused region of which a result in the middle is wanted too");
  Reader reader(region, device, column_axis, order, epilogue);
  IT_TRY(std::size_t next, reader.prefix(current));
  if (device.has(Fault::gemm_bias_shift)) epilogue.bias.shift();
  if (device.has(Fault::gemm_activation_dropped)) epilogue.lo = -std::numeric_limits<float>::infinity();
  if (next < region.nodes.size()) IT_TRY_VOID(reader.rest(next, current));
  return epilogue;
}

namespace {

// A block of at most block_floats elements.
void run_block(const BoundEpilogue& bound, const it_vector_kernels& kernels, const float* result, const Block& block, std::int64_t column, float* temps) {
  const Epilogue& epilogue = *bound.epilogue;
  constexpr std::size_t usual = 8;
  Source few[usual];
  std::vector<Source> many;
  std::size_t count = epilogue.operands.size() + 1;
  if (count > usual) many.resize(count);
  Source* sources = count > usual ? many.data() : few;
  sources[0] = {block.y, block.y_row, 1};
  for (std::size_t i = 1; i < count; ++i) {
    const float* data = bound.operands[i - 1];
    switch (epilogue.spreads[i - 1]) {
      case Spread::full: sources[i] = {data + (block.y - result), block.y_row, 1}; break;
      case Spread::column: sources[i] = {data + column, 0, 1}; break;
      case Spread::single: sources[i] = {data, 0, 0}; break;
    }
  }
  run_program(epilogue.program, kernels, block, {sources, count}, temps);
}

}  // namespace

void run_steps(const BoundEpilogue& bound, const it_vector_kernels& kernels, const float* result, float* c, std::int64_t rows, std::int64_t row_stride,
               std::int64_t columns, std::int64_t column, float* temps) {
  std::int64_t wide = std::min(columns, block_floats), high = std::max<std::int64_t>(1, block_floats / std::max<std::int64_t>(1, wide));
  for (std::int64_t r = 0; r < rows; r += high)
    for (std::int64_t j = 0; j < columns; j += wide) {
      Block block{std::min(high, rows - r), std::min(wide, columns - j), c + r * row_stride + j, row_stride};
      run_block(bound, kernels, result, block, column + j, temps);
    }
}

BoundEpilogue::BoundEpilogue(const Epilogue& from, const Launch& launch) : epilogue(&from) {
  if (from.bias.exists()) bias = from.bias.at(launch);
  if (from.residual.exists()) residual = from.residual.at(launch);
  for (const Operand& operand : from.operands) operands.push_back(operand.at(launch));
}

}  // namespace infini::cpu
