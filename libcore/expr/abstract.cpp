// The domains of certificates: values modulo a prime, and hashed terms.
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "libcore/base/result.h"
#include "libcore/expr/element.h"
#include "libcore/expr/evaluate.h"
#include "libcore/expr/traverse.h"

namespace infini::expr {
namespace {

constexpr std::uint64_t prime = PrimeField::prime;

std::uint64_t reduced(std::uint64_t value) {
  value = (value & prime) + (value >> 61);
  return value >= prime ? value - prime : value;
}
std::uint64_t field_add(std::uint64_t a, std::uint64_t b) { return reduced(a + b); }
std::uint64_t field_negate(std::uint64_t a) { return a == 0 ? 0 : prime - a; }

// 61 by 61 bits in halves of 32 and 29: 2^61 is 1, 2^64 is 8.
std::uint64_t field_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
  std::uint64_t high = a1 * b1, low = a0 * b0, middle = reduced(a1 * b0) + reduced(a0 * b1);  // high < 2^58
  middle = reduced(middle);
  std::uint64_t shifted = reduced((middle >> 29) + ((middle & 0x1fffffff) << 32));  // middle * 2^32
  return reduced(reduced(high * 8) + shifted + reduced(low));
}

std::uint64_t field_power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t out = 1;
  for (; exponent != 0; exponent >>= 1, base = field_multiply(base, base)) {
    if (exponent & 1) out = field_multiply(out, base);
  }
  return out;
}
std::uint64_t field_inverse(std::uint64_t a) { return field_power(a, prime - 2); }

std::uint64_t mixed(std::uint64_t state, std::uint64_t next) {
  std::uint64_t x = (state ^ (next + 0x9e3779b97f4a7c15 + (state << 6) + (state >> 2))) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 31)) * 0x94d049bb133111eb;
  return x ^ (x >> 29);
}
std::uint64_t hashed(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t state = 0x243f6a8885a308d3;
  for (std::uint64_t part : parts) state = mixed(state, part);
  return state;
}
std::uint64_t code(Op op) { return static_cast<std::uint64_t>(op); }
std::uint64_t code(DType dtype) { return static_cast<std::uint64_t>(dtype); }
std::uint64_t bits_of(double value) {
  std::uint64_t out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}
// Tags of hashes beside the operators.
constexpr std::uint64_t tag_number = 1001, tag_input = 1002, tag_infinite = 1003, tag_axis = 1004;

// Every value of `from` is one of `to`.
bool widens(DType from, DType to) {
  if (to == DType::f64) return true;
  if (to == DType::f32) return from != DType::f64;
  return info(to).bits == 16 && info(from).bits <= 8 && from != DType::f8e8m0;
}

// For the identity of a definition that is read at an index which is no number: equal for equal definitions of equal tensors.
class Digests {
 public:
  explicit Digests(const Program& program) : program_(program), digests_(program.inputs.size() + program.definitions.size()) {}

  std::uint64_t of(std::int64_t tensor) {
    std::uint64_t& known = digests_[static_cast<std::size_t>(tensor)];
    auto inputs = static_cast<std::int64_t>(program_.inputs.size());
    if (known == 0)
      known = tensor < inputs ? hashed({tag_input, static_cast<std::uint64_t>(tensor)})
                              : of_definition(program_.definitions[static_cast<std::size_t>(tensor - inputs)]);
    return known;
  }

 private:
  std::uint64_t of_definition(const Definition& definition) {
    std::unordered_map<std::int64_t, std::uint64_t> iters;
    for (std::size_t axis = 0; axis < definition.type.shape.size(); ++axis) {
      iters.emplace(definition.first_iter + static_cast<std::int64_t>(axis), axis);
    }
    std::unordered_map<const Term*, std::uint64_t> terms;
    for (const Term* term : postorder(definition.body)) {
      auto number = static_cast<std::uint64_t>(term->integer);
      if (term->op == Op::iter || is_reduction(term->op)) number = iters.emplace(term->integer, iters.size()).first->second;
      if (term->op == Op::read) number = of(term->integer);
      std::uint64_t state = hashed({code(term->op), code(term->dtype), number, bits_of(term->real), extent(term->dim)});
      state = mixed(state, static_cast<std::uint64_t>(term->rule.rounding) * 2 + (term->rule.saturate ? 1 : 0));
      for (const Ref& arg : term->args) state = mixed(state, terms.at(arg.get()));
      terms.emplace(term, state);
    }
    std::uint64_t state = terms.at(definition.body.get());
    for (const Dim& dim : definition.type.shape) state = hashed({tag_axis, state, extent(dim)});
    return state;
  }
  static std::uint64_t extent(const Dim& dim) { return static_cast<std::uint64_t>(dim.constant().value()); }

