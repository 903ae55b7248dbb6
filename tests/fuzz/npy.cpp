// libFuzzer target: the .npy and .npz readers. The first byte says which of the two, and the type of raw elements.
#include <cstdint>
#include <memory>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/tensor/npy.h"
#include "libcore/tensor/npz.h"

using namespace infini;

namespace {

constexpr std::uint64_t limit = std::uint64_t{1} << 24;

// What was read can be written, and reads back.
void write_and_read(const Tensor& tensor) {
  std::vector<std::byte> file;
  Status status = write_npy(tensor, [&](std::span<const std::byte> bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return Status();
  });
  IT_CHECK(status.has_value());
  Result<Tensor> again = read_npy(file, nullptr, {UINT64_MAX, tensor.dtype()});
  IT_CHECK(again.has_value() && again->type() == tensor.type());
  IT_CHECK(tensor.dtype() != DType::str || again->strings() == tensor.strings());
}

// A long string makes every element of a '<U' array long.
bool is_small(const Tensor& tensor) {
  std::uint64_t longest = 0;
  if (tensor.dtype() == DType::str) {
    for (const std::string& s : tensor.strings()) longest = std::max<std::uint64_t>(longest, s.size());
  }
  return longest * static_cast<std::uint64_t>(tensor.count()) < limit;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  auto copy = std::make_shared<const std::vector<std::byte>>(reinterpret_cast<const std::byte*>(data) + 1, reinterpret_cast<const std::byte*>(data) + size);
  if (data[0] < 128) {
    if (Result<NamedValues> values = read_npz(*copy, copy, limit)) {
      for (const auto& [name, value] : *values) {
        if (const Tensor* tensor = value.tensor(); tensor != nullptr && is_small(*tensor)) write_and_read(*tensor);
      }
    }
    return 0;
  }
  Result<Tensor> tensor = read_npy(*copy, copy, {limit, dtype_from_onnx(data[0] - 128)});
  if (tensor && is_small(*tensor)) write_and_read(*tensor);
  return 0;
}
