#include "libcore/base/result.h"
#include "libcore/expr/element.h"
#include "libcore/expr/evaluate.h"

namespace infini::expr {
namespace {

class TypedDomain {
 public:
  using Value = Number;
  explicit TypedDomain(ElementOfInput<Typed> input) : input_(std::move(input)) {}

  static Value literal(const Term& term) { return literal_of(term); }
  static Value number(DType, std::int64_t value) { return {static_cast<double>(value), value}; }
  static Value dimension(const Dim& dim) { return {0, dim.constant().value()}; }
  static Value unary(Op op, DType dtype, const Value& a) { return apply_unary(op, dtype, a); }
  static Value binary(Op op, DType dtype, const Value& a, const Value& b) { return apply_binary(op, dtype, a, b); }
  static Value cast(DType from, DType to, ConversionRule rule, const Value& a) { return convert(from, to, a, rule); }
  static Value select(DType, const Value& condition, const Value& a, const Value& b) { return condition.integer != 0 ? a : b; }
  static Value start(const Term& reduction) { return identity(reduction.op, reduction.dtype); }
  static Value accumulate(const Term& reduction, const Value& sum, const Value& next) {
    return expr::accumulate(reduction.op, reduction.dtype, sum, next);
  }
  static Value finish(const Term& reduction, const Value& sum) { return settle(reduction.dtype, sum); }
  static std::optional<std::int64_t> index(const Value& value) { return value.integer; }
  static Value unknown_read(int, DType, std::span<const Value>) { return not_concrete(); }
  static Value unknown_reduction(const Term&) { return not_concrete(); }
  Value input(int tensor, std::span<const std::int64_t> at) const { return input_(tensor, at); }

 private:
  static Value not_concrete() {
    constexpr bool dimensions_are_numbers = false;
    IT_CHECK(dimensions_are_numbers);
    return {};
  }
  ElementOfInput<Typed> input_;
};

}  // namespace

template <>
ElementOfOutput<Typed> elements<Typed>(const Program& program, ElementOfInput<Typed> input) {
  auto evaluator = std::make_shared<ElementEvaluator<TypedDomain>>(program, TypedDomain(std::move(input)));
  return [evaluator](std::size_t output, std::span<const std::int64_t> at) { return evaluator->output(output, at); };
}

}  // namespace infini::expr
