#include "tools/cli/emit.h"

#include "libcore/base/text.h"
#include "libcore/ir/emit.h"
#include "libcore/ir/text_form.h"

namespace infini::cli {

Status emit(const Module& module, const Arguments& arguments, Output& output) {
  std::string form = arguments.get("emit");
  if (form == "text") return output.write_text(print(module));
  if (form == "dot") return output.write_text(emit_dot(module.graph));
  if (form == "json") return output.write_text(emit_json(module.graph));
  return usage_error(text("--emit=", form, ": text, onnx, dot or json"));
}

}  // namespace infini::cli
