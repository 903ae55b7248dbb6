// Tensors as NumPy's .npy files. Types that NumPy lacks travel as raw bytes: bf16 as '<V2'; float8 as '|V1'; 4-bit and 2-bit
// types as '|V1', one element per byte. Such a file does not say which type it holds: the reader must be told.
// Strings travel as '<U'; bytes that are not UTF-8 as Python's surrogateescape has them (U+DC80 to U+DCFF).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "libcore/base/result.h"
#include "libcore/tensor/tensor.h"

namespace infini {

struct NpyLimits {
  std::uint64_t bytes = UINT64_MAX;  // of memory that the tensor may take
  std::optional<DType> dtype;        // what raw elements ('V') are
};

// The array in `bytes`, which `owner` keeps alive: shared if they lie as a tensor does, else copied (no owner: always copied).
// Fortran order and the other byte order are turned. bad_input: malformed, truncated, something follows the data, over the limit.
Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const NpyLimits& limits = {});

// The file at `path` ("-": standard input). Errors name it.
Result<Tensor> load_npy(const std::string& path, const NpyLimits& limits = {});

// Takes the file's bytes piece by piece.
using ByteSink = std::function<Status(std::span<const std::byte>)>;
Status write_npy(const Tensor& tensor, const ByteSink& sink);
// The same into a file that appears when complete.
Status save_npy(const std::string& path, const Tensor& tensor);

// True for the types that travel as raw elements.
bool travels_raw(DType dtype);

}  // namespace infini