  const Program& program_;
  std::vector<std::uint64_t> digests_;
};

// `number` is meaningful if known. value: known integers and bools, the i64's bits; floats, what stands for them.
struct Abstract {
  std::uint64_t value = 0;
  bool known = false;
  Number number;
};

template <class Domain>
class AbstractDomain {
 public:
  static constexpr bool is_field = std::is_same_v<Domain, PrimeField>;
  using Value = Abstract;
  AbstractDomain(const Program& program, ElementOfInput<Domain> input) : program_(program), input_(std::move(input)), digests_(program) {}

  static Value literal(const Term& term) { return known(term.dtype, literal_of(term)); }
  static Value number(DType dtype, std::int64_t value) { return known(dtype, {static_cast<double>(value), value}); }
  static Value dimension(const Dim& dim) { return number(DType::i64, dim.constant().value()); }

  static Value unary(Op op, DType dtype, const Value& a) {
    if (a.known && !(is_field && is_floating(dtype) && (op == Op::neg || op == Op::reciprocal))) {
      return known(op == Op::is_nan || op == Op::is_inf ? DType::boolean : dtype, apply_unary(op, dtype, a.number));
    }
    Value out{hashed({code(op), code(dtype), a.value}), a.known, a.known ? apply_unary(op, dtype, a.number) : Number{}};
    if constexpr (is_field) {
      if (is_floating(dtype) && op == Op::neg)
        out.value = field_negate(a.value);
      else if (is_floating(dtype) && op == Op::reciprocal)
        out.value = field_inverse(a.value);
      else
        out.value = reduced(out.value);
    }
    return out;
  }

  static Value binary(Op op, DType dtype, const Value& a, const Value& b) {
    bool compares = holds(CompareOps{}, op);
    bool both = a.known && b.known;
    if (both && (!is_field || !is_floating(dtype) || compares))
      return known(compares ? DType::boolean : dtype, apply_binary(op, dtype, a.number, b.number));
    if (dtype == DType::boolean) {
      if (std::optional<Value> decided = logical(op, a, b)) return *decided;
    }
    Value out{combined(op, dtype, a, b), both, {}};
    if (both) out.number = apply_binary(op, dtype, a.number, b.number);
    return out;
  }

  static Value cast(DType from, DType to, ConversionRule rule, const Value& a) {
    if (is_floating(from) && is_floating(to)) {
      Number converted = a.known ? convert(from, to, a.number, rule) : Number{};
      bool exact = widens(from, to) || (a.known && converted.real == a.number.real);
      if (exact) return {a.value, a.known, converted};
      if (a.known && !is_field) return known(to, converted);
      return {finished(hash_of_cast(to, rule, a)), a.known, converted};
    }
    if (a.known) return known(to, convert(from, to, a.number, rule));
    std::uint64_t value = hash_of_cast(to, rule, a);
    return {is_floating(to) ? finished(value) : value, false, {}};
  }

  static Value select(DType dtype, const Value& condition, const Value& a, const Value& b) {
    if (condition.known) return condition.number.integer != 0 ? a : b;
    if (a.value == b.value && a.known == b.known) return a;
    std::uint64_t value = hashed({code(Op::select), code(dtype), condition.value, a.value, b.value});
    return {is_floating(dtype) ? finished(value) : value, false, {}};
  }

  static Value start(const Term& reduction) {
    Value out = known(reduction.dtype, identity(reduction.op, reduction.dtype));
    if (is_field && is_extreme(reduction.op)) out.value = 0;  // so far, no operands
    return out;
  }

  static Value accumulate(const Term& reduction, const Value& sum, const Value& next) {
    DType dtype = reduction.dtype;
    Value out;
    out.known = sum.known && next.known;
    if (out.known) out.number = expr::accumulate(reduction.op, dtype, sum.number, next.number);
    if (is_field && is_extreme(reduction.op))
      out.value = field_add(sum.value, reduced(hashed({code(reduction.op), next.value})));
    else if (is_field || !out.known)
      out.value = combined(step_of(reduction.op), dtype, sum, next);
    if (out.known && !is_field) out.value = known(dtype, out.number).value;
    return out;
  }

  static Value finish(const Term& reduction, const Value& sum) {
    DType dtype = reduction.dtype;
    bool by_number = sum.known && (!is_field || !is_floating(dtype) || is_extreme(reduction.op));
    if (by_number) return known(dtype, settle(dtype, sum.number));
    Value out = sum;
    if (sum.known) out.number = settle(dtype, sum.number);
    if (is_field && is_extreme(reduction.op)) out.value = reduced(hashed({code(step_of(reduction.op)), sum.value}));
    return out;
  }

  static std::optional<std::int64_t> index(const Value& value) { return value.known ? std::optional(value.number.integer) : std::nullopt; }

