// --emit: other forms of a graph than the stream.
#pragma once

#include "libcore/ir/module.h"
#include "tools/cli/module_io.h"
#include "tools/cli/options.h"

namespace infini::cli {

// text, onnx, dot or json, to where the output goes.
Status emit(const Module& module, const Arguments& arguments, const Talk& talk, Output& output);

}  // namespace infini::cli
