#include <doctest/doctest.h>

#include "libcore/ir/text_form.h"

using namespace infini;

TEST_CASE("a graph is printed and parsed back") {
  OpTable ops;
  std::string source = R"(graph "main" (
  %x: f32[batch,4],
  %w: f32[4,8]
) -> (%y) {
  symbol batch in 1..512
  %0 = MatMul(%x, %w) : f32[batch,8] @ "fc1"
  %y = Relu(%0) : f32[batch,8]
}
)";
  Result<Module> module = parse_text(source, ops);
  if (!module) FAIL(module.error().text());
  CHECK(print(*module) == source);
}
