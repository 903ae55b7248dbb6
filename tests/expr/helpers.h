// Short ways to write programs' inputs and to look at their outputs.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "libcore/expr/evaluate.h"

namespace infini::expr {

inline std::vector<Tensor> run_all(const Program& program, const std::vector<Tensor>& inputs) {
  auto made = run(program, inputs);
  INFO(to_string(program));
  if (!made) FAIL(made.error().text());
  return std::move(*made);
}

inline Tensor run_one(const Program& program, const std::vector<Tensor>& inputs) { return run_all(program, inputs).at(0); }

inline std::vector<double> reals(const Tensor& tensor) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor.count(); ++i) out.push_back(tensor.as_double(i));
  return out;
}

// Elements rounded to the element type.
inline Tensor tensor(DType dtype, Extents extents, const std::vector<double>& elements) {
  auto writer = TensorWriter::make(dtype, std::move(extents));
  REQUIRE(writer.has_value());
  for (std::size_t i = 0; i < elements.size(); ++i) writer->set_double(static_cast<std::int64_t>(i), elements[i]);
  return std::move(*writer).finish();
}

inline Tensor integers(DType dtype, Extents extents, const std::vector<std::int64_t>& elements) {
  auto writer = TensorWriter::make(dtype, std::move(extents));
  REQUIRE(writer.has_value());
  for (std::size_t i = 0; i < elements.size(); ++i) writer->set_int(static_cast<std::int64_t>(i), elements[i]);
  return std::move(*writer).finish();
}

// Multiples of 1/64 in (-4, 4), from a fixed seed.
inline Tensor random_tensor(DType dtype, Extents extents, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> elements(static_cast<std::size_t>(element_count(extents).value()));
  for (double& element : elements) element = (static_cast<int>(generator() % 511) - 255) / 64.0;
  return tensor(dtype, std::move(extents), elements);
}

// out[at] = element(at) over one input.
inline Program map_program(DType from, const Shape& in, DType to, const Shape& out,
                           const std::function<Expr(const TensorRef&, const Indices&)>& element) {
  ProgramBuilder p;
  TensorRef x = p.input(from, in);
  p.output(p.define(to, out, [&](const Indices& at) { return element(x, at); }));
  return std::move(p).finish();
}

}  // namespace infini::expr
