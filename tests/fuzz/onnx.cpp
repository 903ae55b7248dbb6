// Any bytes as an ONNX model: an error or a graph, never a fault.
#include <cstddef>
#include <cstdint>
#include <span>

#include "libcore/onnx/onnx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const infini::OpTable ops;
  infini::ImportOptions options;
  options.no_weights = size % 2 == 1;
  infini::Result<infini::ImportReport> report = infini::import_onnx(std::as_bytes(std::span(data, size)), options, ops);
  if (report) {
    infini::ImportOptions part = options;
    part.from = {"*1"};
    if (infini::import_onnx(std::as_bytes(std::span(data, size)), part, ops)) return 0;
  }
  return 0;
}
