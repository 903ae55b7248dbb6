// What the single operations do to numbers. Every evaluator uses these functions, so that all agree bit for bit.
//
// The `_op` functions do not round or wrap; `settle` does, once per operation.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "libcore/expr/expr.h"

namespace infini::expr {

template <Op... ops>
struct OpList {};
template <Op op>
using OpConstant = std::integral_constant<Op, op>;

using RealBinaryOps =
    OpList<Op::add, Op::sub, Op::mul, Op::div, Op::minimum, Op::maximum, Op::floor_div, Op::floor_mod, Op::fmod, Op::pow, Op::atan2>;
using IntBinaryOps = OpList<Op::add, Op::sub, Op::mul, Op::div, Op::floor_div, Op::floor_mod, Op::minimum, Op::maximum, Op::fmod, Op::pow,
                            Op::logical_and, Op::logical_or, Op::logical_xor, Op::shift_left, Op::shift_right>;
using CompareOps = OpList<Op::eq, Op::lt, Op::le>;
using RealUnaryOps =
    OpList<Op::neg, Op::abs, Op::sign, Op::exp, Op::log, Op::sqrt, Op::sin, Op::cos, Op::tan, Op::asin, Op::acos, Op::atan, Op::sinh, Op::cosh,
           Op::tanh, Op::asinh, Op::acosh, Op::atanh, Op::erf, Op::floor, Op::ceil, Op::round_even, Op::trunc, Op::reciprocal>;
using RealTestOps = OpList<Op::is_nan, Op::is_inf>;
using IntUnaryOps = OpList<Op::neg, Op::abs, Op::sign, Op::logical_not>;

// Calls visit(OpConstant<op>) if `op` is in the list; false if it is not.
template <Op... ops, class Visit>
bool with_op(OpList<ops...>, Op op, Visit&& visit) {
  return ((op == ops && (visit(OpConstant<ops>{}), true)) || ...);
}
template <Op... ops>
constexpr bool holds(OpList<ops...>, Op op) {
  return ((op == ops) || ...);
}

// The i64 or u64 arithmetic result brought into the range of `dtype`; bool: nonzero.
inline std::int64_t wrap(DType dtype, std::int64_t value) {
  if (dtype == DType::i64 || dtype == DType::u64) return value;
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  int unused = 64 - info(dtype).bits;
  if (is_signed_int(dtype)) return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused >> unused);
}

inline double floor_mod_real(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

inline double floor_div_real(double a, double b) {
  if (b == 0) return a / b;
  double quotient = (a - floor_mod_real(a, b)) / b;
  double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

template <Op op>
inline double real_op(double a, double b) {
  if constexpr (op == Op::add)
    return a + b;
  else if constexpr (op == Op::sub)
    return a - b;
  else if constexpr (op == Op::mul)
    return a * b;
  else if constexpr (op == Op::div)
    return a / b;
  else if constexpr (op == Op::minimum)
    return b < a || b != b ? b : a;
  else if constexpr (op == Op::maximum)
    return a < b || b != b ? b : a;
  else if constexpr (op == Op::floor_div)
    return floor_div_real(a, b);
  else if constexpr (op == Op::floor_mod)
    return floor_mod_real(a, b);
  else if constexpr (op == Op::fmod)
    return std::fmod(a, b);
  else if constexpr (op == Op::pow)
    return std::pow(a, b);
  else if constexpr (op == Op::atan2)
    return std::atan2(a, b);
}

template <Op op>
inline double real_op(double a) {
  if constexpr (op == Op::neg)
    return -a;
  else if constexpr (op == Op::abs)
    return std::fabs(a);
  else if constexpr (op == Op::sign)
    return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;
  else if constexpr (op == Op::exp)
    return std::exp(a);
  else if constexpr (op == Op::log)
    return std::log(a);
  else if constexpr (op == Op::sqrt)
    return std::sqrt(a);
  else if constexpr (op == Op::sin)
    return std::sin(a);
  else if constexpr (op == Op::cos)
    return std::cos(a);
  else if constexpr (op == Op::tan)
    return std::tan(a);
  else if constexpr (op == Op::asin)
    return std::asin(a);
  else if constexpr (op == Op::acos)
    return std::acos(a);
  else if constexpr (op == Op::atan)
    return std::atan(a);
  else if constexpr (op == Op::sinh)
    return std::sinh(a);
  else if constexpr (op == Op::cosh)
    return std::cosh(a);
  else if constexpr (op == Op::tanh)
    return std::tanh(a);
  else if constexpr (op == Op::asinh)
    return std::asinh(a);
  else if constexpr (op == Op::acosh)
    return std::acosh(a);
  else if constexpr (op == Op::atanh)
    return std::atanh(a);
  else if constexpr (op == Op::erf)
    return std::erf(a);
  else if constexpr (op == Op::floor)
    return std::floor(a);
  else if constexpr (op == Op::ceil)
    return std::ceil(a);
  else if constexpr (op == Op::round_even)
    return std::nearbyint(a);
  else if constexpr (op == Op::trunc)
    return std::trunc(a);
  else if constexpr (op == Op::reciprocal)
    return 1 / a;
}

template <Op op>
inline bool real_test(double a) {
  if constexpr (op == Op::is_nan)
    return a != a;
  else
    return std::fabs(a) == std::numeric_limits<double>::infinity();
}

// T is double, std::int64_t or std::uint64_t.
template <Op op, class T>
inline bool compare_op(T a, T b) {
  if constexpr (op == Op::eq)
    return a == b;
  else if constexpr (op == Op::lt)
    return a < b;
  else
    return a <= b;
}

// b to the power `exponent` by squaring, modulo 2^64.
std::int64_t integer_power(std::int64_t base, std::int64_t exponent, bool is_signed);

// T is std::int64_t, or std::uint64_t for u64.
template <Op op, class T>
inline T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return op == Op::div || op == Op::floor_div ? static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a)) : 0;
    if constexpr (op == Op::floor_div) return infini::floor_div(a, b);
    if constexpr (op == Op::floor_mod) return infini::floor_mod(a, b);
  }
  return op == Op::div || op == Op::floor_div ? a / b : a % b;
}

