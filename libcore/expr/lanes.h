// Registers of many lanes: one value per output element of a tile, all computed by one instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/expr/operations.h"
#include "libcore/expr/source.h"

namespace infini::expr {

// Large enough to hide the cost of an instruction, small enough that a few registers stay in the first-level cache.
inline constexpr int max_lanes = 256;

// A value per lane, in the cheapest form that holds it: index arithmetic mostly stays affine or uniform, and costs nothing per lane.
// Strings and complex numbers are held as the address of the element, 0 for the zero element.
class Register {
 public:
  enum class Form : std::uint8_t {
    uniform,  // first in every lane
    affine,   // first + lane * step; i64 alone
    lanes,
  };
  Register(DType dtype, int capacity);

  DType dtype() const { return dtype_; }
  bool is_real() const { return is_real_; }
  Form form() const { return form_; }
  const Number& first() const { return first_; }
  std::int64_t step() const { return step_; }

  void set_uniform(Number value);
  void set_affine(std::int64_t first, std::int64_t step);
  // Becomes lanes, to be written by the caller. What reals() and integers() gave before stays readable until then.
  double* write_reals();
  std::int64_t* write_integers();
  // All `count` lanes, written out if the form is another (which it keeps).
  const double* reals(int count);
  const std::int64_t* integers(int count);
  // Becomes what `other`, of the same dtype, is.
  void copy(const Register& other, int count);

 private:
  DType dtype_;
  bool is_real_;
  Form form_ = Form::uniform;
  int filled_ = 0;  // lanes written out while the form is another
  Number first_;
  std::int64_t step_ = 0;
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
};

// `count` lanes of out = the operation on its operands; out is none of them.
void compute_unary(Op op, Register& a, Register& out, int count);
void compute_binary(Op op, Register& a, Register& b, Register& out, int count);
void compute_cast(ConversionRule rule, Register& a, Register& out, int count);
void compute_select(Register& condition, Register& then, Register& otherwise, Register& out, int count);
// Element [indices...] of the source in each lane; 0 outside its extents. `offsets`: room for `count` numbers.
void compute_read(const Source& source, std::span<Register* const> indices, Register& out, std::int64_t* offsets, int count);
// One step of a reduction, not rounded, and the rounding at its end.
void accumulate(Op reduction, Register& sum, Register& next, int count);
void finish_reduction(Register& sum, int count);
// Elements [first, first + count) of a new tensor.
void store(Register& from, TensorWriter& to, std::int64_t first, int count);

// Operations on i64 whose operands are uniform or affine, where the result is uniform or affine for all `count` lanes; else false.
bool compute_affine(Op op, const Register& a, const Register& b, Register& out, int count);

}  // namespace infini::expr
