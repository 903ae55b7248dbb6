// Test vectors: values of every kind to messages and back.
#pragma once

#include <vector>

#include "schemas/graph.pb.h"

#include "libcore/ir/module.h"
#include "libcore/wire/constants.h"

namespace infini::wire {

// Tensors that must follow in chunks are appended to `chunked`; their numbers go on from `first`.
v1::TestVector encode_test_vector(const TestVector& test, std::uint64_t first, std::vector<Tensor>& chunked);

// All tensors in it, in order. bad_input: more than nesting_limit levels.
Status collect_tensors(const v1::TestVector& message, std::vector<const v1::Constant*>& tensors);
Result<TestVector> decode_test_vector(const v1::TestVector& message, ConstantReader& constants);

}  // namespace infini::wire
