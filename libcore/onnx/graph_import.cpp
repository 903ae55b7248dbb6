// Importer: graphs and the names in them.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "libcore/base/text.h"
#include "libcore/ir/infer_node.h"
#include "libcore/onnx/importer.h"
#include "libcore/onnx/order.h"

namespace infini::onnx_files {
namespace {

constexpr int depth_limit = 64;  // nested graphs and calls inside each other

}  // namespace

Result<Opsets> opsets_of(const OpsetImports& imports) {
  Opsets opsets;
  for (const auto& import : imports) {
    std::int64_t version = import.version();
    std::string domain(plain_domain(import.domain()));
    if (version < 1 || version > INT32_MAX) return bad_input(text("imports opset ", version, " of '", import.domain(), "', expected 1 to ", INT32_MAX));
    if (domain.empty() && version > newest_opset) return unsupported(text("imports opset ", version, " of ai.onnx; known are 1 to ", newest_opset));
    opsets[domain] = static_cast<int>(version);
  }
  return opsets;
}

Result<Graph> Importer::main_graph(const onnx::ModelProto& model, std::span<const Type> input_types, std::span<const Symbol> bounds) {
  IT_TRY(Opsets opsets, opsets_of(model.opset_import()));
  constexpr std::int64_t first_with_opsets = 3;  // IR version
  if (opsets.empty() && model.ir_version() >= first_with_opsets) {
    return bad_input(text("imports no opset, which every model of IR version ", first_with_opsets, " and later does; this one has version ", model.ir_version()));
  }
  if (opsets.empty()) opsets[""] = 1;
  if (!opsets.contains("")) {
    opsets[""] = newest_opset;
    notes_.push_back(text("the model imports no opset of ai.onnx; ", newest_opset, " is taken"));
  }
  Frame frame{GraphBuilder(sources_), {}};
  frame.builder.set_name(model.graph().name());
  for (const auto& entry : model.metadata_props()) frame.builder.add_metadata(entry.key(), entry.value());
  for (const Symbol& symbol : bounds) frame.builder.set_symbol(symbol);
  Scope scope{.frame = frame, .opsets = &opsets, .path = {}};
  bool filled = fill(model.graph(), scope, input_types);
  if (!problems_.empty()) return problems_.report();
  IT_CHECK(filled);
  notes_.insert(notes_.end(), frame.builder.notes().begin(), frame.builder.notes().end());
  return std::move(frame.builder).build();
}

bool Importer::fill(const onnx::GraphProto& graph, Scope& scope, std::span<const Type> input_types) {
  Names given = initializer_names(graph);
  for (const auto& input : graph.input()) given.insert(input.name());
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      if (!name.empty()) scope.frame.builder.keep_name(name);
    }
  }
  note_declared(graph, scope);
  if (!add_inputs(graph, scope, input_types) || !add_initializers(graph, scope)) return false;
  auto from_around = [&](std::string_view name) { return scope.outer && knows(*scope.outer, name); };
  std::optional<std::vector<int>> order = ordered({graph.node(), given, from_around, scope.path}, problems_);
  if (!order) return false;
  if (!std::ranges::is_sorted(*order)) notes_.push_back(text("the nodes of graph '", graph.name(), "' were not in order"));
  for (int i : *order) node(graph.node(i), static_cast<std::uint32_t>(i), scope);
  return add_outputs(graph, scope);
}

// Types of nodes' results; a type that cannot be read is no hint.
void Importer::note_declared(const onnx::GraphProto& graph, Scope& scope) {
  for (const auto* list : {&graph.output(), &graph.value_info()}) {
    for (const auto& value : *list) {
      Result<Type> type = type_of(value.type(), value.name(), dimensions_);
      if (type) {
        scope.declared.emplace(value.name(), std::move(*type));
      } else {
        notes_.push_back(type.error().text());
      }
    }
  }
}

bool Importer::add_inputs(const onnx::GraphProto& graph, Scope& scope, std::span<const Type> input_types) {
  Names initialized = initializer_names(graph), seen;
  std::size_t position = 0;
  bool fine = true;
  for (const auto& input : graph.input()) {
    if (input.name().empty() || !seen.insert(input.name()).second) {
      problems_.add(bad_input(input.name().empty() ? text("an input of graph '", graph.name(), "' has no name") : text("there are two inputs '", input.name(), "'")));
      fine = false;
    } else if (initialized.contains(input.name())) {
      notes_.push_back(text("input '", input.name(), "' has an initializer and is taken as a constant"));
    } else {
      Type type = position < input_types.size() ? input_types[position] : Type{};
      ++position;
      scope.values[input.name()] = {scope.frame.builder.add_input(input.name(), std::move(type))};
    }
  }
  return fine;
}

