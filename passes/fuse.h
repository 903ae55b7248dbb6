// Making `fused` nodes: shared by the passes that decide what belongs together.
#pragma once

#include <span>

#include "libcore/ir/rewrite.h"
#include "passes/pass.h"

namespace infini {

// Puts one `fused` node in place of `members` (old nodes, in order); `output` is the only value of theirs that others read. Everything else they
// read becomes an input of the node, in the order of first use.
Status emit_fused(Rewriter& rewriter, std::span<const NodeId> members, ValueId output, const PassContext& context);

// True if the value has one reader in all and is no output: fusing it away loses nothing.
bool read_once(const Uses& uses, ValueId value);

}  // namespace infini
