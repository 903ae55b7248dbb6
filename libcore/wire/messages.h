// Small messages to values of ours and back. For this folder alone.
#pragma once

#include "schemas/graph.pb.h"

#include "libcore/base/hash.h"
#include "libcore/base/result.h"
#include "libcore/ir/module.h"
#include "libcore/tensor/type.h"

namespace infini::wire {

v1::Digest encode_digest(Hash128 digest);
Hash128 decode_digest(const v1::Digest& message);

v1::Error encode_error(const Error& error, int status);
Error decode_error(const v1::Error& message);

v1::Type encode_type(const Type& type);
// bad_input: unknown element types, malformed dimensions, more than nesting_limit levels.
Result<Type> decode_type(const v1::Type& message);
Result<DType> decode_dtype(std::uint32_t number);

v1::LedgerEntry encode_entry(const LedgerEntry& entry);
LedgerEntry decode_entry(const v1::LedgerEntry& message);

}  // namespace infini::wire