bool Importer::add_initializers(const onnx::GraphProto& graph, Scope& scope) {
  bool fine = true;
  std::unordered_map<std::string, Type> promised;
  for (const auto& input : graph.input()) {
    if (Result<Type> type = type_of(input.type(), input.name(), dimensions_)) promised.emplace(input.name(), std::move(*type));
  }
  auto add = [&](const std::string& name, Result<ConstantRef> constant) {
    BoundValue& binding = scope.values[name];
    if (name.empty()) {
      problems_.add(bad_input(text("an initializer of graph '", graph.name(), "' has no name")));
    } else if (binding.id) {
      problems_.add(bad_input(text("there are two initializers '", name, "'")));
    } else if (!constant) {
      problems_.add(std::move(constant.error()));
    } else if (auto input = promised.find(name); input != promised.end() && contradicts((*constant)->type(), input->second)) {
      problems_.add(bad_input(text("input '", name, "' is ", to_string(input->second), ", its initializer ", to_string((*constant)->type()))));
    } else {
      binding.id = scope.frame.builder.add_constant(name, std::move(*constant));
      return;
    }
    fine = false;
  };
  for (const auto& tensor : graph.initializer()) add(tensor.name(), constant_of(tensor, payloads_));
  for (const auto& sparse : graph.sparse_initializer()) add(sparse.values().name(), constant_of(sparse, payloads_));
  return fine;
}

bool Importer::add_outputs(const onnx::GraphProto& graph, Scope& scope) {
  bool fine = true;
  Names seen;
  for (const auto& output : graph.output()) {
    const std::string& name = output.name();
    if (!seen.insert(name).second && !name.empty()) {
      problems_.add(bad_input(text("there are two outputs '", name, "'")));
      fine = false;
      continue;
    }
    if (name.empty() || !knows(scope, name)) {
      problems_.add(bad_input(name.empty() ? text("an output of graph '", graph.name(), "' has no name") : text("output '", name, "' is produced by no node")));
      fine = false;
      continue;
    }
    BoundValue binding = lookup(scope, name);
    if (binding.id) scope.frame.builder.add_output(binding.id);
    fine = fine && binding.id;
  }
  return fine;
}

bool Importer::knows(const Scope& scope, std::string_view name) const {
  for (const Scope* at = &scope; at; at = at->outer) {
    if (at->values.contains(std::string(name))) return true;
  }
  return false;
}

// What `name` stands for in `scope`; a value of the graph around becomes a capture of every graph in between.
BoundValue Importer::lookup(Scope& scope, const std::string& name) {
  auto own = scope.values.find(name);
  if (own != scope.values.end()) return own->second;
  if (!scope.outer) return {.failed = true};
  BoundValue outside = lookup(*scope.outer, name);
  if (!outside.id) return outside;
  BoundValue binding = capture(scope, name, outside.id);
  scope.values[name] = binding;
  return binding;
}

BoundValue Importer::capture(Scope& scope, const std::string& name, ValueId outside) {
  const ValueInfo& value = scope.outer->frame.builder.value(outside);
  GraphBuilder& builder = scope.frame.builder;
  // Small constants are repeated, since a body's shapes may follow from them.
  if (value.constant && value.constant->size() <= inline_limit) return {builder.add_constant(name, value.constant)};
  scope.frame.captures.push_back(outside);
  return {builder.add_capture(name, value.type, value.dims)};
}

std::optional<Body> Importer::body(const onnx::GraphProto& graph, Scope& outer, Path path, std::span<const Type> input_types) {
  if (outer.depth >= depth_limit) {
    problems_.add(bad_input(text("graphs and calls are nested deeper than ", depth_limit)));
    return std::nullopt;
  }
  Frame frame{outer.frame.builder.nested(), {}};
  frame.builder.set_name(graph.name());
  Scope scope{.frame = frame, .outer = &outer, .call = outer.call, .opsets = outer.opsets, .path = std::move(path), .depth = outer.depth + 1};
  if (!fill(graph, scope, input_types)) return std::nullopt;
  notes_.insert(notes_.end(), frame.builder.notes().begin(), frame.builder.notes().end());
  Result<Graph> built = std::move(frame.builder).build();
  if (!built) {
    problems_.add(within(text("graph '", graph.name(), "'"), std::move(built.error())));
    return std::nullopt;
  }
  Body made;
  made.graph = std::make_shared<const Graph>(std::move(*built));
  made.captures = std::move(frame.captures);
  return made;
}

}  // namespace infini::onnx_files