  Value unknown_read(int tensor, DType dtype, std::span<const Value> indices) {
    std::uint64_t state = hashed({code(Op::read), code(dtype), digests_.of(tensor)});
    for (const Value& index : indices) state = hashed({state, index.known ? 1u : 0u, index.value});
    return {is_floating(dtype) ? finished(state) : state, false, {}};
  }

  static Value unknown_reduction(const Term& reduction) {
    IT_CHECK(reduction.dim.is_constant());
    return {};
  }

  Value input(int tensor, std::span<const std::int64_t> at) const {
    std::uint64_t value = input_(tensor, at);
    if (is_floating(program_.inputs[static_cast<std::size_t>(tensor)].dtype)) return {value, false, {}};
    return {value, true, {0, static_cast<std::int64_t>(value)}};
  }

 private:
  static bool is_extreme(Op op) { return op == Op::max || op == Op::min; }
  static std::uint64_t finished(std::uint64_t hash) { return is_field ? reduced(hash) : hash; }

  static Value known(DType dtype, Number number) {
    if (!is_floating(dtype)) return {static_cast<std::uint64_t>(number.integer), true, number};
    return {is_field ? in_prime_field(number.real) : hashed({tag_number, bits_of(number.real)}), true, number};
  }

  static std::uint64_t hash_of_cast(DType to, ConversionRule rule, const Value& a) {
    return hashed({code(Op::cast), code(to), rule.saturate ? 1u : 0u, static_cast<std::uint64_t>(rule.rounding), a.value});
  }

  // What one operand decides or leaves alone.
  static std::optional<Value> logical(Op op, const Value& a, const Value& b) {
    if (op != Op::logical_and && op != Op::logical_or) return std::nullopt;
    if (!a.known && !b.known) return std::nullopt;
    const Value &fixed = a.known ? a : b, &other = a.known ? b : a;
    bool decides = (fixed.number.integer != 0) == (op == Op::logical_or);
    return decides ? fixed : other;
  }

  static std::uint64_t combined(Op op, DType dtype, const Value& a, const Value& b) {
    if constexpr (is_field) {
      if (is_floating(dtype)) {
        if (op == Op::add) return field_add(a.value, b.value);
        if (op == Op::sub) return field_add(a.value, field_negate(b.value));
        if (op == Op::mul) return field_multiply(a.value, b.value);
        if (op == Op::div) return field_multiply(a.value, field_inverse(b.value));
        bool small = b.known && b.number.real >= 0 && b.number.real <= 64 && b.number.real == std::floor(b.number.real);
        if (op == Op::pow && small) return field_power(a.value, static_cast<std::uint64_t>(b.number.real));
        if (op == Op::minimum || op == Op::maximum) {
          std::uint64_t x = reduced(hashed({code(op == Op::minimum ? Op::min : Op::max), a.value}));
          std::uint64_t y = reduced(hashed({code(op == Op::minimum ? Op::min : Op::max), b.value}));
          return reduced(hashed({code(op), field_add(x, y)}));
        }
        std::uint64_t hash = hashed({code(op), code(dtype), a.value, b.value});
        return holds(CompareOps{}, op) ? hash : reduced(hash);
      }
    }
    return hashed({code(op), code(dtype), a.value, b.value});
  }

  const Program& program_;
  ElementOfInput<Domain> input_;
  Digests digests_;
};

template <class Domain>
ElementOfOutput<Domain> abstract_elements(const Program& program, ElementOfInput<Domain> input) {
  using Evaluator = ElementEvaluator<AbstractDomain<Domain>>;
  auto evaluator = std::make_shared<Evaluator>(program, AbstractDomain<Domain>(program, std::move(input)));
  return [evaluator](std::size_t output, std::span<const std::int64_t> at) { return evaluator->output(output, at).value; };
}

}  // namespace

std::uint64_t in_prime_field(double value) {
  if (value == 0) return 0;
  if (!std::isfinite(value)) return reduced(hashed({tag_infinite, std::isnan(value) ? 2u : value < 0 ? 1u : 0u}));
  int exponent = 0;
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53));
  exponent = ((exponent - 53) % 61 + 61) % 61;  // 2 to the 61st is 1
  std::uint64_t out = field_multiply(reduced(mantissa), std::uint64_t{1} << exponent);
  return value < 0 ? field_negate(out) : out;
}

template <>
ElementOfOutput<PrimeField> elements<PrimeField>(const Program& program, ElementOfInput<PrimeField> input) {
  return abstract_elements<PrimeField>(program, std::move(input));
}
template <>
ElementOfOutput<Uninterpreted> elements<Uninterpreted>(const Program& program, ElementOfInput<Uninterpreted> input) {
  return abstract_elements<Uninterpreted>(program, std::move(input));
}

}  // namespace infini::expr
