#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/expr/evaluate.h"
#include "libcore/expr/lanes.h"
#include "libcore/expr/lower.h"

namespace infini::expr {
namespace {

using Kind = Step::Kind;

// How the elements of a tensor are cut into tiles. The innermost axes form groups; a tile is a piece of one group, in which the outer
// indices are uniform. If a group is one axis, the index along it is affine in every tile.
struct Tiling {
  std::size_t grouped = 0;  // axes in a group
  std::int64_t group = 1;   // elements of one
  std::int64_t groups = 0;
  int lanes = 1;  // of a tile at most
};

// Groups of fewer elements are not worth an instruction each.
constexpr std::int64_t enough = 48;

Tiling tile(const Extents& extents) {
  Tiling out;
  while (out.grouped < extents.size() && out.group < enough) out.group *= extents[extents.size() - ++out.grouped];
  out.groups = out.group == 0 ? 0 : 1;
  for (std::size_t axis = 0; axis + out.grouped < extents.size(); ++axis) out.groups *= extents[axis];
  std::int64_t pieces = std::max<std::int64_t>(1, (out.group + max_lanes - 1) / max_lanes);
  out.lanes = static_cast<int>((out.group + pieces - 1) / pieces);
  return out;
}

// Runs the steps of one definition or requirement on one tile after the other.
class Machine {
 public:
  Machine(const Lowered& lowered, const Extents& extents, std::span<const Source> sources)
      : lowered_(lowered), extents_(extents), tiling_(tile(extents)), sources_(sources), offsets_(static_cast<std::size_t>(tiling_.lanes)) {
    registers_.reserve(lowered.registers.size());
    for (DType dtype : lowered.registers) registers_.emplace_back(dtype, tiling_.lanes);
    for (int reg : lowered.operands) operands_.push_back(&registers_[static_cast<std::size_t>(reg)]);
  }

  // Calls take(result, number of the first element, lanes) for each tile; stops when it returns false.
  template <class Take>
  void each_tile(Take&& take) {
    for (std::int64_t group = 0; group < tiling_.groups; ++group) {
      set_outer_axes(group);
      for (std::int64_t at = 0; at < tiling_.group; at += tiling_.lanes) {
        count_ = static_cast<int>(std::min<std::int64_t>(tiling_.lanes, tiling_.group - at));
        set_inner_axes(at);
        run_steps(0, lowered_.steps.size());
        if (!take(at_register(lowered_.result), group * tiling_.group + at, count_)) return;
      }
    }
  }

 private:
  Register& at_register(int number) { return registers_[static_cast<std::size_t>(number)]; }
  Register& axis_register(std::size_t axis) { return at_register(lowered_.axes[axis]); }

  void set_outer_axes(std::int64_t group) {
    for (std::size_t axis = extents_.size() - tiling_.grouped; axis-- > 0;) {
      axis_register(axis).set_uniform({0, group % extents_[axis]});
      group /= extents_[axis];
    }
  }

  // Lanes [first, first + count) of a group. One axis alone in it, but for axes of extent 1, is affine.
  void set_inner_axes(std::int64_t first) {
    std::int64_t size = 1;
    for (std::size_t axis = extents_.size(); axis-- > extents_.size() - tiling_.grouped; size *= extents_[axis]) {
      Register& index = axis_register(axis);
      if (count_ == 1 || extents_[axis] == 1) {
        index.set_uniform({0, first / size % extents_[axis]});
      } else if (extents_[axis] == tiling_.group) {
        index.set_affine(first, 1);
      } else {
        std::int64_t* lanes = index.write_integers();
        for (int i = 0; i < count_; ++i) lanes[i] = (first + i) / size % extents_[axis];
      }
    }
  }

  void run_steps(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const Step& step = lowered_.steps[i];
      Register& out = at_register(step.result);
      switch (step.kind) {
        case Kind::compute:
          compute(step, out);
          break;
        case Kind::loop: {
          std::int64_t extent = *step.term->dim.constant();
          for (std::int64_t v = 0; v < extent; ++v) {
            out.set_uniform({0, v});
            run_steps(i + 1, static_cast<std::size_t>(step.end));
          }
          i = static_cast<std::size_t>(step.end);
          break;
        }
        case Kind::end:
          break;
        case Kind::start:
          out.set_uniform(identity(step.term->op, step.term->dtype));
          break;
        case Kind::accumulate:
          accumulate(step.term->op, out, operand(step, 0), count_);
          break;
        case Kind::finish:
          finish_reduction(out, count_);
          break;
      }
    }
  }

