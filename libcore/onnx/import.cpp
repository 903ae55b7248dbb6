// The whole way in: scan, options, graph, cut, test data.
#include <algorithm>
#include <filesystem>
#include <set>

#include "libcore/base/text.h"
#include "libcore/onnx/cut.h"
#include "libcore/onnx/importer.h"
#include "libcore/onnx/scan.h"
#include "libcore/onnx/test_data.h"

namespace infini {
namespace {

using namespace onnx_files;

// Puts the user's numbers in the place of symbols.
class ShapeOptions {
 public:
  ShapeOptions(const ImportOptions& options, const std::vector<std::string>& names, std::vector<Type>& types, Dimensions& dimensions)
      : options_(options), names_(names), types_(types), dimensions_(dimensions) {}

  Status apply() {
    for (const Binding& binding : options_.dims) {
      IT_TRY_VOID(known_symbol(binding.symbol));
      IT_TRY_VOID(replace(Dim::symbol(binding.symbol), Dim(binding.value)));
    }
    for (const Symbol& symbol : options_.bounds) IT_TRY_VOID(known_symbol(symbol.name));
    for (const InputShape& shape : options_.input_shapes) IT_TRY_VOID(reshape(shape));
    if (options_.batch) {
      for (std::size_t i = 0; i < types_.size(); ++i) {
        if (types_[i].has_shape() && types_[i].rank() > 0) IT_TRY_VOID(within(names_[i], set_axis(types_[i], 0, *options_.batch)));
      }
    }
    for (auto& [symbol, by] : replaced_) dimensions_.replace(symbol, by);
    for (Type& type : types_) type = dimensions_.substituted(std::move(type));
    return {};
  }

 private:
  Status known_symbol(const std::string& symbol) const {
    if (dimensions_.symbols().contains(symbol)) return {};
    std::vector<std::string> known(dimensions_.symbols().begin(), dimensions_.symbols().end());
    std::sort(known.begin(), known.end());
    return usage_error(text("the model has no dimension '", symbol, "'; it has ", known.empty() ? "none" : join(known, ", ")));
  }

  Status reshape(const InputShape& shape) {
    auto name = std::find(names_.begin(), names_.end(), shape.name);
    if (name == names_.end()) return usage_error(text("the model has no input '", shape.name, "'; its inputs are ", join(names_, ", ")));
    Type& type = types_[static_cast<std::size_t>(name - names_.begin())];
    if (!type.is_tensor()) return usage_error(text("input '", shape.name, "' is ", to_string(type), ", not a tensor"));
    if (type.shape && type.rank() != shape.dims.size()) {
      return usage_error(text("input '", shape.name, "' is ", to_string(type), "; a shape of ", shape.dims.size(), " axes does not fit"));
    }
    if (!type.shape) {
      type.shape = Shape();
      for (std::size_t axis = 0; axis < shape.dims.size(); ++axis) type.shape->push_back(dimensions_.unnamed(shape.name, axis));
    }
    for (std::size_t axis = 0; axis < shape.dims.size(); ++axis) {
      if (shape.dims[axis]) IT_TRY_VOID(within(shape.name, set_axis(type, axis, *shape.dims[axis])));
    }
    return {};
  }

  Status set_axis(Type& type, std::size_t axis, const Dim& by) {
    Dim& dim = (*type.shape)[axis];
    if (dim.symbol_name()) return replace(dim, by);
    dim = by;
    return {};
  }

  Status replace(const Dim& symbol, const Dim& by) {
    std::string name = *symbol.symbol_name();
    for (const auto& [known, other] : replaced_) {
      if (known != name) continue;
      if (other == by) return {};
      return usage_error(text("dimension '", name, "' is to be ", other.to_string(), " and ", by.to_string(), " at once"));
    }
    if (!(symbol == by)) replaced_.emplace_back(std::move(name), by);
    return {};
  }

