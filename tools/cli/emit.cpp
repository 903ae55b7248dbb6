#include "tools/cli/emit.h"

#include "libcore/base/text.h"
#include "libcore/ir/emit.h"
#include "libcore/ir/text_form.h"
#include "libcore/onnx/onnx.h"

namespace infini::cli {

Status emit(const Module& module, const Arguments& arguments, Output& output) {
  std::string form = arguments.get("emit");
  if (form == "text") return output.write_text(print(module));
  if (form == "dot") return output.write_text(emit_dot(module.graph));
  if (form == "json") return output.write_text(emit_json(module.graph));
  ExportOptions options;
  if (arguments.has("opset")) {
    std::int64_t opset = 0;
    if (!parse_int(arguments.get("opset"), opset) || opset < 1 || opset > newest_opset) {
      return usage_error(text("--opset=", arguments.get("opset"), ": expected 1 to ", newest_opset));
    }
    options.opset = static_cast<int>(opset);
  }
  return export_onnx(module, output.path(), options);
}

}  // namespace infini::cli
