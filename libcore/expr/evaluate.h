// Evaluation of programs.
//
// Three ways over the same terms: `elements<Domain>` gives single elements, on demand, in any domain; `run` computes whole tensors
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

// ---- single elements, in several domains -------------------------------------------------------------------------------------------------

// Numbers in their own types, each operation rounded, as `run` does. A string or complex number is a number that stands for it (0 for the
// zero element).
struct Typed {
  using Value = Number;
};

// The two domains for certificates. Float types are abstract; what is computed from literals, loop variables, dimensions and the elements
// of integer and bool inputs alone is computed in its own types, so that indices and conditions are numbers. The Value of an integer or
// bool is its i64 as bits. A condition or index that depends on a float makes an uninterpreted term of select or read.

// Integers modulo the Mersenne prime 2^61-1: + - * exact, division by modular inverse, powers by small literals; other functions are
// uninterpreted (a hash of operator and operands), so equal results mean equal expressions with high probability. minimum and maximum do
// not see the order of their operands.
struct PrimeField {
  using Value = std::uint64_t;
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
};
// Hashed terms, nothing interpreted: equal Values mean that the same operations, in the same order, are applied to the same elements.
struct Uninterpreted {
  using Value = std::uint64_t;
};

// A float literal as an element of the field; a constant of a program that is given to the other as an input must be given so.
std::uint64_t in_prime_field(double value);

// Element `indices` of an input, inside its extents. PrimeField: a float's below the prime.
template <class Domain>
using ElementOfInput = std::function<typename Domain::Value(int tensor, std::span<const std::int64_t> indices)>;

// Element `indices` of output `output`.
template <class Domain>
using ElementOfOutput = std::function<typename Domain::Value(std::size_t output, std::span<const std::int64_t> indices)>;

// Elements of a program's outputs, on demand; those of definitions are computed once and kept by the function returned. `program` must
// outlive it and have dimensions that are numbers.
template <class Domain>
ElementOfOutput<Domain> elements(const Program& program, ElementOfInput<Domain> input);
template <>
ElementOfOutput<Typed> elements<Typed>(const Program& program, ElementOfInput<Typed> input);
template <>
ElementOfOutput<PrimeField> elements<PrimeField>(const Program& program, ElementOfInput<PrimeField> input);
template <>
ElementOfOutput<Uninterpreted> elements<Uninterpreted>(const Program& program, ElementOfInput<Uninterpreted> input);

// One element of output `output` at `at`.
template <class Domain>
typename Domain::Value evaluate_element(const Program& program, std::size_t output, std::span<const std::int64_t> at, const ElementOfInput<Domain>& input) {
  return elements<Domain>(program, input)(output, at);
}

}  // namespace infini::expr
