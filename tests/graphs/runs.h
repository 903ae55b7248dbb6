// Running graphs in tests: devices, inputs, and what differs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/exec/executor.h"

namespace infini::tests {

// "reference" or "cpu" with one thread; `options` such as {{"isa", "portable"}}.
std::shared_ptr<Device> device(std::string_view name, const DeviceOptions& options = {});

// A number for every symbol in the inputs' types: 2, 3, 4, ... plus `more`, inside the symbol's bounds.
Bindings some_sizes(const Graph& graph, std::int64_t more = 0);
// Normal numbers, integers from -4 to 4, coins; the same for the same seed.
std::vector<Value> some_inputs(const Graph& graph, const Bindings& sizes, std::uint64_t seed);
Tensor some_tensor(DType dtype, const Extents& extents, std::uint64_t seed);

Result<std::vector<Value>> run(const Graph& graph, const Devices& devices, std::span<const Value> inputs);

// Nothing, or what differs: types and shapes must be the same; elements bit by bit where `relative_l2` is 0 (any NaN equals any other, so that
// a sum's operands may change sides), else up to that distance.
std::string difference(std::span<const Value> now, std::span<const Value> before, double relative_l2);

}  // namespace infini::tests
