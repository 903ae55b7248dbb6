// The matrix product that Gemm, MatMul, Conv and ConvTranspose share: rows of the left operand by pointers, the right operand in
// panels, the result with an epilogue while it is still in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/tile.h"

namespace infini::cpu {

// How `depth` x `columns` numbers lie in panels of up to `vectors` vectors: every row of a panel is whole vectors, padded with zeros.
class Panels {
 public:
  Panels() = default;
  Panels(const it_tile_kernels& kernels, std::int64_t depth, std::int64_t columns)
      : width_(kernels.width), full_(kernels.width * kernels.vectors), depth_(depth), columns_(columns) {}

  std::int64_t count() const { return (columns_ + full_ - 1) / full_; }
  std::int64_t first_column(std::int64_t panel) const { return panel * full_; }
  std::int64_t columns(std::int64_t panel) const { return columns_ - panel * full_ < full_ ? columns_ - panel * full_ : full_; }
  // Floats in a row of the panel.
  std::int64_t stride(std::int64_t panel) const { return (columns(panel) + width_ - 1) / width_ * width_; }
  std::int64_t offset(std::int64_t panel) const { return panel * full_ * depth_; }
  std::int64_t floats() const { return columns_ == 0 ? 0 : offset(count() - 1) + stride(count() - 1) * depth_; }
  std::int64_t depth() const { return depth_; }
  bool whole_vectors(std::int64_t panel) const { return columns(panel) % width_ == 0; }

 private:
  std::int64_t width_ = 1, full_ = 1, depth_ = 0, columns_ = 0;
};

// A right operand anywhere: element (tap, i, column) at data + 4 * (tap * tap_stride + i * inner_stride + column * column_stride).
struct Weights {
  const std::byte* data = nullptr;  // perhaps unaligned
  std::int64_t taps = 1, inner = 0;
  std::int64_t tap_stride = 0, inner_stride = 0, column_stride = 1;
  float scale = 1;
  std::vector<std::int64_t> tap_places;  // instead of tap * tap_stride, where taps lie unevenly
};

// Copies panel number `panel` to its place in `to`.
void pack_panel(const Panels& panels, const Weights& from, std::int64_t panel, float* to);

// batches products c(m x n) = a(m x taps*k) b(taps*k x n), each with the epilogue.
struct Product {
  const it_tile_kernels* kernels = nullptr;
  const it_vector_kernels* vectors = nullptr;
  std::int64_t batches = 1, m = 0, n = 0, taps = 1, k = 0;

  // pointers[tap * rows + r]: where row first + r of the left operand begins for that tap, for the batch.
  using Rows = void (*)(const void* context, std::int64_t batch, std::int64_t first, std::int64_t rows, const float** pointers);
  Rows left = nullptr;
  const void* context = nullptr;
  // pointers[r]: where row first + r of the result begins. Null: c + c_offset[batch] + row * ldc.
  using ResultRows = void (*)(const void* context, std::int64_t batch, std::int64_t first, std::int64_t rows, float** pointers);
  ResultRows result = nullptr;

  // Right operands: packed, or read in place with rows ldb apart (then `tails` holds the last panel if it is not whole vectors).
  const float* b = nullptr;
  std::vector<std::int64_t> b_offset;  // by batch, in floats
  std::int64_t ldb = 0;                // 0: packed
  const float* tails = nullptr;
  std::int64_t tail_stride = 0;        // from batch to batch

  float* c = nullptr;
  std::vector<std::int64_t> c_offset;  // by batch
  std::int64_t ldc = 0;
  std::vector<std::int64_t> column;    // by batch: the epilogue's column number of the batch's column 0; empty: 0
};

// Scratch that a kernel keeps between launches.
class ProductScratch {
 public:
  struct PerThread {
    std::vector<const float*> left;
    std::vector<float*> result;
    std::vector<float> temps;
  };
  explicit ProductScratch(int threads = 0) : threads_(static_cast<std::size_t>(threads)) {}
  PerThread& of(int thread) { return threads_[static_cast<std::size_t>(thread)]; }

 private:
  std::vector<PerThread> threads_;
};

void run_product(Pool& pool, const Product& product, const BoundEpilogue& epilogue, ProductScratch& scratch);

}  // namespace infini::cpu
