// Chains of elementwise f32 nodes as a short list of vector steps; run on blocks that fit the first-level cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/device.h"
#include "backends/cpu/kernels/vector.h"
#include "backends/cpu/region.h"

namespace infini::cpu {

struct Program {
  enum class Kind { external, step, number };
  struct Operand {
    Kind kind = Kind::number;
    int index = 0;      // of an external, or of an earlier step
    float number = 0;
  };
  struct Step {
    int op = 0;         // it_vop, or a function of the C library (numbers from IT_V_COUNT on)
    Operand x[2];
    int arity = 1;
    float p[2] = {0, 0};
    int temp = -1;      // the temporary that takes the result; -1: the output
  };

  std::vector<Step> steps;
  std::vector<int> externals;  // indices of region values that are not single constant numbers
  int temps = 0;

  // Nodes [first, end) of the region as one program whose last result is value `output`. unsupported, with the node, if one is not
  // elementwise on f32 or if another result is wanted outside. seed: a value that is external number 0, or -1.
  static Result<Program> compile(const Region& region, std::size_t first, std::size_t end, int output, int seed = -1);
};

// Where an external's elements for one block lie.
struct Source {
  const float* data = nullptr;
  std::int64_t row = 0;   // floats from one row to the next
  std::int32_t col = 1;   // 1, or 0 for one number a row
};

// A block of rows * n elements.
struct Block {
  std::int64_t rows = 1, n = 0;
  float* y = nullptr;
  std::int64_t y_row = 0;
};

// Floats that one temporary takes; a block must not be larger.
constexpr std::int64_t block_floats = 1024;

// scratch: program.temps * block_floats floats.
void run_program(const Program& program, const it_vector_kernels& kernels, const Block& block, std::span<const Source> sources, float* scratch);

// An estimate of nanoseconds per element on one core.
double cost_per_element(const Program& program, const Device& device);

// True if Program::compile knows the node's operator.
bool is_elementwise(const Node& node);

}  // namespace infini::cpu
