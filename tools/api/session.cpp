#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <mutex>

#include "libcore/base/text.h"
#include "libcore/exec/executor.h"
#include "libcore/exec/report.h"
#include "tools/api/handles.h"
#include "tools/cli/devices.h"

struct it_session {
  std::shared_ptr<const infini::Module> module;
  std::string notes;
  std::unique_ptr<infini::Executor> executor;
  std::mutex one_call;
};

namespace infini::api {
namespace {

// Where plugins are looked for: installed beside this library. IT_BACKENDS is the way there from its folder.
std::string installed_backends() {
  Dl_info facts{};
  bool found = dladdr(reinterpret_cast<const void*>(&it_open), &facts) != 0;
  return found ? (std::filesystem::path(facts.dli_fname).parent_path() / IT_BACKENDS).lexically_normal().string() : IT_BACKENDS;
}

Result<Devices> open_devices(const char* const* options) {
  std::vector<const char*> all;
  while (options && *options) all.push_back(*options++);
  std::string standard = text("backend-dir=", installed_backends());
  all.insert(all.begin(), standard.c_str());  // what the caller says comes behind it and wins
  all.push_back(nullptr);
  IT_TRY(cli::Arguments arguments, options_of(cli::device_options(), all.data()));
  return cli::open_devices(arguments);
}

Result<Tensor> string_tensor(const it_array& array, Extents extents, std::int64_t count) {
  if (array.bytes != static_cast<std::size_t>(count) * sizeof(it_string)) {
    return usage_error(text(array.bytes, " bytes are given, ", count, " it_strings expected"));
  }
  std::vector<std::string> strings;
  for (std::int64_t i = 0; i < count; ++i) {
    const it_string& element = static_cast<const it_string*>(array.data)[i];
    strings.emplace_back(element.data ? element.data : "", element.data ? element.size : 0);
  }
  return Tensor::of_strings(std::move(extents), std::move(strings));
}

// The caller's elements, which stay where they are unless kernels could not read them there.
Result<Tensor> tensor_of(const it_array& array) {
  std::optional<DType> dtype = dtype_from_onnx(array.element);
  if (!dtype) return usage_error(text("element type ", array.element, " is none of TensorProto.DataType"));
  if (array.rank < 0 || (array.rank > 0 && !array.extents)) return usage_error(text("rank ", array.rank, " without that many extents"));
  Extents extents;
  if (array.rank > 0) extents.assign(array.extents, array.extents + array.rank);
  std::optional<std::int64_t> count = element_count(extents);
  if (!count) return usage_error(text("extents ", to_string(extents), " are none"));
  if (*count > 0 && !array.data) return usage_error("data is NULL");
  if (*dtype == DType::str) return string_tensor(array, std::move(extents), *count);
  std::size_t bytes = byte_size(*dtype, *count);
  if (array.bytes != bytes) return usage_error(text(array.bytes, " bytes are given, ", name(*dtype), to_string(extents), " has ", bytes));
  std::span<const std::byte> given(static_cast<const std::byte*>(array.data), bytes);
  constexpr std::uintptr_t alignment = alignof(std::max_align_t);
  if (reinterpret_cast<std::uintptr_t>(array.data) % alignment == 0) return Tensor::view(*dtype, std::move(extents), given, nullptr);
  return Tensor::owning(*dtype, std::move(extents), std::vector<std::byte>(given.begin(), given.end()));
}

// A value for each input of the graph. usage: one that is not there, is there twice, or is missing; with the inputs that the graph has.
Result<std::vector<Value>> bind(const Graph& graph, std::span<const it_array> arrays) {
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  std::vector<std::optional<Value>> given(names.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::size_t at = i;
    if (arrays[i].name) at = static_cast<std::size_t>(std::find(names.begin(), names.end(), arrays[i].name) - names.begin());
    std::string called = arrays[i].name ? arrays[i].name : text("#", i);
    if (at >= names.size()) return usage_error(text("the graph has no input '", called, "'; it has ", join(names, ", ")));
    if (given[at]) return usage_error(text("input '", names[at], "' is given twice"));
    IT_TRY(given[at], within(text("input '", names[at], "'"), tensor_of(arrays[i])));
  }
  std::vector<Value> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!given[i]) return usage_error(text("input '", names[i], "' ", to_string(graph.value(graph.inputs()[i]).type), " is not given"));
    out.push_back(std::move(*given[i]));
  }
  return out;
}

