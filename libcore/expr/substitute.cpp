#include "libcore/expr/expr.h"
#include "libcore/expr/traverse.h"

namespace infini::expr {
namespace {

Shape bound(Shape shape, const Bindings& bindings) {
  for (Dim& extent : shape) extent = extent.substitute(bindings);
  return shape;
}

Ref bound(const Ref& body, const Bindings& bindings) {
  return rewrite(body, [&](const Ref& term) -> Ref {
    if (term->dim.is_constant()) return nullptr;
    if (term->op == Op::dim) return index(term->dim.substitute(bindings)).term();
    Term changed = *term;
    changed.dim = term->dim.substitute(bindings);
    return std::make_shared<Term>(std::move(changed));
  });
}

}  // namespace

Program substitute(const Program& program, const Bindings& bindings) {
  Program out = program;
  for (TensorInfo& input : out.inputs) input.shape = bound(std::move(input.shape), bindings);
  for (Definition& definition : out.definitions) {
    definition.type.shape = bound(std::move(definition.type.shape), bindings);
    definition.body = bound(definition.body, bindings);
  }
  for (Requirement& requirement : out.requirements) {
    requirement.box = bound(std::move(requirement.box), bindings);
    requirement.condition = bound(requirement.condition, bindings);
  }
  return out;
}

}  // namespace infini::expr
