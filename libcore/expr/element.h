// Single elements on demand, in any domain. For the evaluators of this folder.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcore/expr/expr.h"
#include "libcore/expr/lower.h"
#include "libcore/expr/operations.h"

namespace infini::expr {

// Evaluates elements of a program's tensors; those of definitions are remembered. Domain has a type Value and
//   literal(term), dimension(dim), number(dtype, integer)         values of literals, of dimensions, of loop variables and of the zero element
//   unary(op, operand dtype, a), binary(op, operands' dtype, a, b), cast(from, to, rule, a), select(dtype, condition, a, b)
//   start(reduction), accumulate(reduction, sum, next), finish(reduction, sum)
//   index(value)                                                  the value as a number, if it is one
//   unknown_read(tensor, dtype, indices)                          a read at an index or inside extents that are not numbers
//   unknown_reduction(reduction)                                  one over an extent that is not a number
//   input(tensor, indices)                                        an element inside the extents
template <class Domain>
class ElementEvaluator {
 public:
  using Value = typename Domain::Value;

  ElementEvaluator(const Program& program, Domain domain)
      : program_(program), domain_(std::move(domain)), lowered_(program.definitions.size()), known_(program.definitions.size()) {
    for (const TensorInfo& input : program.inputs) tensors_.push_back(&input);
    for (const Definition& definition : program.definitions) tensors_.push_back(&definition.type);
  }

  // After so many steps evaluation stops: exhausted() is true and results are worth nothing. Bounds the work on hostile programs.
  void limit_steps(std::int64_t steps) { steps_left_ = steps; }
  bool exhausted() const { return steps_left_ <= 0; }

  Value output(std::size_t output, std::span<const std::int64_t> at) { return element(program_.outputs[output], at); }

  Value element(int tensor, std::span<const std::int64_t> at) {
    const TensorInfo& type = *tensors_[static_cast<std::size_t>(tensor)];
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      std::int64_t extent = type.shape[axis].constant().value_or(0);
      if (at[axis] < 0 || at[axis] >= extent) return domain_.number(type.dtype, 0);
      flat = flat * extent + at[axis];
    }
    auto inputs = static_cast<int>(program_.inputs.size());
    if (tensor < inputs) return domain_.input(tensor, at);
    auto number = static_cast<std::size_t>(tensor - inputs);
    auto found = known_[number].find(flat);
    if (found != known_[number].end()) return found->second;
    return known_[number].emplace(flat, evaluate(number, at)).first->second;
  }

 private:
  struct Frame {
    const Lowered& lowered;
    std::vector<Value> registers;
  };

  Value evaluate(std::size_t number, std::span<const std::int64_t> at) {
    if (!lowered_[number]) lowered_[number] = lower(program_.definitions[number]);
    const Lowered& lowered = *lowered_[number];
    Frame frame{lowered, std::vector<Value>(lowered.registers.size())};
    for (std::size_t axis = 0; axis < at.size(); ++axis)
      frame.registers[static_cast<std::size_t>(lowered.axes[axis])] = domain_.number(DType::i64, at[axis]);
    run_steps(frame, 0, lowered.steps.size());
    return frame.registers[static_cast<std::size_t>(lowered.result)];
  }

  static bool is_concrete(const Term* reduction) {
    while (reduction->dim.is_constant()) {
      const Term* inner = reduction->args[0].get();
      if (!continues(*reduction, *inner)) return true;
      reduction = inner;
    }
    return false;
  }

  void run_steps(Frame& frame, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && !exhausted(); ++i) {
      const Step& step = frame.lowered.steps[i];
      Value& out = frame.registers[static_cast<std::size_t>(step.result)];
      --steps_left_;
      switch (step.kind) {
        case Step::Kind::compute:
          out = compute(frame, step);
          break;
        case Step::Kind::loop: {
          std::int64_t extent = *step.term->dim.constant();
          for (std::int64_t v = 0; v < extent && !exhausted(); ++v) {
            out = domain_.number(DType::i64, v);
            run_steps(frame, i + 1, static_cast<std::size_t>(step.end));
            --steps_left_;
          }
          i = static_cast<std::size_t>(step.end);
          break;
        }
        case Step::Kind::end:
          break;
        case Step::Kind::start:
          if (is_concrete(step.term)) {
            out = domain_.start(*step.term);
          } else {
            out = domain_.unknown_reduction(*step.term);
            i = static_cast<std::size_t>(step.end);
          }
          break;
        case Step::Kind::accumulate:
          out = domain_.accumulate(*step.term, out, operand(frame, step, 0));
          break;
        case Step::Kind::finish:
          out = domain_.finish(*step.term, out);
          break;
      }
    }
  }

  const Value& operand(const Frame& frame, const Step& step, std::size_t i) const {
    int reg = frame.lowered.operands[static_cast<std::size_t>(step.first_operand) + i];
    return frame.registers[static_cast<std::size_t>(reg)];
  }

  Value compute(const Frame& frame, const Step& step) {
    const Term& term = *step.term;
    if (term.op == Op::literal) return domain_.literal(term);
    if (term.op == Op::dim) return domain_.dimension(term.dim);
    if (term.op == Op::read) return read(frame, step);
    const Value& a = operand(frame, step, 0);
    if (term.op == Op::cast) return domain_.cast(term.args[0]->dtype, term.dtype, term.rule, a);
    if (term.op == Op::select) return domain_.select(term.dtype, a, operand(frame, step, 1), operand(frame, step, 2));
    if (is_unary(term.op)) return domain_.unary(term.op, term.args[0]->dtype, a);
    return domain_.binary(term.op, term.args[0]->dtype, a, operand(frame, step, 1));
  }

  Value read(const Frame& frame, const Step& step) {
    const Term& term = *step.term;
    const Shape& shape = tensors_[static_cast<std::size_t>(term.integer)]->shape;
    std::vector<std::int64_t> at;
    std::vector<Value> indices;
    bool known = true;
    for (std::size_t axis = 0; axis < term.args.size(); ++axis) {
      indices.push_back(operand(frame, step, axis));
      std::optional<std::int64_t> index = domain_.index(indices.back());
      known = known && index && shape[axis].is_constant();
      at.push_back(index.value_or(0));
    }
    auto tensor = static_cast<int>(term.integer);
    return known ? element(tensor, at) : domain_.unknown_read(tensor, term.dtype, indices);
  }

  const Program& program_;
  Domain domain_;
  std::vector<const TensorInfo*> tensors_;
  std::vector<std::optional<Lowered>> lowered_;
  std::vector<std::unordered_map<std::int64_t, Value>> known_;  // by element number
  std::int64_t steps_left_ = INT64_MAX;
};

}  // namespace infini::expr
