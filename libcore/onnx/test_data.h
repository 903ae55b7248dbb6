// Inputs and expected outputs that stand beside a model.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace infini::onnx_files {

// From a folder of input_0.pb, output_0.pb, ..., from one of test_data_set_* folders (one vector each), or from a .npz file whose members
// are named as the graph's inputs and outputs. Files go by position, and are read as the declared types say.
// bad_input: nothing there, a gap, too many files, a malformed one, or another element type than declared.
Result<std::vector<TestVector>> read_test_data(const std::string& path, const Graph& graph);

}  // namespace infini::onnx_files
