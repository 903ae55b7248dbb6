// AttributeProto to attribute values.
#pragma once

#include "libcore/base/result.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/payload.h"
#include "libcore/onnx/types.h"
#include "libcore/ops/attribute.h"

namespace infini::onnx_files {

// What an attribute holds: its declared type, or the one field that is filled (old files, and types that are newer than the classes).
onnx::AttributeProto::AttributeType kind_of(const onnx::AttributeProto& attribute);

// The value of an attribute that holds no graph. bad_input: it holds nothing, or a malformed tensor or type.
Result<AttributeValue> plain_value(const onnx::AttributeProto& attribute, const Payloads& payloads, Dimensions& dimensions);

}  // namespace infini::onnx_files
