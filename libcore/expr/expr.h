// Index notation: the language in which an operator states what it computes.
//
// A Program is a list of definitions; each gives one tensor element by element:
//     s[i,j] = sum(k < K) a[i,k] * b[k,j]
// Meaning of everything below, on which rewrites, certificates, kernels and tests all stand:
//   * Every tensor, input or defined, is a total function on integer indices: outside its extents it reads as 0
//     (false, ""). Nothing faults: x div 0 on integers is 0, shifts beyond the width give 0.
//   * Every operation rounds its result to its dtype once, to nearest even; integers wrap around. The logical operations and shifts
//     work on the bits of integers; a shift by a negative amount counts as one beyond the width; pow of an integer to a negative
//     power is the truncated quotient.
//   * Indices are ordinary i64 expressions: loop variables, literals, dimensions, arithmetic with floor semantics, and values read.
//   * A reduction runs its variable upward from 0 and starts from the identity (sum 0, prod 1, max lowest or -inf, min highest or +inf);
//     it accumulates in its own dtype, floats in f64, and rounds once at the end. A reduction whose body is a reduction of the same
//     operation is one with it: one accumulator, one rounding. max and min return NaN if any operand is NaN.
//   * A loop variable is bound once: by the definition or by one reduction.
//   * select evaluates as if only the chosen side existed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcore/tensor/dim.h"
#include "libcore/tensor/dtype.h"
#include "libcore/tensor/element.h"

namespace infini::expr {

enum class Op : std::uint8_t {
  literal, dim, iter, read, cast, select,
  sum, prod, max, min,                                                       // reductions
  add, sub, mul, div, floor_div, floor_mod, fmod, pow, minimum, maximum,     // div: floats; integers truncate toward zero
  eq, lt, le, logical_and, logical_or, logical_xor, shift_left, shift_right, atan2,
  neg, abs, sign, logical_not, exp, log, sqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
  erf, floor, ceil, round_even, trunc, is_nan, is_inf, reciprocal,
};

bool is_reduction(Op op);
bool is_binary(Op op);
bool is_unary(Op op);
std::string_view name(Op op);

// A value of a numeric type: a float of any type is held as f64, an integer as i64 (u64: the same bits), a bool as 0 or 1.
struct Number {
  double real = 0;           // of a float type
  std::int64_t integer = 0;  // of an integer type or bool
};

struct Term;
using Ref = std::shared_ptr<const Term>;

// One node of an expression; immutable and shared.
struct Term {
  Op op = Op::literal;
  DType dtype = DType::none;
  std::vector<Ref> args;   // read: one index per axis; reduction: the body
  double real = 0;         // literal of a float type
  std::int64_t integer = 0;// literal of an integer or bool type; iter and reduction: number of the loop variable; read: tensor number
  Dim dim;                 // dim: the value; reduction: the extent of its variable
  ConversionRule rule;     // cast

  ~Term();  // not recursive: chains of terms may be long
};

// A handle with arithmetic. Operands of one operation have one dtype (checked); bool results come from comparisons. Integer terms are
// simplified as they are built: operations on literals and dimensions, neutral and absorbing operands, select on a literal.
class Expr {
 public:
  Expr() = default;
  explicit Expr(Ref term) : term_(std::move(term)) {}
  const Ref& term() const { return term_; }
  DType dtype() const { return term_->dtype; }
  explicit operator bool() const { return term_ != nullptr; }

