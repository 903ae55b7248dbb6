#include "libcore/expr/lower.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "libcore/base/result.h"
#include "libcore/expr/traverse.h"

namespace infini::expr {
namespace {

using Kind = Step::Kind;

// A loop and the steps directly inside it. Loop 0 is no loop: what depends on the axes alone.
struct Loop {
  const Term* reduction = nullptr;
  int variable = -1;  // register
  int depth = 0;      // more than that of every loop it depends on
  std::vector<Step> steps;
};

class Lowering {
 public:
  Lowering(int first_iter, std::size_t rank, const Ref& body) : terms_(postorder(body)) {
    loops_.emplace_back();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      out_.axes.push_back(new_register(DType::i64));
      iters_.emplace(first_iter + static_cast<std::int64_t>(axis), Variable{out_.axes.back(), 0});
    }
    for (const Term* term : terms_) {
      if (is_reduction(term->op)) open_loop(*term);
      for (const Ref& arg : term->args) {
        if (!continues(*term, *arg)) wanted_[arg.get()] = true;
      }
    }
    wanted_[body.get()] = true;
  }

  Lowered lower(const Ref& body) && {
    for (const Term* term : terms_) place(*term);
    out_.steps = std::move(loops_[0].steps);
    out_.result = registers_.at(body.get());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      Kind kind = out_.steps[i].kind;
      if (kind == Kind::loop || kind == Kind::start) open.push_back(i);
      if (kind != Kind::end && kind != Kind::finish) continue;
      out_.steps[open.back()].end = static_cast<int>(i);
      open.pop_back();
    }
    return std::move(out_);
  }

 private:
  struct Variable {
    int reg = -1;
    int loop = 0;
  };

  int new_register(DType dtype) {
    out_.registers.push_back(dtype);
    return static_cast<int>(out_.registers.size()) - 1;
  }

  void open_loop(const Term& reduction) {
    Loop loop;
    loop.reduction = &reduction;
    loop.variable = new_register(DType::i64);
    bool fresh = iters_.emplace(reduction.integer, Variable{loop.variable, static_cast<int>(loops_.size())}).second;
    IT_CHECK(fresh);  // a variable is bound once
    loops_.push_back(std::move(loop));
  }

  // The loops whose variables `term` depends on, each once.
  std::vector<int> dependencies(const Term& term) const {
    std::vector<int> out;
    if (term.op == Op::iter) {
      auto variable = iters_.find(term.integer);
      IT_CHECK(variable != iters_.end());
      if (variable->second.loop != 0) out.push_back(variable->second.loop);
    }
    for (const Ref& arg : term.args) {
      const std::vector<int>& inner = depends_.at(arg.get());
      std::vector<int> both;
      std::set_union(out.begin(), out.end(), inner.begin(), inner.end(), std::back_inserter(both));
      out = std::move(both);
    }
    if (is_reduction(term.op)) std::erase(out, iters_.at(term.integer).loop);
    return out;
  }

  // Nothing depends on two loops of one depth: of two loops around a term, one depends on the other. Depths are known only once all
  // dependencies are, since a loop depends on loops that come later.
  int deepest(const std::vector<int>& loops) const {
    int out = 0;
    for (int loop : loops) {
      if (out == 0 || loops_[static_cast<std::size_t>(loop)].depth > loops_[static_cast<std::size_t>(out)].depth) out = loop;
    }
    return out;
  }

  void find_depths() {
    for (const Term* term : terms_) depends_.emplace(term, dependencies(*term));
    for (std::size_t i = loops_.size(); i-- > 1;) {  // a loop comes before those it depends on
      for (int outer : depends_.at(loops_[i].reduction))
        loops_[i].depth = std::max(loops_[i].depth, loops_[static_cast<std::size_t>(outer)].depth + 1);
    }
  }

  std::vector<Step>& steps_of(const Term& term) { return loops_[static_cast<std::size_t>(deepest(depends_.at(&term)))].steps; }

  void place(const Term& term) {
    if (depends_.empty()) find_depths();
    if (term.op == Op::iter) {
      registers_[&term] = iters_.at(term.integer).reg;
      return;
    }
    registers_[&term] = new_register(term.dtype);
    if (is_reduction(term.op)) {
      if (wanted_[&term]) place_reduction(term);
      return;
    }
    Step step{Kind::compute, &term, registers_.at(&term), static_cast<int>(out_.operands.size())};
    for (const Ref& arg : term.args) out_.operands.push_back(registers_.at(arg.get()));
    steps_of(term).push_back(step);
  }

  // start; loops, the outermost first; accumulate; finish.
  void place_reduction(const Term& reduction) {
    int sum = registers_.at(&reduction);
    std::vector<const Term*> nest = {&reduction};
    while (continues(*nest.back(), *nest.back()->args[0])) nest.push_back(nest.back()->args[0].get());
    std::vector<Step> inner = {{Kind::accumulate, &reduction, sum, static_cast<int>(out_.operands.size())}};
    out_.operands.push_back(registers_.at(nest.back()->args[0].get()));
    for (std::size_t i = nest.size(); i-- > 0;) {
      const Loop& loop = loops_[static_cast<std::size_t>(iters_.at(nest[i]->integer).loop)];
      std::vector<Step> whole = {{Kind::loop, nest[i], loop.variable}};
      whole.insert(whole.end(), loop.steps.begin(), loop.steps.end());
      whole.insert(whole.end(), inner.begin(), inner.end());
      whole.push_back({Kind::end, nest[i], loop.variable});
      inner = std::move(whole);
    }
    std::vector<Step>& around = steps_of(reduction);
    around.push_back({Kind::start, &reduction, sum});
    around.insert(around.end(), inner.begin(), inner.end());
    around.push_back({Kind::finish, &reduction, sum});
  }

  std::vector<const Term*> terms_;
  std::vector<Loop> loops_;
  std::unordered_map<std::int64_t, Variable> iters_;
  std::unordered_map<const Term*, std::vector<int>> depends_;
  std::unordered_map<const Term*, bool> wanted_;  // by something other than a reduction that it is one with
  std::unordered_map<const Term*, int> registers_;
  Lowered out_;
};

}  // namespace

bool continues(const Term& outer, const Term& inner) { return is_reduction(outer.op) && outer.op == inner.op && outer.dtype == inner.dtype; }

Lowered lower(int first_iter, std::size_t rank, const Ref& body) { return Lowering(first_iter, rank, body).lower(body); }

}  // namespace infini::expr
