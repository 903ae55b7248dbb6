#include "libcore/ir/verify.h"

#include <algorithm>
#include <unordered_set>

#include "libcore/base/text.h"
#include "libcore/ir/infer_node.h"

namespace infini {
namespace {

constexpr std::size_t nesting_limit = 64;

class Structure {
 public:
  explicit Structure(const Graph& graph) : graph_(graph), known_(graph.values().size()) {}

  Status check() {
    IT_TRY_VOID(values());
    IT_TRY_VOID(known_at_start(graph_.inputs(), "input"));
    IT_TRY_VOID(known_at_start(graph_.captures(), "capture"));
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      const ValueInfo& value = graph_.values()[i];
      if (!value.constant) continue;
      if (known_[i]) return internal_error(text("constant '", value.name, "' is an input or capture as well"));
      known_[i] = true;
    }
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) IT_TRY_VOID(within(place(graph_.nodes()[i]), node(i)));
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!known_[i]) return internal_error(text("value '", graph_.values()[i].name, "' comes from nowhere"));
    }
    IT_TRY_VOID(outputs());
    return symbols();
  }

 private:
  bool in_range(ValueId id) const { return id.valid() && id.at() < graph_.values().size(); }
  const std::string& name_of(ValueId id) const { return graph_.value(id).name; }

  // As describe(), for a node whose ids may be out of range.
  std::string place(const Node& node) const {
    bool sound = std::ranges::all_of(node.outputs, [this](ValueId id) { return !id || in_range(id); });
    return sound ? describe(graph_, node) : node.type;
  }

  Status values() const {
    std::unordered_set<std::string_view> names;
    for (const ValueInfo& value : graph_.values()) {
      if (value.name.empty()) return internal_error("a value has no name");
      if (!names.insert(value.name).second) return internal_error(text("two values are named '", value.name, "'"));
      if (!value.constant) continue;
      const Constant& constant = *value.constant;
      if (value.producer) return internal_error(text("constant '", value.name, "' has a producer"));
      if (!(constant.type() == value.type)) {
        return internal_error(text("constant '", value.name, "' is ", to_string(value.type), ", its payload ", to_string(constant.type())));
      }
      const Tensor* tensor = constant.at_hand();
      if (tensor && (tensor->dtype() != constant.dtype || tensor->extents() != constant.extents)) {
        return internal_error(text("constant '", value.name, "' is ", to_string(value.type), ", its bytes ", to_string(tensor->type())));
      }
    }
    return {};
  }

  Status known_at_start(std::span<const ValueId> list, std::string_view role) {
    for (ValueId id : list) {
      if (!in_range(id)) return internal_error(text(role, " ", id.value, " does not exist"));
      if (graph_.value(id).producer) return internal_error(text(role, " '", name_of(id), "' has a producer"));
      if (known_[id.at()]) return internal_error(text(role, " '", name_of(id), "' is an input or capture twice"));
      known_[id.at()] = true;
    }
    return {};
  }

  Status read(ValueId id, std::string_view how) const {
    if (!in_range(id)) return internal_error(text(how, " value ", id.value, ", which does not exist"));
    if (!known_[id.at()]) return internal_error(text(how, " '", name_of(id), "' before it is computed"));
    return {};
  }

  Status node(std::size_t index) {
    const Node& node = graph_.nodes()[index];
    if (node.type.empty()) return internal_error("a node names no operator");
    if (node.op && (node.op->name != node.type || node.op->domain != node.domain || node.version != 0)) {
      return internal_error(text("names operator '", node.domain, "::", node.type, "' but has the definition of ", node.op->name));
    }
    if (!node.inputs.empty() && !node.inputs.back()) return internal_error("has a trailing input left out");
    for (ValueId input : node.inputs) {
      if (input) IT_TRY_VOID(read(input, "reads"));
    }
    for (const Body* body : bodies(node)) IT_TRY_VOID(check_body(*body));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      ValueId output = node.outputs[i];
      if (!output) continue;
      if (!in_range(output)) return internal_error(text("gives value ", output.value, ", which does not exist"));
      const ValueInfo& value = graph_.value(output);
      if (known_[output.at()]) return internal_error(text("gives '", value.name, "', which exists already"));
      if (value.producer != node_id(index) || value.output != i) return internal_error(text("'", value.name, "' names another producer"));
      known_[output.at()] = true;
    }
    return origin(node.origin);
  }

  Status origin(const Origin& origin) const {
    for (std::size_t i = 0; i < origin.size(); ++i) {
      if (origin[i] >= graph_.sources().size()) {
        return internal_error(text("comes from source ", origin[i], " of ", graph_.sources().size()));
      }
      if (i > 0 && origin[i] <= origin[i - 1]) return internal_error("its origin is not sorted");
    }
    return {};
  }

  Status check_body(const Body& body) const {
    if (!body.graph) return internal_error("a body has no graph");
    const Graph& inner = *body.graph;
    if (body.captures.size() != inner.captures().size()) {
      return internal_error(text("body '", inner.name(), "' captures ", inner.captures().size(), " values, but is given ", body.captures.size()));
    }
    for (std::size_t i = 0; i < body.captures.size(); ++i) {
      IT_TRY_VOID(read(body.captures[i], "captures"));
      const ValueInfo& outside = graph_.value(body.captures[i]);
      const ValueInfo& inside = inner.value(inner.captures()[i]);
      if (!(inside.type == outside.type)) {
        return internal_error(text("body '", inner.name(), "' captures '", outside.name, "' as ", to_string(inside.type), ", it is ", to_string(outside.type)));
      }
      if (inside.dims && inside.dims != outside.dims) {
        return internal_error(text("body '", inner.name(), "' captures '", outside.name, "' with other elements than it has"));
      }
    }
    if (inner.shared_sources() != graph_.shared_sources() && !std::ranges::equal(inner.sources(), graph_.sources())) {
      return internal_error(text("body '", inner.name(), "' has other sources than the graph around it"));
    }
    return {};
  }

  Status outputs() const {
    std::vector<bool> seen(graph_.values().size());
    for (ValueId id : graph_.outputs()) {
      if (!in_range(id)) return internal_error(text("output ", id.value, " does not exist"));
      if (seen[id.at()]) return internal_error(text("'", name_of(id), "' is an output twice"));
      seen[id.at()] = true;
    }
    return {};
  }

  Status symbols() const {
    std::unordered_set<std::string_view> names;
    for (const Symbol& symbol : graph_.symbols()) {
      if (symbol.name.empty()) return internal_error("a symbol has no name");
      if (!names.insert(symbol.name).second) return internal_error(text("symbol '", symbol.name, "' is there twice"));
      if (symbol.bounds.lowest < 0 || symbol.bounds.lowest > symbol.bounds.highest) {
        return internal_error(text("symbol '", symbol.name, "' lies in ", symbol.bounds.lowest, "..", symbol.bounds.highest));
      }
    }
    return {};
  }

  const Graph& graph_;
  std::vector<bool> known_;  // by value: an input, capture or constant, or computed by a node seen so far
};

