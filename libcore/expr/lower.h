// A definition as a flat list of steps over registers, for the evaluators.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/expr/expr.h"

namespace infini::expr {

// One thing to do. Each term has one register, and is computed in the outermost loop in which all its arguments are known.
struct Step {
  enum class Kind : std::uint8_t {
    compute,     // result = the term of its operands
    loop,        // result, a loop variable, runs over [0, extent): the steps up to `end`
    end,         // of the innermost open loop
    start,       // result = the identity of the reduction
    accumulate,  // result = result and operand 0 combined, not rounded
    finish,      // result rounded to its dtype
  };
  Kind kind = Kind::compute;
  const Term* term = nullptr;  // loop, start, accumulate, finish: the reduction
  int result = -1;
  int first_operand = 0;  // compute: term->args.size() of them; accumulate: one
  int end = -1;           // loop: the position of its end
};

// `program` must outlive it: the steps point to its terms.
struct Lowered {
  std::vector<Step> steps;
  std::vector<int> operands;     // registers
  std::vector<DType> registers;  // what each holds
  std::vector<int> axes;         // the loop variable of each axis
  int result = -1;
};

// True if reduction `inner` is one with the reduction whose body it is.
bool continues(const Term& outer, const Term& inner);

Lowered lower(int first_iter, std::size_t rank, const Ref& body);
inline Lowered lower(const Definition& d) { return lower(d.first_iter, d.type.shape.size(), d.body); }

}  // namespace infini::expr
