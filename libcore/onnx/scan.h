// Reading a model on the wire: weights are cut out where they stand, and only the rest goes to the message classes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/reader.h"

namespace infini::onnx_files {

struct ScannedModel {
  onnx::ModelProto model;          // tensors whose raw_data was cut out carry the number of their cut (see cut_number)
  std::vector<Cut> cuts;
  FileRange file;                  // the model's file; an empty path: there is none
};

// bad_input with the byte offset where the bytes stop making sense.
Result<ScannedModel> scan_model(ByteReader reader);

// Which cut holds the raw_data of `tensor`, if it was cut out.
std::optional<std::size_t> cut_number(const onnx::TensorProto& tensor);

}  // namespace infini::onnx_files