  Register& operand(const Step& step, std::size_t i) { return *operands_[static_cast<std::size_t>(step.first_operand) + i]; }

  void compute(const Step& step, Register& out) {
    const Term& term = *step.term;
    if (is_binary(term.op)) return compute_binary(term.op, operand(step, 0), operand(step, 1), out, count_);
    if (term.op == Op::read) {
      std::span<Register* const> indices(operands_.data() + step.first_operand, term.args.size());
      return compute_read(sources_[static_cast<std::size_t>(term.integer)], indices, out, offsets_.data(), count_);
    }
    if (is_unary(term.op)) return compute_unary(term.op, operand(step, 0), out, count_);
    if (term.op == Op::select) return compute_select(operand(step, 0), operand(step, 1), operand(step, 2), out, count_);
    if (term.op == Op::cast) return compute_cast(term.rule, operand(step, 0), out, count_);
    out.set_uniform(term.op == Op::dim ? Number{0, *term.dim.constant()} : literal_of(term));
  }

  const Lowered& lowered_;
  const Extents& extents_;
  Tiling tiling_;
  std::span<const Source> sources_;
  std::vector<std::int64_t> offsets_;
  std::vector<Register> registers_;
  std::vector<Register*> operands_;
  int count_ = 0;
};

// Every dimension of the steps is a number.
bool is_concrete(const Lowered& lowered) {
  return std::all_of(lowered.steps.begin(), lowered.steps.end(),
                     [](const Step& step) { return step.term == nullptr || step.term->dim.is_constant(); });
}

Result<Tensor> run_definition(const Definition& definition, std::span<const Source> sources) {
  auto extents = constant_extents(definition.type.shape);
  Lowered lowered = lower(definition);
  if (!extents || !is_concrete(lowered))
    return internal_error(text("a program with dimensions ", infini::to_string(definition.type.shape), " was run"));
  IT_TRY(TensorWriter writer, TensorWriter::make(definition.type.dtype, *extents));
  Machine(lowered, *extents, sources).each_tile([&](Register& result, std::int64_t first, int count) {
    store(result, writer, first, count);
    return true;
  });
  return std::move(writer).finish();
}

Status check_requirement(const Requirement& requirement, std::span<const Source> sources) {
  auto extents = constant_extents(requirement.box);
  Lowered lowered = lower(requirement.first_iter, requirement.box.size(), requirement.condition);
  if (!extents || !is_concrete(lowered)) return internal_error(text("a requirement over ", infini::to_string(requirement.box), " was checked"));
  bool holds = true;
  Machine(lowered, *extents, sources).each_tile([&](Register& result, std::int64_t, int count) {
    const std::int64_t* lanes = result.integers(count);
    holds = std::all_of(lanes, lanes + count, [](std::int64_t fact) { return fact != 0; });
    return holds;
  });
  if (!holds) return run_failed(requirement.message);
  return {};
}

Status check_inputs(const Program& program, std::span<const Tensor> inputs) {
  if (inputs.size() != program.inputs.size())
    return internal_error(text("a program of ", program.inputs.size(), " inputs was given ", inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& stated = program.inputs[i];
    auto extents = constant_extents(stated.shape);
    if (extents && inputs[i].dtype() == stated.dtype && inputs[i].extents() == *extents) continue;
    return internal_error(text("input ", i, " of a program is ", name(inputs[i].dtype()), infini::to_string(inputs[i].extents()),
                               ", but the program states ", name(stated.dtype), infini::to_string(stated.shape)));
  }
  return {};
}

}  // namespace

Result<std::vector<Tensor>> run(const Program& program, std::span<const Tensor> inputs) {
  IT_TRY_VOID(check_inputs(program, inputs));
  std::vector<Tensor> tensors(inputs.begin(), inputs.end());
  std::vector<Source> sources;
  for (const Tensor& input : inputs) sources.push_back(source_of(input));
  for (const Definition& definition : program.definitions) {
    IT_TRY(Tensor made, run_definition(definition, sources));
    tensors.push_back(std::move(made));
    sources.push_back(source_of(tensors.back()));
  }
  for (const Requirement& requirement : program.requirements) IT_TRY_VOID(check_requirement(requirement, sources));
  std::vector<Tensor> out;
  for (int number : program.outputs) out.push_back(tensors[static_cast<std::size_t>(number)]);
  return out;
}

}  // namespace infini::expr
