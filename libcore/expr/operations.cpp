#include "libcore/expr/operations.h"

#include "libcore/base/result.h"

namespace infini::expr {
namespace {

bool is_u64(DType dtype) { return dtype == DType::u64; }

// An integer as f64 such that one more rounding, to a float type of at most 51 bits of precision, gives what rounding the integer itself
// would: halfway cases are kept apart from their neighbours by setting the last bit whenever bits are lost (round to odd).
double to_odd(std::int64_t value, bool is_unsigned) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (value >= -exact && value <= exact && !(is_unsigned && value < 0)) return static_cast<double>(value);
  bool negative = !is_unsigned && value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = std::uint64_t{0} - magnitude;
  int shift = 0;
  while (magnitude >> shift >> 53 != 0) ++shift;
  std::uint64_t kept = magnitude >> shift;
  if (kept << shift != magnitude) kept |= 1;
  double out = std::ldexp(static_cast<double>(kept), shift);
  return negative ? -out : out;
}

double to_real(DType from, DType to, std::int64_t value, ConversionRule rule) {
  if (to == DType::f64) return is_u64(from) ? static_cast<double>(static_cast<std::uint64_t>(value)) : static_cast<double>(value);
  double wide = to_odd(value, is_u64(from));
  return decode_float(to, encode_float(to, wide, rule));
}

std::int64_t to_integer(DType to, double value) {
  if (to == DType::boolean) return value != 0 ? 1 : 0;
  if (is_u64(to)) return static_cast<std::int64_t>(truncate_to_u64(value));
  return wrap(to, truncate_to_int(value));
}

Number integer_binary(Op op, DType dtype, std::int64_t a, std::int64_t b) {
  Number out;
  int width = info(dtype).bits;
  bool known = with_op(IntBinaryOps{}, op, [&](auto constant) {
    constexpr Op which = decltype(constant)::value;
    out.integer = is_u64(dtype) ? int_op<which, std::uint64_t>(a, b, width) : int_op<which, std::int64_t>(a, b, width);
  });
  known = known || with_op(CompareOps{}, op, [&](auto constant) {
            constexpr Op which = decltype(constant)::value;
            out.integer = is_u64(dtype) ? compare_op<which>(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)) : compare_op<which>(a, b);
          });
  IT_CHECK(known);
  return out;
}

Number real_binary(Op op, double a, double b) {
  Number out;
  bool known = with_op(RealBinaryOps{}, op, [&](auto constant) { out.real = real_op<decltype(constant)::value>(a, b); }) ||
               with_op(CompareOps{}, op, [&](auto constant) { out.integer = compare_op<decltype(constant)::value>(a, b); });
  IT_CHECK(known);
  return out;
}

}  // namespace

std::int64_t integer_power(std::int64_t base, std::int64_t exponent, bool is_signed) {
  if (is_signed && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::uint64_t out = 1;
  auto square = static_cast<std::uint64_t>(base);
  for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1) {
    if (rest & 1) out *= square;
    square *= square;
  }
  return static_cast<std::int64_t>(out);
}

Number settle(DType dtype, Number value) {
  if (is_floating(dtype)) return {round_to(dtype, value.real), 0};
  return {0, wrap(dtype, value.integer)};
}

Number apply_unary(Op op, DType operand, const Number& a) {
  Number out;
  if (is_floating(operand)) {
    bool test = with_op(RealTestOps{}, op, [&](auto constant) { out.integer = real_test<decltype(constant)::value>(a.real); });
    if (test) return out;
    bool known = with_op(RealUnaryOps{}, op, [&](auto constant) { out.real = real_op<decltype(constant)::value>(a.real); });
    IT_CHECK(known);
  } else {
    bool is_signed = is_signed_int(operand), is_bool = operand == DType::boolean;
    bool known = with_op(IntUnaryOps{}, op, [&](auto constant) { out.integer = int_op<decltype(constant)::value>(a.integer, is_signed, is_bool); });
    IT_CHECK(known);
  }
  return settle(operand, out);
}

Number apply_binary(Op op, DType operands, const Number& a, const Number& b) {
  Number out = is_floating(operands) ? real_binary(op, a.real, b.real) : integer_binary(op, operands, a.integer, b.integer);
  return holds(CompareOps{}, op) ? out : settle(operands, out);
}

Number convert(DType from, DType to, const Number& value, ConversionRule rule) {
  if (is_floating(from)) {
    if (is_floating(to)) return {decode_float(to, encode_float(to, value.real, rule)), 0};
    return {0, to_integer(to, value.real)};
  }
  if (is_floating(to)) return {to_real(from, to, value.integer, rule), 0};
  return {0, wrap(to, value.integer)};
}

Op step_of(Op reduction) {
  if (reduction == Op::sum) return Op::add;
  if (reduction == Op::prod) return Op::mul;
  return reduction == Op::max ? Op::maximum : Op::minimum;
}

Number identity(Op reduction, DType dtype) {
  if (reduction == Op::sum) return {};
  if (reduction == Op::prod) return {1, 1};
  bool lowest = reduction == Op::max;
  if (dtype == DType::f8e8m0) return {std::ldexp(1.0, lowest ? -127 : 127), 0};
  if (is_floating(dtype)) return {round_to(dtype, lowest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity()), 0};
  if (dtype == DType::boolean) return {0, lowest ? 0 : 1};
  if (!is_signed_int(dtype)) return {0, lowest ? 0 : wrap(dtype, -1)};
  auto smallest = static_cast<std::int64_t>(~std::uint64_t{0} << (info(dtype).bits - 1));
  return {0, lowest ? smallest : ~smallest};
}

Number accumulate(Op reduction, DType dtype, const Number& sum, const Number& next) {
  Op op = step_of(reduction);
  return is_floating(dtype) ? real_binary(op, sum.real, next.real) : integer_binary(op, dtype, sum.integer, next.integer);
}

}  // namespace infini::expr
