// What follows a matrix product or convolution in the same region: a bias by column, a residual, bounds, then any elementwise steps.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/program.h"

namespace infini::cpu {

// An f32 operand for launches: an input of the region, or an aligned copy of a constant.
class Operand {
 public:
  Operand() = default;
  static Operand of(const Value& value);
  // order: how the launch will see a non-constant operand; a constant is copied into it.
  static Operand of(const Value& value, const Order& order);
  static Operand of(std::vector<float> numbers);
  bool exists() const { return input_ >= 0 || constant_.size() > 0; }
  const float* at(const Launch& launch) const { return input_ >= 0 ? launch.input<float>(input_) : constant_.data(); }
  // Moves a constant's numbers on by one place (a planted fault).
  void shift();

 private:
  int input_ = -1;
  std::vector<float> constant_;
};

// How an operand of the steps lies against the result.
enum class Spread { full, column, single };

struct Epilogue {
  Operand bias, residual;
  float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
  Program program;               // external 0 is the product after bias, residual and bounds; no steps: nothing remains
  std::vector<Operand> operands;  // of externals 1 and up
  std::vector<Spread> spreads;
  std::vector<int> full;          // values that lie as the result does: an operand of these is wanted in the result's order

  // Reads nodes 1 and up of a region whose node 0 is the product. column_axis: the axis of the result that is innermost in memory
  // under `order`. bias: the product's own, one number a column, or not existing.
  static Result<Epilogue> make(const Region& region, const Device& device, std::size_t column_axis, const Order& order, Operand bias);
  bool plain() const { return program.steps.empty(); }
};

// The epilogue at launch.
struct BoundEpilogue {
  const Epilogue* epilogue = nullptr;
  const float *bias = nullptr, *residual = nullptr;
  std::vector<const float*> operands;

  BoundEpilogue(const Epilogue& from, const Launch& launch);
};

// Runs the steps on rows * columns elements at `c` of the result that begins at `result`; `column` is the number of c's first column.
// temps: program.temps * block_floats floats.
void run_steps(const BoundEpilogue& bound, const it_vector_kernels& kernels, const float* result, float* c, std::int64_t rows, std::int64_t row_stride,
               std::int64_t columns, std::int64_t column, float* temps);

// The orders of a region's inputs where `first` (a value) and the epilogue's full operands lie in `order`, all others row-major.
std::vector<Order> orders_beside(const Region& region, int first, const Order& order, const Epilogue& epilogue);

// The single result of a region of a product and its epilogue.
const Value& result_of(const Region& region);

}  // namespace infini::cpu