 private:
  Ref term_;
};
using Indices = std::vector<Expr>;

// Literals. `constant` takes any numeric dtype and rounds to it.
Expr constant(DType dtype, double value);
Expr constant_int(DType dtype, std::int64_t value);
Expr index(std::int64_t value);  // an i64 literal
Expr index(const Dim& value);    // a dimension as i64

Expr cast(DType dtype, Expr a, ConversionRule rule = {});
Expr select(Expr condition, Expr then, Expr otherwise);
Expr unary(Op op, Expr a);            // dtype of a; is_nan, is_inf: bool
Expr binary(Op op, Expr a, Expr b);   // dtype of a; eq, lt, le: bool; only eq takes strings and complex numbers
inline Expr operator+(Expr a, Expr b) { return binary(Op::add, a, b); }
inline Expr operator-(Expr a, Expr b) { return binary(Op::sub, a, b); }
inline Expr operator*(Expr a, Expr b) { return binary(Op::mul, a, b); }
inline Expr operator/(Expr a, Expr b) { return binary(Op::div, a, b); }
inline Expr operator-(Expr a) { return unary(Op::neg, a); }
inline Expr floor_div(Expr a, Expr b) { return binary(Op::floor_div, a, b); }
inline Expr floor_mod(Expr a, Expr b) { return binary(Op::floor_mod, a, b); }
inline Expr minimum(Expr a, Expr b) { return binary(Op::minimum, a, b); }
inline Expr maximum(Expr a, Expr b) { return binary(Op::maximum, a, b); }
inline Expr equal(Expr a, Expr b) { return binary(Op::eq, a, b); }
inline Expr less(Expr a, Expr b) { return binary(Op::lt, a, b); }
inline Expr less_equal(Expr a, Expr b) { return binary(Op::le, a, b); }
inline Expr both(Expr a, Expr b) { return binary(Op::logical_and, a, b); }
inline Expr either(Expr a, Expr b) { return binary(Op::logical_or, a, b); }
inline Expr negate(Expr a) { return unary(Op::logical_not, a); }

// A tensor of a program: input or defined. tensor(i, j) reads it; fewer or more indices than axes is a bug.
class TensorRef {
 public:
  TensorRef() = default;
  TensorRef(int number, DType dtype, Shape shape) : number_(number), dtype_(dtype), shape_(std::move(shape)) {}
  int number() const { return number_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  Expr operator()(Indices indices) const;
  // NumPy broadcasting: reads at the last rank() of `indices`, axes of extent 1 at 0.
  Expr broadcast(const Indices& indices) const;

 private:
  int number_ = -1;
  DType dtype_ = DType::none;
  Shape shape_;
};

struct TensorInfo {
  DType dtype = DType::none;
  Shape shape;
};

// Element [first_iter, first_iter + 1, ...] is `body`.
struct Definition {
  TensorInfo type;
  int first_iter = 0;
  Ref body;
};

// A fact that must hold for every element of a box, else running is an error: an index in range, for instance.
struct Requirement {
  Shape box;
  int first_iter = 0;
  Ref condition;
  std::string message;
};

struct Program {
  std::vector<TensorInfo> inputs;         // tensors 0 .. inputs.size()-1
  std::vector<Definition> definitions;    // the following ones
  std::vector<int> outputs;               // tensor numbers
  std::vector<Requirement> requirements;
  int iter_count = 0;
};

// Writes a program; the functions given receive fresh loop variables.
class ProgramBuilder {
 public:
  TensorRef input(DType dtype, Shape shape);
  TensorRef define(DType dtype, Shape shape, const std::function<Expr(const Indices&)>& element);
  void require(Shape box, const std::function<Expr(const Indices&)>& condition, std::string message);
  Expr reduce(Op reduction, const Dim& extent, const std::function<Expr(Expr)>& body);
  // Over several variables at once, the last one fastest.
  Expr reduce(Op reduction, const Shape& extents, const std::function<Expr(const Indices&)>& body);
  Expr sum(const Dim& extent, const std::function<Expr(Expr)>& body) { return reduce(Op::sum, extent, body); }
  void output(const TensorRef& tensor) { program_.outputs.push_back(tensor.number()); }
  Program finish() && { return std::move(program_); }

 private:
  Indices fresh_iters(std::size_t count);
  Program program_;
};

// The row-major number of `indices` in `shape`, and its inverse (floor div and mod).
Expr flat_index(const Indices& indices, const Shape& shape);
Indices unflatten(Expr flat, const Shape& shape);

// The program with every symbol bound to its number.
Program substitute(const Program& program, const Bindings& bindings);

// One line per definition: "t2[i,j] = sum(k < 64) t0[i,k] * t1[k,j]  : f32[8,32]"; long or shared terms are named on lines before it.
std::string to_string(const Program& program);

}  // namespace infini::expr