  const ImportOptions& options_;
  const std::vector<std::string>& names_;
  std::vector<Type>& types_;
  Dimensions& dimensions_;
  std::vector<std::pair<std::string, Dim>> replaced_;
};

std::vector<std::string> input_names(const onnx::GraphProto& graph) {
  std::unordered_set<std::string_view> initialized = initializer_names(graph);
  std::vector<std::string> names;
  for (const auto& input : graph.input()) {
    if (!initialized.contains(input.name())) names.push_back(input.name());
  }
  return names;
}

Result<std::vector<Type>> main_input_types(const onnx::GraphProto& graph, const ImportOptions& options, Dimensions& dimensions) {
  reserve_symbols(graph, dimensions);
  std::vector<std::string> names = input_names(graph);
  IT_TRY(std::vector<Type> types, input_types(graph, dimensions));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].kind == TypeKind::unknown) return bad_input(text("input '", names[i], "' has no type"));
  }
  IT_TRY_VOID(ShapeOptions(options, names, types, dimensions).apply());
  return types;
}

// Drops the values that a cut has left without a place.
void keep_named(std::vector<std::pair<std::string, Value>>& values, const Graph& graph, std::span<const ValueId> ids) {
  std::erase_if(values, [&](const auto& entry) {
    return std::none_of(ids.begin(), ids.end(), [&](ValueId id) { return graph.value(id).name == entry.first; });
  });
}

// The operators that no definition stands for, bodies included.
std::set<std::string> carried_in(const Graph& graph) {
  std::set<std::string> out;
  for (const Node& node : graph.nodes()) {
    if (!node.op) out.insert(operator_name(node.domain, node.type));
    for (const Body* body : bodies(node)) out.merge(carried_in(*body->graph));
  }
  return out;
}

Result<ImportReport> import_scanned(ScannedModel scanned, const std::string& folder, const ImportOptions& options, const OpTable& ops) {
  if (!scanned.model.has_graph()) return bad_input("not an ONNX model: it holds no graph");
  const onnx::ModelProto& model = scanned.model;
  Payloads payloads{std::move(scanned.file), folder, std::move(scanned.cuts), options.no_weights};
  IT_TRY(FunctionTable functions, FunctionTable::of(model));
  Dimensions dimensions;
  IT_TRY(std::vector<Type> types, main_input_types(model.graph(), options, dimensions));
  Importer importer(ops, payloads, functions, dimensions);
  IT_TRY(Graph graph, importer.main_graph(model, types, options.bounds));
  ImportReport report;
  report.carried = importer.carried();
  report.notes = std::move(importer.notes());
  if (!options.test_data.empty()) {
    IT_TRY(report.module.tests, read_test_data(options.test_data, graph));
  }
  if (!options.from.empty() || !options.to.empty()) {
    IT_TRY(graph, cut_graph(graph, options.from, options.to));
    for (TestVector& test : report.module.tests) {
      keep_named(test.inputs, graph, graph.inputs());
      keep_named(test.outputs, graph, graph.outputs());
    }
    std::set<std::string> left = carried_in(graph);
    std::erase_if(report.carried, [&left](const OperatorGroup& group) { return !left.contains(group.op); });
  }
  if (options.strict && !report.carried.empty()) return unsupported(to_string(report.carried));
  report.module.graph = std::move(graph);
  return report;
}

}  // namespace

Result<ImportReport> import_onnx(const std::string& path, const ImportOptions& options, const OpTable& ops) {
  std::string name = path == "-" ? "standard input" : path;
  IT_TRY(ByteReader reader, ByteReader::open(path));
  IT_TRY(ScannedModel scanned, within(name, scan_model(std::move(reader))));
  std::string folder;
  if (!scanned.file.path.empty()) folder = std::filesystem::path(path).parent_path().string();
  if (!scanned.file.path.empty() && folder.empty()) folder = ".";
  return within(name, import_scanned(std::move(scanned), folder, options, ops));
}

Result<ImportReport> import_onnx(std::span<const std::byte> model, const ImportOptions& options, const OpTable& ops) {
  IT_TRY(ScannedModel scanned, scan_model(ByteReader::of(model)));
  return import_scanned(std::move(scanned), "", options, ops);
}

}  // namespace infini
