// Walking and rebuilding terms, each distinct term once.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/expr/expr.h"

namespace infini::expr {

// Every distinct term under `roots`, arguments before their users.
std::vector<const Term*> postorder(std::span<const Ref> roots);
inline std::vector<const Term*> postorder(const Ref& root) { return postorder(std::span(&root, 1)); }

// `term` with other arguments, simplified as the builders do. `term` itself if nothing changed.
Ref rebuild(const Ref& term, std::vector<Ref> args);

// The term in which every term under `root`, its arguments already replaced, has gone through `replace`; null keeps it.
Ref rewrite(const Ref& root, const std::function<Ref(const Ref&)>& replace);

}  // namespace infini::expr
