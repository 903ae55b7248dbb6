#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "libcore/wire/memory.h"
#include "libcore/wire/wire.h"

namespace infini {

using namespace wire;

namespace {

Status check_content(const ValueInfo& value) {
  const Constant& constant = *value.constant;
  const auto* mapped = std::get_if<MappedPayload>(&constant.payload);
  if (!mapped || !constant.digest) return {};
  std::span<const std::byte> bytes = mapped->tensor.bytes();
  ContentHasher hash;
  for (std::size_t done = 0; done < bytes.size(); done += chunk_limit) {
    std::span<const std::byte> window = bytes.subspan(done, std::min<std::size_t>(chunk_limit, bytes.size() - done));
    hash.add(window);
    release_mapped(window);
  }
  if (hash.finish() == *constant.digest) return {};
  return bad_input(text("constant '", value.name, "' is damaged: its digest is ", to_hex(hash.finish()), ", the file says ", to_hex(*constant.digest)));
}

}  // namespace

Status check_contents(const Graph& graph) {
  for (const ValueInfo& value : graph.values()) {
    if (value.constant) IT_TRY_VOID(check_content(value));
  }
  for (const Node& node : graph.nodes()) {
    for (const Body* body : bodies(node)) IT_TRY_VOID(check_contents(*body->graph));
  }
  return {};
}

}  // namespace infini
