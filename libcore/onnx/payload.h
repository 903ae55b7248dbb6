// TensorProto to constants and tensors: every element type, every encoding, and data in files beside the model.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ir/constant.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/reader.h"

namespace infini::onnx_files {

// What stands behind the structure of a model: its own bytes and the files beside it.
struct Payloads {
  FileRange file;            // the model's file; an empty path: none
  std::string folder;        // where external data may be; empty: nowhere
  std::vector<Cut> cuts;     // see ScannedModel
  bool no_weights = false;   // payloads beyond inline_limit are not wanted
};

// The constant that `tensor` describes; a large payload stays in its file. bad_input: an undefined type, negative or overflowing dimensions,
// a payload of another size, external data that is missing or lies outside the model's folder.
Result<ConstantRef> constant_of(const onnx::TensorProto& tensor, const Payloads& payloads);
// The same in memory, weights or not: for attributes and test data.
Result<Tensor> tensor_of(const onnx::TensorProto& tensor, const Payloads& payloads);
// Dense, with zeros where nothing stands. unsupported beyond dense_limit bytes.
Result<ConstantRef> constant_of(const onnx::SparseTensorProto& sparse, const Payloads& payloads);
inline constexpr std::size_t dense_limit = std::size_t{256} << 20;

}  // namespace infini::onnx_files