// Integers of `width` bits; T as above. The result is taken modulo 2^64; wrap() does the rest.
template <Op op, class T>
inline std::int64_t int_op(std::int64_t a, std::int64_t b, int width) {
  auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  auto ta = static_cast<T>(a), tb = static_cast<T>(b);
  bool beyond = ub >= static_cast<std::uint64_t>(width);
  if constexpr (op == Op::add)
    return static_cast<std::int64_t>(ua + ub);
  else if constexpr (op == Op::sub)
    return static_cast<std::int64_t>(ua - ub);
  else if constexpr (op == Op::mul)
    return static_cast<std::int64_t>(ua * ub);
  else if constexpr (op == Op::minimum)
    return tb < ta ? b : a;
  else if constexpr (op == Op::maximum)
    return ta < tb ? b : a;
  else if constexpr (op == Op::pow)
    return integer_power(a, b, std::is_signed_v<T>);
  else if constexpr (op == Op::logical_and)
    return a & b;
  else if constexpr (op == Op::logical_or)
    return a | b;
  else if constexpr (op == Op::logical_xor)
    return a ^ b;
  else if constexpr (op == Op::shift_left)
    return beyond ? 0 : static_cast<std::int64_t>(ua << ub);
  else if constexpr (op == Op::shift_right)
    return beyond ? 0 : static_cast<std::int64_t>(ta >> ub);
  else
    return static_cast<std::int64_t>(divide<op, T>(ta, tb));
}

template <Op op>
inline std::int64_t int_op(std::int64_t a, bool is_signed, bool is_bool) {
  if constexpr (op == Op::neg)
    return static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
  else if constexpr (op == Op::abs)
    return is_signed && a < 0 ? int_op<Op::neg>(a, is_signed, is_bool) : a;
  else if constexpr (op == Op::sign)
    return a == 0 ? 0 : is_signed && a < 0 ? -1 : 1;
  else
    return is_bool ? 1 - a : ~a;
}

// ---- the same by name, on whole numbers ---------------------------------------------------------------------------------------------

// Rounded or wrapped to `dtype`.
Number settle(DType dtype, Number value);
// `operands`: the dtype of a and b. Settled.
Number apply_unary(Op op, DType operand, const Number& a);
Number apply_binary(Op op, DType operands, const Number& a, const Number& b);
Number convert(DType from, DType to, const Number& value, ConversionRule rule);
// The number a reduction of `op` in `dtype` starts from, and one step of it, not yet rounded (settle at the end).
Number identity(Op reduction, DType dtype);
Number accumulate(Op reduction, DType dtype, const Number& sum, const Number& next);
// The binary operation that a reduction repeats: add, mul, maximum, minimum.
Op step_of(Op reduction);
// The value of a literal.
inline Number literal_of(const Term& term) { return {term.real, term.integer}; }

}  // namespace infini::expr
