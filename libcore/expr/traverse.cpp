#include "libcore/expr/traverse.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace infini::expr {
namespace {

// Calls `visit` once for each distinct term, arguments first; no recursion, since chains may be long.
template <class Visit>
void visit_each(std::span<const Ref> roots, Visit&& visit) {
  std::unordered_set<const Term*> seen;
  std::vector<std::pair<const Ref*, std::size_t>> path;  // a term and how many of its arguments are done
  for (const Ref& root : roots) {
    if (seen.insert(root.get()).second) path.emplace_back(&root, 0);
    while (!path.empty()) {
      auto& [term, next] = path.back();
      if (next == (*term)->args.size()) {
        visit(*term);
        path.pop_back();
        continue;
      }
      const Ref& arg = (*term)->args[next++];
      if (seen.insert(arg.get()).second) path.emplace_back(&arg, 0);
    }
  }
}

}  // namespace

std::vector<const Term*> postorder(std::span<const Ref> roots) {
  std::vector<const Term*> out;
  visit_each(roots, [&](const Ref& term) { out.push_back(term.get()); });
  return out;
}

Ref rebuild(const Ref& term, std::vector<Ref> args) {
  if (args == term->args) return term;
  if (term->op == Op::cast) return cast(term->dtype, Expr(args[0]), term->rule).term();
  if (term->op == Op::select) return select(Expr(args[0]), Expr(args[1]), Expr(args[2])).term();
  if (is_binary(term->op)) return binary(term->op, Expr(args[0]), Expr(args[1])).term();
  if (is_unary(term->op)) return unary(term->op, Expr(args[0])).term();
  Term changed = *term;
  changed.args = std::move(args);
  return std::make_shared<Term>(std::move(changed));
}

Ref rewrite(const Ref& root, const std::function<Ref(const Ref&)>& replace) {
  std::unordered_map<const Term*, Ref> done;
  visit_each(std::span(&root, 1), [&](const Ref& term) {
    std::vector<Ref> args;
    args.reserve(term->args.size());
    for (const Ref& arg : term->args) args.push_back(done.at(arg.get()));
    Ref rebuilt = rebuild(term, std::move(args));
    Ref replaced = replace(rebuilt);
    done.emplace(term.get(), replaced ? replaced : rebuilt);
  });
  return done.at(root.get());
}

}  // namespace infini::expr
