// Named values as NumPy's .npz files: a zip of .npy members, read back by numpy.load.
//
// What NumPy lacks is described by one more member, `__dtypes__.json`, written only where needed: a JSON object, name -> type.
//   "x": "bf16"           the raw elements of x (npy.h) are bf16, f8e4m3fn, i4, ...
//   "s": "seq(f32)"       a sequence: members s.0, s.1, ..., and "s#": "2", how many there are
//   "o": "optional(i64)"  an optional: member o.0 and "o#": "1", or "o#": "0" if it is empty
// Items that are themselves raw, sequences or optionals have entries of their own ("s.0": "seq(f32)").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/tensor/tensor.h"

namespace infini {

using NamedValues = std::vector<std::pair<std::string, Value>>;

// Values in the order of the file's members, sequences and optionals after the tensors. Tensors of stored members share `bytes`
// where they can; `owner` keeps those alive. limit: bytes of memory that all values together may take.
// bad_input: malformed, truncated, a wrong checksum, over the limit, or __dtypes__.json contradicts the members.
Result<NamedValues> read_npz(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, std::uint64_t limit = UINT64_MAX);

// The file at `path` ("-": standard input). Errors name it.
Result<NamedValues> load_npz(const std::string& path, std::uint64_t limit = UINT64_MAX);

// A file that appears when complete, or standard output ("-"). Same values, same bytes. Maps are unsupported.
Status save_npz(const std::string& path, const NamedValues& values, bool deflate = false);

}  // namespace infini
