// Evaluation of programs.
//
// Three ways over the same terms: `evaluate_element<Domain>` asks for single elements, on demand, in any domain; `run` computes whole tensors
// in the element types themselves (the reference kernels); `evaluate_dims` follows small integer tensors through symbolic dimensions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/expr/expr.h"
#include "libcore/tensor/tensor.h"

namespace infini::expr {

// All outputs of a program whose dimensions are numbers, in tiles of lanes over the output's elements, definition by definition.
// Input types and extents must be those the program states (internal otherwise). run_failed if memory is short or a requirement fails (its message).
Result<std::vector<Tensor>> run(const Program& program, std::span<const Tensor> inputs);

// Elements of an integer or bool tensor whose values are dimensions; nothing: not known.
struct DimTensor {
  Shape shape;
  std::vector<std::optional<Dim>> elements;  // row-major
  friend bool operator==(const DimTensor&, const DimTensor&) = default;
};

// Output `output` of the program with inputs known as dimensions (null: unknown). Nothing if its shape is not constant or it has more
// than `limit` elements. An element that depends on an unknown one, or on a comparison that the symbols leave open, is not known.
std::optional<DimTensor> evaluate_dims(const Program& program, std::size_t output, std::span<const DimTensor* const> inputs, std::size_t limit = 64);

// ---- domains for certificates -----------------------------------------------------------------------------------------------------------

// Integers modulo the Mersenne prime 2^61-1: + - * exact, division by modular inverse; other functions are uninterpreted (a hash of
// operator and operands), so equal results mean equal expressions with high probability.
struct PrimeField {
  using Value = std::uint64_t;
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
};
// Hash-consed terms: nothing is interpreted but loop variables, dimensions and index arithmetic.
struct Uninterpreted {
  using Value = std::uint64_t;
};
// Numbers in their own types, each operation rounded: a float type as f64, an integer type as i64.
struct Typed {
  struct Value {
    double real = 0;
    std::int64_t integer = 0;
  };
};

// One element of output `output` at `at`; `input(tensor, indices)` gives an input's element inside its extents. Dimensions must be numbers.
template <class Domain>
typename Domain::Value evaluate_element(const Program& program, std::size_t output, std::span<const std::int64_t> at,
                                        const std::function<typename Domain::Value(int tensor, std::span<const std::int64_t> indices)>& input);

}  // namespace infini::expr
