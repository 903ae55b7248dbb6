#include "tools/cli/emit.h"

#include "libcore/base/text.h"
#include "libcore/ir/emit.h"
#include "libcore/ir/text_form.h"
#include "libcore/onnx/onnx.h"

namespace infini::cli {

namespace {

constexpr std::size_t text_elements = 4096;  // of one constant, unless --embed asks for all

std::string text_form(const Module& module, const Arguments& arguments, const Talk& talk) {
  PrintOptions options{.constant_elements = text_elements, .all_constants = arguments.has("embed")};
  std::size_t elided = 0;
  for (const ValueInfo& value : module.graph.values()) {
    const Tensor* tensor = value.constant ? value.constant->at_hand() : nullptr;
    if (tensor && !options.all_constants && tensor->count() > static_cast<std::int64_t>(options.constant_elements)) ++elided;
  }
  if (elided) talk.notice(text(elided, " large constants are written as '...', and are absent when the text is read; --embed writes them"));
  return print(module, options);
}

}  // namespace

Status emit(const Module& module, const Arguments& arguments, const Talk& talk, Output& output) {
  std::string form = arguments.get("emit");
  if (form == "text") return output.write_text(text_form(module, arguments, talk));
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
