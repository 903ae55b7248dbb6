#include "tests/graphs/runs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libcore/base/text.h"
#include "libcore/tensor/compare.h"
#include "libcore/tensor/random.h"

extern "C" {
const it_backend* it_cpu_backend_query(std::uint32_t max_abi);
const it_backend* it_reference_backend_query(std::uint32_t max_abi);
}

namespace infini::tests {
namespace {

bool same_element(const Tensor& a, const Tensor& b, std::int64_t i) {
  if (is_floating(a.dtype()) && std::isnan(a.as_double(i)) && std::isnan(b.as_double(i))) return true;
  if (is_floating(a.dtype())) return a.as_double(i) == b.as_double(i) && std::signbit(a.as_double(i)) == std::signbit(b.as_double(i));
  return a.as_int(i) == b.as_int(i);
}

std::string bit_difference(const Tensor& a, const Tensor& b) {
  if (!(a.type() == b.type())) return text(to_string(a.type()), " instead of ", to_string(b.type()));
  if (a.dtype() == DType::str) return a.strings() == b.strings() ? "" : "other strings";
  if (std::ranges::equal(a.bytes(), b.bytes())) return {};
  if (is_complex(a.dtype())) return "other complex numbers";
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (!same_element(a, b, i)) return text("element ", i, " is ", a.as_double(i), " instead of ", b.as_double(i));
  }
  return {};
}

std::string value_difference(const Value& now, const Value& before, double relative_l2) {
  if (relative_l2 == 0 && now.tensor() && before.tensor()) return bit_difference(*now.tensor(), *before.tensor());
  Comparison found = compare(now, before, {.relative = 0, .absolute = 0});
  bool same_form = found.equal || found.mismatches > 0;
  if (found.equal || (same_form && found.relative_l2 <= relative_l2)) return {};
  return text(found.reason, "; relative L2 ", found.relative_l2);
}

}  // namespace

std::shared_ptr<Device> device(std::string_view name, const DeviceOptions& options) {
  Result<Backend> backend = Backend::from_query(name == "cpu" ? it_cpu_backend_query : it_reference_backend_query, name);
  IT_CHECK(backend.has_value());
  DeviceOptions all = options;
  if (name == "cpu") all.emplace_back("threads", "1");
  Result<std::shared_ptr<Device>> opened = Device::open(*backend, 0, all);
  IT_CHECK(opened.has_value());
  return *opened;
}

Bindings some_sizes(const Graph& graph, std::int64_t more) {
  Bindings out;
  for (ValueId input : graph.inputs()) {
    const Type& type = graph.value(input).type;
    if (!type.has_shape()) continue;
    for (const Dim& dim : *type.shape) {
      for (const std::string& symbol : dim.symbols()) {
        if (std::ranges::find(out, symbol, &Binding::symbol) != out.end()) continue;
        std::int64_t size = 2 + static_cast<std::int64_t>(out.size()) + more;
        for (const Symbol& bounded : graph.symbols()) {
          if (bounded.name == symbol) size = std::clamp(size, bounded.bounds.lowest, bounded.bounds.highest);
        }
        out.push_back({symbol, size});
      }
    }
  }
  return out;
}

Tensor some_tensor(DType dtype, const Extents& extents, std::uint64_t seed) {
  RandomNumbers random(seed, "tensor");
  Result<TensorWriter> writer = TensorWriter::make(dtype, extents);
  IT_CHECK(writer.has_value());
  for (std::int64_t i = 0; i < writer->tensor().count(); ++i) {
    auto at = static_cast<std::uint64_t>(i);
    if (dtype == DType::str) {
      writer->strings()[static_cast<std::size_t>(i)] = text(random.below(9, at));
    } else if (is_floating(dtype)) {
      writer->set_double(i, random.normal(at));
    } else {
      bool is_signed = is_signed_int(dtype);
      auto number = static_cast<std::int64_t>(random.below(dtype == DType::boolean ? 2 : is_signed ? 9 : 5, at));
      writer->set_int(i, is_signed ? number - 4 : number);
    }
  }
  return std::move(*writer).finish();
}

std::vector<Value> some_inputs(const Graph& graph, const Bindings& sizes, std::uint64_t seed) {
  std::vector<Value> out;
  for (ValueId input : graph.inputs()) {
    const Type& type = graph.value(input).type;
    IT_CHECK(type.has_shape());
    std::optional<Extents> extents = evaluate(*type.shape, sizes);
    IT_CHECK(extents.has_value());
    out.emplace_back(some_tensor(type.dtype, *extents, seed * 1000 + out.size()));
  }
  return out;
}

Result<std::vector<Value>> run(const Graph& graph, const Devices& devices, std::span<const Value> inputs) {
  ExecOptions options;
  options.devices = devices;
  IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(graph), std::move(options)));
  return executor->run(inputs);
}

std::string difference(std::span<const Value> now, std::span<const Value> before, double relative_l2) {
  if (now.size() != before.size()) return text(now.size(), " outputs instead of ", before.size());
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::string found = value_difference(now[i], before[i], relative_l2);
    if (!found.empty()) return text("output ", i, ": ", found);
  }
  return {};
}

}  // namespace infini::tests
