// Types as messages.
#pragma once

#include <string_view>

#include "libcore/onnx/messages.h"
#include "libcore/tensor/type.h"

namespace infini::onnx_files {

// Numbers as dim_value, symbols by name and expressions in their text form as dim_param; sizes that only running tells say nothing.
void set_type(onnx::TypeProto& out, const Type& type);
void set_value(onnx::ValueInfoProto& out, std::string_view name, const Type& type);

}  // namespace infini::onnx_files
