// External data: a tensor's bytes in a file beside the model, and nowhere else.
#pragma once

#include <string>

#include "libcore/base/result.h"
#include "libcore/ir/constant.h"
#include "libcore/onnx/messages.h"

namespace infini::onnx_files {

// The stretch that `tensor` names by location, offset and length. bad_input if the location is absolute, holds "..", leads out of `folder`
// through a link, or if the file is shorter; the messages lack their subject ("has its data in ..."). An empty folder: none.
Result<FileRange> external_range(const onnx::TensorProto& tensor, const std::string& folder);

}  // namespace infini::onnx_files
