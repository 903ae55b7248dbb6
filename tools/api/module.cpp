#include <cstring>
#include <filesystem>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/ir/emit.h"
#include "libcore/ir/text_form.h"
#include "libcore/onnx/onnx.h"
#include "libcore/wire/wire.h"
#include "tools/api/handles.h"
#include "tools/cli/import_options.h"
#include "tools/cli/pipeline_options.h"
#include "tools/cli/status.h"

namespace infini::api {
namespace {

constexpr const char* library = "libinfinitensor";

LedgerEntry ledger_entry(std::string options, const Graph* before, const Graph& after) {
  LedgerEntry entry{library, IT_VERSION, std::move(options), std::nullopt, structure_digest(after)};
  if (before) entry.before = structure_digest(*before);
  return entry;
}

it_module* make_module(Module module, std::string notes) {
  return std::make_unique<it_module>(it_module{std::make_shared<const Module>(std::move(module)), std::move(notes)}).release();
}

Status hand_out(ImportReport imported, const cli::Arguments& arguments, it_module** out) {
  imported.module.ledger.push_back(ledger_entry(cli::import_ledger_options(arguments), nullptr, imported.module.graph));
  std::string notes = join(imported.notes, "\n");
  if (!imported.carried.empty())
    notes += text(notes.empty() ? "" : "\n", "operators that are carried, not understood:\n", to_string(imported.carried));
  *out = make_module(std::move(imported.module), std::move(notes));
  return {};
}

Result<Module> read_file(const std::string& path) {
  OpTable ops;
  IT_TRY(Descriptor file, open_for_reading(path));
  IT_TRY(StreamReader reader, StreamReader::open(file.number(), {.folder = std::filesystem::path(path).parent_path().string(), .prefix = ""}));
  IT_TRY(Module module, reader.read_module(ops));
  IT_TRY_VOID(reader.finish(module));
  return module;
}

Status write_file(const Module& module, const std::string& path) {
  IT_TRY(FileWriter file, FileWriter::open(path));
  StreamWriter writer([&file](std::span<const std::byte> bytes) { return file.write(bytes); }, text(library, " ", IT_VERSION));
  IT_TRY_VOID(writer.begin());
  IT_TRY_VOID(writer.write(module, {}));
  return file.commit();
}

Result<std::string> printed(const Module& module, std::string_view form) {
  if (form == "text") return print(module);
  if (form == "json") return emit_json(module.graph);
  if (form == "dot") return emit_dot(module.graph);
  return usage_error(text("there is no form '", form, "'; known are text, json, dot"));
}

Result<Tensor> constant(const Graph& graph, std::string_view name) {
  for (const ValueInfo& value : graph.values()) {
    if (value.name != name) continue;
    if (!value.constant) return usage_error(text("'", name, "' is no constant: it is known only when the graph runs"));
    return within(text("constant '", name, "'"), load(*value.constant));
  }
  return usage_error(text("the graph has no value '", name, "'"));
}

}  // namespace

it_error* to_c(const Error& error) { return std::make_unique<it_error>(it_error{cli::exit_status(error), error.text()}).release(); }

Result<cli::Arguments> options_of(std::span<const cli::Option> known, const char* const* options) {
  std::vector<std::string_view> pairs;
  while (options && *options) pairs.emplace_back(*options++);
  return cli::arguments_from(known, pairs);
}

}  // namespace infini::api

using namespace infini;
using namespace infini::api;

uint32_t it_api_version(void) { return IT_API_VERSION; }
const char* it_version(void) { return IT_VERSION; }

int it_error_status(const it_error* error) { return error->status; }
const char* it_error_text(const it_error* error) { return error->text.c_str(); }
void it_error_free(it_error* error) { delete error; }

it_error* it_import(const char* path, const char* const* options, it_module** out) {
  return guarded([&]() -> Status {
    IT_TRY(cli::Arguments arguments, options_of(cli::import_options(), options));
    IT_TRY(ImportOptions chosen, cli::chosen_import(arguments));
    OpTable ops;
    IT_TRY(ImportReport imported, import_onnx(path, chosen, ops));
    return hand_out(std::move(imported), arguments, out);
  });
}

it_error* it_import_bytes(const void* model, size_t size, const char* const* options, it_module** out) {
  return guarded([&]() -> Status {
    IT_TRY(cli::Arguments arguments, options_of(cli::import_options(), options));
    IT_TRY(ImportOptions chosen, cli::chosen_import(arguments));
    OpTable ops;
    IT_TRY(ImportReport imported, import_onnx(std::span(static_cast<const std::byte*>(model), size), chosen, ops));
    return hand_out(std::move(imported), arguments, out);
  });
}

it_error* it_read(const char* path, it_module** out) {
  return guarded([&]() -> Status {
    IT_TRY(Module module, within(path, read_file(path)));
    *out = make_module(std::move(module), "");
    return {};
  });
}

it_error* it_parse(const char* text, it_module** out) {
  return guarded([&]() -> Status {
    OpTable ops;
    IT_TRY(Module module, parse_text(text, ops));
    *out = make_module(std::move(module), "");
    return {};
  });
}

it_error* it_optimize(const it_module* module, const char* const* options, it_module** out) {
  return guarded([&]() -> Status {
    IT_TRY(cli::Arguments arguments, options_of(cli::pipeline_options(), options));
    IT_TRY(Pipeline pipeline, cli::chosen_pipeline(arguments, 2));
    IT_TRY(PipelineOptions chosen, cli::driver_options(arguments));
    OpTable ops;
    Module optimized = *module->module;
    IT_TRY(PipelineResult result, run_pipeline(module->module->graph, pipeline, ops, chosen));
    optimized.ledger.push_back(ledger_entry(cli::ledger_options(pipeline, arguments), &optimized.graph, result.graph));
    optimized.graph = std::move(result.graph);
    *out = make_module(std::move(optimized), module->notes);
    return {};
  });
}

it_error* it_write(const it_module* module, const char* path) {
  return guarded([&] { return within(path, write_file(*module->module, path)); });
}

it_error* it_export(const it_module* module, const char* path, int opset) {
  return guarded([&] { return export_onnx(*module->module, path, {.opset = opset}); });
}

it_error* it_print(const it_module* module, const char* form, char** out) {
  return guarded([&]() -> Status {
    IT_TRY(std::string page, printed(*module->module, form));
    auto copy = std::make_unique<char[]>(page.size() + 1);
    std::memcpy(copy.get(), page.c_str(), page.size() + 1);
    *out = copy.release();
    return {};
  });
}

void it_text_free(char* text) { delete[] text; }

it_error* it_constant(const it_module* module, const char* name, it_results** out) {
  return guarded([&]() -> Status {
    IT_TRY(Tensor tensor, constant(module->module->graph, name));
    *out = make_results({{name, std::move(tensor)}}).release();
    return {};
  });
}

const char* it_module_notes(const it_module* module) { return module->notes.c_str(); }
void it_module_free(it_module* module) { delete module; }