// Inference of one node, with fresh dimensions that are the same for every node, gives what the graph says.
Status check_types(const Graph& graph, const Node& node, FreshNumbers fresh) {
  std::vector<Type> stated;
  for (ValueId output : node.outputs) stated.push_back(output ? graph.value(output).type : Type{});
  IT_TRY(InferredOutputs inferred, infer_node(*node.op, node.attributes, input_facts(graph, node), node.outputs.size(), stated, fresh));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i]) continue;
    const ValueInfo& value = graph.value(node.outputs[i]);
    if (!(inferred.types[i] == value.type)) {
      return internal_error(text("'", value.name, "' is ", to_string(value.type), ", inference gives ", to_string(inferred.types[i])));
    }
    if (inferred.dims[i] != value.dims) return internal_error(text("'", value.name, "' has other elements than inference gives"));
  }
  return {};
}

Status verify(const Graph& graph, std::size_t depth) {
  if (depth > nesting_limit) return internal_error(text("graphs are nested more than ", nesting_limit, " deep"));
  IT_TRY_VOID(verify_structure(graph));
  FreshNumbers fresh(0);
  for (const ValueInfo& value : graph.values()) fresh.keep(value.type);
  for (const Node& node : graph.nodes()) {
    if (node.op) IT_TRY_VOID(within(describe(graph, node), check_types(graph, node, fresh)));
    for (const Body* body : bodies(node)) {
      IT_TRY_VOID(within(text(describe(graph, node), ": body '", body->graph->name(), "'"), verify(*body->graph, depth + 1)));
    }
  }
  return {};
}

}  // namespace

Status verify_structure(const Graph& graph) { return Structure(graph).check(); }

Status verify(const Graph& graph) {
  Status status = verify(graph, 0);
  if (!status) status.error().kind = ErrorKind::internal;
  return status;
}

}  // namespace infini