// The same tensor in memory of its own if it lies in the caller's, as an output that is an input does.
Result<Tensor> detached(const Tensor& tensor, std::span<const it_array> arrays) {
  std::span<const std::byte> bytes = tensor.bytes();
  for (const it_array& array : arrays) {
    const auto* begin = static_cast<const std::byte*>(array.data);
    if (tensor.dtype() == DType::str || bytes.empty() || bytes.data() < begin || bytes.data() >= begin + array.bytes) continue;
    return Tensor::owning(tensor.dtype(), tensor.extents(), std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  return tensor;
}

Status run(it_session& session, std::span<const it_array> arrays, it_results** out) {
  const Graph& graph = session.module->graph;
  IT_TRY(std::vector<Value> inputs, bind(graph, arrays));
  IT_TRY(std::vector<Value> values, session.executor->run(inputs));
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = graph.value(graph.outputs()[i]).name;
    const Tensor* tensor = values[i].tensor();
    if (!tensor)
      return unsupported(
          text("output '", name, "' is ", to_string(values[i].type()), "; only tensors are handed out here (it-run -o writes others as well)"));
    IT_TRY(Tensor own, detached(*tensor, arrays));
    tensors.emplace_back(name, std::move(own));
  }
  *out = make_results(std::move(tensors)).release();
  return {};
}

}  // namespace

std::unique_ptr<it_results> make_results(std::vector<std::pair<std::string, Tensor>> tensors) {
  auto out = std::make_unique<it_results>();
  out->tensors = std::move(tensors);
  out->strings.resize(out->tensors.size());
  for (std::size_t i = 0; i < out->tensors.size(); ++i) {
    const auto& [name, tensor] = out->tensors[i];
    it_array array{name.c_str(),
                   static_cast<std::int32_t>(tensor.dtype()),
                   static_cast<std::int32_t>(tensor.rank()),
                   tensor.extents().data(),
                   tensor.bytes().data(),
                   tensor.bytes().size()};
    if (tensor.dtype() == DType::str) {
      for (const std::string& element : tensor.strings()) out->strings[i].push_back({element.data(), element.size()});
      array.data = out->strings[i].data();
      array.bytes = out->strings[i].size() * sizeof(it_string);
    }
    out->arrays.push_back(array);
  }
  return out;
}

}  // namespace infini::api

using namespace infini;
using namespace infini::api;

it_error* it_open(const it_module* module, const char* const* options, it_session** out) {
  return guarded([&]() -> Status {
    auto session = std::make_unique<it_session>();
    session->module = module->module;
    ExecOptions chosen;
    IT_TRY(chosen.devices, infini::api::open_devices(options));
    chosen.on_refusals = [notes = &session->notes](const Graph& graph, const Planned& planned) { *notes = trim(grouped_report(graph, planned.refusals)); };
    IT_TRY(session->executor, Executor::make(std::shared_ptr<const Graph>(session->module, &session->module->graph), std::move(chosen)));
    *out = session.release();
    return {};
  });
}

it_error* it_run(it_session* session, const it_array* inputs, size_t count, it_results** out) {
  return guarded([&]() -> Status {
    std::lock_guard<std::mutex> lock(session->one_call);
    return run(*session, {inputs, count}, out);
  });
}

const char* it_session_notes(const it_session* session) { return session->notes.c_str(); }
void it_session_free(it_session* session) { delete session; }

size_t it_result_count(const it_results* results) { return results->arrays.size(); }
const it_array* it_result(const it_results* results, size_t index) { return index < results->arrays.size() ? &results->arrays[index] : nullptr; }
void it_results_free(it_results* results) { delete results; }
