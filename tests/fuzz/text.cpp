// The text parser on arbitrary text: what parses verifies, and is printed and parsed back to the same text.
#include <cstdint>
#include <string>
#include <string_view>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/ir/verify.h"

using namespace infini;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const OpTable ops;
  Result<Module> module = parse_text(std::string_view(reinterpret_cast<const char*>(data), size), ops);
  if (!module) return 0;
  Status verified = verify(module->graph);
  IT_CHECK(verified.has_value());
  PrintOptions options;
  options.all_constants = true;
  std::string once = print(*module, options);
  Result<Module> again = parse_text(once, ops);
  IT_CHECK(again.has_value());
  IT_CHECK(print(*again, options) == once);
  IT_CHECK(structure_digest(module->graph) == structure_digest(again->graph));
  return 0;
}
