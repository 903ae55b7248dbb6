#include "libcore/expr/lanes.h"

#include <algorithm>

#include "libcore/base/result.h"

namespace infini::expr {
namespace {

using Form = Register::Form;

void round_lanes(DType dtype, double* values, int count) {
  if (dtype == DType::f64) return;
  if (dtype == DType::f32) {
    for (int i = 0; i < count; ++i) values[i] = static_cast<double>(static_cast<float>(values[i]));
    return;
  }
  for (int i = 0; i < count; ++i) values[i] = round_to(dtype, values[i]);
}

void wrap_lanes(DType dtype, std::int64_t* values, int count) {
  if (dtype == DType::i64 || dtype == DType::u64) return;
  for (int i = 0; i < count; ++i) values[i] = wrap(dtype, values[i]);
}

// Null lanes: `all` in each.
template <class T>
struct Operand {
  const T* lanes;
  T all;
};
Operand<double> real_operand(Register& r, int count) { return {r.form() == Form::uniform ? nullptr : r.reals(count), r.first().real}; }
Operand<std::int64_t> integer_operand(Register& r, int count) { return {r.form() == Form::uniform ? nullptr : r.integers(count), r.first().integer}; }

// out[i] = f(a[i], b[i]); `out` may be the lanes of a or b.
template <class T, class U, class F>
void map_lanes(Operand<T> a, Operand<T> b, U* out, int count, F f) {
  if (a.lanes == nullptr && b.lanes == nullptr) {
    std::fill_n(out, count, f(a.all, b.all));
  } else if (a.lanes == nullptr) {
    for (int i = 0; i < count; ++i) out[i] = f(a.all, b.lanes[i]);
  } else if (b.lanes == nullptr) {
    for (int i = 0; i < count; ++i) out[i] = f(a.lanes[i], b.all);
  } else {
    for (int i = 0; i < count; ++i) out[i] = f(a.lanes[i], b.lanes[i]);
  }
}

// Not rounded; `out` may be `a`.
void real_binary(Op op, Register& a, Register& b, Register& out, int count) {
  Operand<double> x = real_operand(a, count), y = real_operand(b, count);
  double* to = out.write_reals();
  with_op(RealBinaryOps{}, op,
          [&](auto constant) { map_lanes(x, y, to, count, [](double p, double q) { return real_op<decltype(constant)::value>(p, q); }); });
}

// Not wrapped; `out` may be `a`.
void integer_binary(Op op, Register& a, Register& b, Register& out, int count) {
  int width = info(a.dtype()).bits;
  bool is_u64 = a.dtype() == DType::u64;
  Operand<std::int64_t> x = integer_operand(a, count), y = integer_operand(b, count);
  std::int64_t* to = out.write_integers();
  with_op(IntBinaryOps{}, op, [&](auto constant) {
    constexpr Op which = decltype(constant)::value;
    if (is_u64) {
      map_lanes(x, y, to, count, [width](std::int64_t p, std::int64_t q) { return int_op<which, std::uint64_t>(p, q, width); });
    } else {
      map_lanes(x, y, to, count, [width](std::int64_t p, std::int64_t q) { return int_op<which, std::int64_t>(p, q, width); });
    }
  });
}

template <class T, class Held>
void compare_as(Op op, Operand<Held> a, Operand<Held> b, std::int64_t* out, int count) {
  with_op(CompareOps{}, op, [&](auto constant) {
    map_lanes(a, b, out, count,
              [](Held p, Held q) { return std::int64_t{compare_op<decltype(constant)::value>(static_cast<T>(p), static_cast<T>(q))}; });
  });
}

bool same_text(std::int64_t a, std::int64_t b) {
  auto at = [](std::int64_t address) { return address == 0 ? std::string_view() : std::string_view(*reinterpret_cast<const std::string*>(address)); };
  return at(a) == at(b);
}

bool same_complex(DType dtype, std::int64_t a, std::int64_t b) {
  auto part = [dtype](std::int64_t address, int i) {
    auto* data = reinterpret_cast<const std::byte*>(address);
    if (data == nullptr) return 0.0;
    return dtype == DType::c64 ? static_cast<double>(load_plain<float>(data, i)) : load_plain<double>(data, i);
  };
  return part(a, 0) == part(b, 0) && part(a, 1) == part(b, 1);
}

void compare(Op op, Register& a, Register& b, Register& out, int count) {
  DType dtype = a.dtype();
  std::int64_t* to = out.write_integers();
  if (a.is_real()) return compare_as<double>(op, real_operand(a, count), real_operand(b, count), to, count);
  Operand<std::int64_t> x = integer_operand(a, count), y = integer_operand(b, count);
  if (dtype == DType::str) return map_lanes(x, y, to, count, [](std::int64_t p, std::int64_t q) { return std::int64_t{same_text(p, q)}; });
  if (is_complex(dtype))
    return map_lanes(x, y, to, count, [dtype](std::int64_t p, std::int64_t q) { return std::int64_t{same_complex(dtype, p, q)}; });
  if (dtype == DType::u64) return compare_as<std::uint64_t>(op, x, y, to, count);
  compare_as<std::int64_t>(op, x, y, to, count);
}

// Strings and complex numbers are held as addresses, on which the functions of numbers do not work.
bool is_number(const Register& r) { return r.dtype() != DType::str && !is_complex(r.dtype()); }

}  // namespace

Register::Register(DType dtype, int capacity) : dtype_(dtype), is_real_(is_floating(dtype)) {
  if (is_real_)
    reals_.resize(static_cast<std::size_t>(capacity));
  else
    integers_.resize(static_cast<std::size_t>(capacity));
}

void Register::set_uniform(Number value) {
  form_ = Form::uniform;
  first_ = value;
  filled_ = 0;
}

void Register::set_affine(std::int64_t first, std::int64_t step) {
  form_ = Form::affine;
  first_ = {0, first};
  step_ = step;
  filled_ = 0;
}

double* Register::write_reals() {
  form_ = Form::lanes;
  return reals_.data();
}

std::int64_t* Register::write_integers() {
  form_ = Form::lanes;
  return integers_.data();
}

const double* Register::reals(int count) {
  if (form_ == Form::uniform && filled_ < count) {
    std::fill_n(reals_.data(), count, first_.real);
    filled_ = count;
  }
  return reals_.data();
}

const std::int64_t* Register::integers(int count) {
  if (form_ == Form::lanes || filled_ >= count) return integers_.data();
  auto value = static_cast<std::uint64_t>(first_.integer);
  std::uint64_t step = form_ == Form::affine ? static_cast<std::uint64_t>(step_) : 0;
  for (int i = 0; i < count; ++i) integers_[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(value + static_cast<std::uint64_t>(i) * step);
  filled_ = count;
  return integers_.data();
}

void Register::copy(const Register& other, int count) {
  form_ = other.form_;
  first_ = other.first_;
  step_ = other.step_;
  filled_ = 0;
  if (form_ != Form::lanes) return;
  if (is_real_)
    std::copy_n(other.reals_.data(), count, reals_.data());
  else
    std::copy_n(other.integers_.data(), count, integers_.data());
}

void compute_unary(Op op, Register& a, Register& out, int count) {
  if (a.form() == Form::uniform) return out.set_uniform(apply_unary(op, a.dtype(), a.first()));
  if (!a.is_real()) {
    bool is_signed = is_signed_int(a.dtype()), is_bool = a.dtype() == DType::boolean;
    const std::int64_t* from = a.integers(count);
    std::int64_t* to = out.write_integers();
    with_op(IntUnaryOps{}, op, [&](auto constant) {
      for (int i = 0; i < count; ++i) to[i] = int_op<decltype(constant)::value>(from[i], is_signed, is_bool);
    });
    return wrap_lanes(out.dtype(), to, count);
  }
  const double* from = a.reals(count);
  if (holds(RealTestOps{}, op)) {
    std::int64_t* to = out.write_integers();
    with_op(RealTestOps{}, op, [&](auto constant) {
      for (int i = 0; i < count; ++i) to[i] = real_test<decltype(constant)::value>(from[i]);
    });
    return;
  }
  double* to = out.write_reals();
  with_op(RealUnaryOps{}, op, [&](auto constant) {
    for (int i = 0; i < count; ++i) to[i] = real_op<decltype(constant)::value>(from[i]);
  });
  round_lanes(out.dtype(), to, count);
}

void compute_binary(Op op, Register& a, Register& b, Register& out, int count) {
  if (a.form() == Form::uniform && b.form() == Form::uniform && is_number(a)) {
    return out.set_uniform(apply_binary(op, a.dtype(), a.first(), b.first()));
  }
  if (compute_affine(op, a, b, out, count)) return;
  if (holds(CompareOps{}, op)) return compare(op, a, b, out, count);
  if (a.is_real()) {
    real_binary(op, a, b, out, count);
    round_lanes(out.dtype(), out.write_reals(), count);
  } else {
    integer_binary(op, a, b, out, count);
    wrap_lanes(out.dtype(), out.write_integers(), count);
  }
}

void compute_cast(ConversionRule rule, Register& a, Register& out, int count) {
  DType from = a.dtype(), to = out.dtype();
  if (a.form() == Form::uniform) return out.set_uniform(convert(from, to, a.first(), rule));
  if (a.is_real() && out.is_real()) {
    const double* x = a.reals(count);
    double* y = out.write_reals();
    if (to == DType::f64 || to == DType::f32) {
      std::copy_n(x, count, y);
      return round_lanes(to, y, count);
    }
    for (int i = 0; i < count; ++i) y[i] = convert(from, to, {x[i], 0}, rule).real;
  } else if (a.is_real()) {
    const double* x = a.reals(count);
    std::int64_t* y = out.write_integers();
    for (int i = 0; i < count; ++i) y[i] = convert(from, to, {x[i], 0}, rule).integer;
  } else if (out.is_real()) {
    const std::int64_t* x = a.integers(count);
    double* y = out.write_reals();
    for (int i = 0; i < count; ++i) y[i] = convert(from, to, {0, x[i]}, rule).real;
  } else {
    std::copy_n(a.integers(count), count, out.write_integers());
    wrap_lanes(to, out.write_integers(), count);
  }
}

void compute_select(Register& condition, Register& then, Register& otherwise, Register& out, int count) {
  if (condition.form() == Form::uniform) return out.copy(condition.first().integer != 0 ? then : otherwise, count);
  const std::int64_t* chosen = condition.integers(count);
  if (out.is_real()) {
    const double *a = then.reals(count), *b = otherwise.reals(count);
    double* to = out.write_reals();
    for (int i = 0; i < count; ++i) to[i] = chosen[i] != 0 ? a[i] : b[i];
  } else {
    const std::int64_t *a = then.integers(count), *b = otherwise.integers(count);
    std::int64_t* to = out.write_integers();
    for (int i = 0; i < count; ++i) to[i] = chosen[i] != 0 ? a[i] : b[i];
  }
}

void accumulate(Op reduction, Register& sum, Register& next, int count) {
  if (sum.form() == Form::uniform && next.form() == Form::uniform) {
    return sum.set_uniform(accumulate(reduction, sum.dtype(), sum.first(), next.first()));
  }
  if (sum.is_real()) return real_binary(step_of(reduction), sum, next, sum, count);
  integer_binary(step_of(reduction), sum, next, sum, count);
}

void finish_reduction(Register& sum, int count) {
  if (sum.form() == Form::uniform) return sum.set_uniform(settle(sum.dtype(), sum.first()));
  if (sum.is_real()) return round_lanes(sum.dtype(), sum.write_reals(), count);
  sum.integers(count);
  wrap_lanes(sum.dtype(), sum.write_integers(), count);
}

}  // namespace infini::expr
