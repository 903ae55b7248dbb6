#include "libcore/expr/records.h"

#include <unordered_map>

#include "libcore/base/text.h"
#include "libcore/expr/traverse.h"

namespace infini::expr {
namespace {

std::int32_t code(DType dtype) { return static_cast<std::int32_t>(dtype); }
template <class Range>
std::int32_t count(const Range& range) {
  return static_cast<std::int32_t>(range.size());
}

// Both enumerations name binary and unary operations in the same order.
std::int32_t code(const Term& term) {
  auto offset = [&](Op first) { return static_cast<std::int32_t>(term.op) - static_cast<std::int32_t>(first); };
  if (is_unary(term.op)) return IT_EX_NEG + offset(Op::neg);
  if (is_binary(term.op)) return IT_EX_ADD + offset(Op::add);
  if (is_reduction(term.op)) return IT_EX_SUM + offset(Op::sum);
  if (term.op == Op::iter) return IT_EX_ITER;
  if (term.op == Op::read) return IT_EX_READ;
  if (term.op == Op::cast) return IT_EX_CAST;
  if (term.op == Op::select) return IT_EX_SELECT;
  return term.op == Op::literal && is_floating(term.dtype) ? IT_EX_FLOAT : IT_EX_INT;
}
static_assert(static_cast<int>(Op::atan2) - static_cast<int>(Op::add) == IT_EX_ATAN2 - IT_EX_ADD);
static_assert(static_cast<int>(Op::reciprocal) - static_cast<int>(Op::neg) == IT_EX_RECIPROCAL - IT_EX_NEG);
static_assert(static_cast<int>(Op::min) - static_cast<int>(Op::sum) == IT_EX_MIN - IT_EX_SUM);

std::int64_t code(ConversionRule rule) {
  std::int64_t rounding = rule.rounding == Rounding::up ? 1 : rule.rounding == Rounding::down ? 2 : 0;
  return (rule.saturate ? 0 : 1) | rounding << 1;
}

// The first dimension that is not a number.
std::optional<Dim> open_dimension(const Program& program, const std::vector<const Term*>& terms) {
  auto among = [](const Shape& shape) -> std::optional<Dim> {
    for (const Dim& dim : shape) {
      if (!dim.is_constant()) return dim;
    }
    return std::nullopt;
  };
  for (const TensorInfo& input : program.inputs) {
    if (auto open = among(input.shape)) return open;
  }
  for (const Definition& definition : program.definitions) {
    if (auto open = among(definition.type.shape)) return open;
  }
  for (const Term* term : terms) {
    if (!term->dim.is_constant()) return term->dim;
  }
  return std::nullopt;
}

std::vector<const Term*> terms_of(const Program& program) {
  std::vector<Ref> roots;
  for (const Definition& definition : program.definitions) roots.push_back(definition.body);
  return postorder(roots);
}

}  // namespace

it_tensor ProgramRecords::tensor_of(const TensorInfo& info) {
  extents_.push_back(constant_extents(info.shape).value());
  return {code(info.dtype), count(info.shape), extents_.back().data()};
}

Result<ProgramRecords> ProgramRecords::of(const Program& program) {
  if (auto open = open_dimension(program, terms_of(program))) {
    return internal_error(text("records of a program with the dimension ", open->to_string(), ", which is not a number"));
  }
  ProgramRecords out;
  for (const TensorInfo& input : program.inputs) out.inputs_.push_back(out.tensor_of(input));
  out.add_terms(program);
  for (int number : program.outputs) out.outputs_.push_back(number);
  return out;
}

void ProgramRecords::add_terms(const Program& program) {
  std::unordered_map<const Term*, std::int32_t> numbers;
  for (const Term* term : terms_of(program)) {
    it_instr instr{code(*term), code(term->dtype), -1, -1, -1, term->integer, term->real};
    auto arg = [&](std::size_t i) { return i < term->args.size() ? numbers.at(term->args[i].get()) : -1; };
    if (term->op == Op::read) {
      instr.a = count(operands_);
      for (std::size_t i = 0; i < term->args.size(); ++i) operands_.push_back(arg(i));
      instr.b = count(term->args);
    } else {
      instr.a = arg(0);
      instr.b = arg(1);
      instr.c = arg(2);
    }
    if (is_reduction(term->op)) {
      instr.b = count(bounds_);
      bounds_.push_back(term->dim.constant().value());
    }
    if (term->op == Op::dim) instr.i = term->dim.constant().value();
    if (term->op == Op::cast) instr.i = code(term->rule);
    numbers.emplace(term, count(instrs_));
    instrs_.push_back(instr);
  }
  for (const Definition& definition : program.definitions) {
    definitions_.push_back({tensor_of(definition.type), definition.first_iter, numbers.at(definition.body.get())});
  }
}

it_program ProgramRecords::view() const {
  it_program out{};
  out.struct_size = sizeof out;
  out.input_count = count(inputs_);
  out.inputs = inputs_.data();
  out.instr_count = count(instrs_);
  out.instrs = instrs_.data();
  out.operand_count = count(operands_);
  out.operands = operands_.data();
  out.bound_count = count(bounds_);
  out.bounds = bounds_.data();
  out.definition_count = count(definitions_);
  out.definitions = definitions_.data();
  out.output_count = count(outputs_);
  out.outputs = outputs_.data();
  return out;
}

}  // namespace infini::expr
