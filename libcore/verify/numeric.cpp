#include "libcore/verify/numeric.h"

#include "libcore/base/text.h"
#include "libcore/tensor/compare.h"

namespace infini {
namespace {

Result<std::vector<Value>> run(const Graph& graph, const Devices& devices, std::span<const Value> inputs) {
  ExecOptions options;
  options.devices = devices;
  IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(graph), std::move(options)));
  return executor->run(inputs);
}

}  // namespace

Result<NumericCheck> NumericCheck::make(const Graph& graph, Devices devices, std::vector<Value> inputs) {
  NumericCheck out;
  out.devices_ = std::move(devices);
  out.inputs_ = std::move(inputs);
  IT_TRY(out.outputs_, run(graph, out.devices_, out.inputs_));
  return out;
}

Status NumericCheck::check(const Graph& graph, double relative_l2) {
  IT_TRY(std::vector<Value> now, run(graph, devices_, inputs_));
  for (std::size_t i = 0; i < now.size(); ++i) {
    Comparison found = compare(now[i], outputs_[i], {.relative = 0, .absolute = 0});
    bool same_form = found.equal || found.mismatches > 0;
    if (found.equal || (same_form && found.relative_l2 <= relative_l2)) continue;
    return internal_error(text("output '", graph.value(graph.outputs()[i]).name, "' changed: ", found.reason, "; relative L2 ", found.relative_l2, ", allowed ", relative_l2));
  }
  outputs_ = std::move(now);
  return {};
}

}  // namespace infini
