#include <algorithm>
#include <optional>

#include "libcore/expr/lanes.h"

namespace infini::expr {
namespace {

using Form = Register::Form;

// first + lane * step in all lanes without overflow; step 0 for a uniform register.
struct Line {
  std::int64_t first = 0, last = 0, step = 0;
  std::int64_t lowest() const { return std::min(first, last); }
  std::int64_t highest() const { return std::max(first, last); }
};

std::optional<Line> line(std::int64_t first, std::int64_t step, int count) {
  std::int64_t rise, last;
  if (__builtin_mul_overflow(step, std::int64_t{count - 1}, &rise) || __builtin_add_overflow(first, rise, &last)) return std::nullopt;
  return Line{first, last, step};
}

std::int64_t step_of(const Register& r) { return r.form() == Form::affine ? r.step() : 0; }

void set_line(Register& out, std::int64_t first, std::int64_t step) {
  if (step == 0) {
    out.set_uniform({0, first});
  } else {
    out.set_affine(first, step);
  }
}

std::int64_t wrapped(Op op, std::int64_t a, std::int64_t b) {
  if (op == Op::add) return int_op<Op::add, std::int64_t>(a, b, 64);
  if (op == Op::sub) return int_op<Op::sub, std::int64_t>(a, b, 64);
  return int_op<Op::mul, std::int64_t>(a, b, 64);
}

bool linear(Op op, const Register& a, const Register& b, Register& out) {
  std::int64_t a0 = a.first().integer, b0 = b.first().integer, da = step_of(a), db = step_of(b);
  if (op == Op::mul) {
    if (da != 0 && db != 0) return false;
    set_line(out, wrapped(op, a0, b0), da != 0 ? wrapped(op, da, b0) : wrapped(op, a0, db));
  } else {
    set_line(out, wrapped(op, a0, b0), wrapped(op, da, db));
  }
  return true;
}

// By one positive divisor: all lanes have one quotient, or the step is a multiple of it.
bool division(Op op, const Line& a, std::int64_t divisor, Register& out) {
  bool truncates = op == Op::div || op == Op::fmod;
  if (divisor <= 0 || (truncates && a.lowest() < 0)) return false;
  std::int64_t quotient = infini::floor_div(a.first, divisor);
  bool one_quotient = quotient == infini::floor_div(a.last, divisor);
  if (!one_quotient && a.step % divisor != 0) return false;
  if (op == Op::div || op == Op::floor_div) {
    set_line(out, quotient, one_quotient ? 0 : a.step / divisor);
  } else {
    set_line(out, infini::floor_mod(a.first, divisor), one_quotient ? a.step : 0);
  }
  return true;
}

// Compares where the sign of a - b is the same in all lanes.
bool comparison(Op op, const Register& a, const Register& b, Register& out, int count) {
  std::int64_t apart, slope;
  if (__builtin_sub_overflow(a.first().integer, b.first().integer, &apart) || __builtin_sub_overflow(step_of(a), step_of(b), &slope)) return false;
  auto difference = line(apart, slope, count);
  if (!difference) return false;
  std::int64_t low = difference->lowest(), high = difference->highest();
  bool below = high<0, above = low> 0, same = low == 0 && high == 0;
  if (op == Op::minimum || op == Op::maximum) {
    bool a_is_lower = high <= 0;
    if (!a_is_lower && low < 0) return false;
    out.copy((op == Op::minimum) == a_is_lower ? a : b, count);
    return true;
  }
  if (op == Op::eq && !below && !above && !same) return false;
  if (op == Op::lt && !below && low < 0) return false;
  if (op == Op::le && !above && high > 0) return false;
  out.set_uniform({0, op == Op::eq ? same : op == Op::lt ? below : !above});
  return true;
}

}  // namespace

bool compute_affine(Op op, const Register& a, const Register& b, Register& out, int count) {
  if (a.dtype() != DType::i64 || a.form() == Form::lanes || b.form() == Form::lanes) return false;
  if (holds(OpList<Op::add, Op::sub, Op::mul>{}, op)) return linear(op, a, b, out);
  if (holds(OpList<Op::eq, Op::lt, Op::le, Op::minimum, Op::maximum>{}, op)) return comparison(op, a, b, out, count);
  if (!holds(OpList<Op::div, Op::floor_div, Op::floor_mod, Op::fmod>{}, op) || b.form() != Form::uniform) return false;
  auto dividend = line(a.first().integer, step_of(a), count);
  return dividend && division(op, *dividend, b.first().integer, out);
}

}  // namespace infini::expr
