#include "libcore/onnx/cut.h"

#include <algorithm>
#include <functional>
#include <set>

#include "libcore/base/text.h"

namespace infini::onnx_files {
namespace {

class Cutter {
 public:
  explicit Cutter(const Graph& graph)
      : graph_(graph), builder_(graph.shared_sources()), starts_(graph.values().size()), needed_(graph.values().size()), mapped_(graph.values().size()) {}

  Result<Graph> cut(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    IT_TRY_VOID(find_starts(from));
    IT_TRY(std::vector<ValueId> ends, find_ends(to));
    mark_needed(ends);
    IT_TRY_VOID(check_starts(from));
    builder_.set_name(graph_.name());
    for (const auto& [key, value] : graph_.metadata()) builder_.add_metadata(key, value);
    for (const Symbol& symbol : graph_.symbols()) builder_.set_symbol(symbol);
    for (const ValueInfo& value : graph_.values()) builder_.keep_name(value.name);
    IT_TRY_VOID(add_inputs());
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (node_needed(graph_.nodes()[i])) IT_TRY_VOID(copy(graph_.nodes()[i]));
    }
    for (ValueId end : ends) builder_.add_output(map(end));
    return std::move(builder_).build();
  }

 private:
  // Calls the functions for each value and node that a pattern names; values come first.
  Status matching(const std::string& pattern, const std::function<void(ValueId)>& on_value, const std::function<void(const Node&)>& on_node) const {
    bool found = false;
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      if (!matches_glob(pattern, graph_.values()[i].name)) continue;
      on_value(value_id(i));
      found = true;
    }
    if (found) return {};
    for (const Node& node : graph_.nodes()) {
      if (node.name.empty() || !matches_glob(pattern, node.name)) continue;
      on_node(node);
      found = true;
    }
    if (found) return {};
    return usage_error(text("no value or node is called '", pattern, "'"));
  }

  Status find_starts(const std::vector<std::string>& from) {
    for (const std::string& pattern : from) {
      IT_TRY_VOID(matching(pattern, [this](ValueId id) { start(id); }, [this](const Node& node) {
        for (ValueId input : node.inputs) start(input);
      }));
    }
    return {};
  }

  void start(ValueId id) {
    if (id && !graph_.value(id).constant) starts_[id.at()] = true;
  }

  Result<std::vector<ValueId>> find_ends(const std::vector<std::string>& to) const {
    if (to.empty()) return std::vector<ValueId>(graph_.outputs().begin(), graph_.outputs().end());
    std::vector<ValueId> ends;
    auto end = [&ends](ValueId id) {
      if (id && std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
    };
    for (const std::string& pattern : to) {
      IT_TRY_VOID(matching(pattern, end, [&end](const Node& node) { std::for_each(node.outputs.begin(), node.outputs.end(), end); }));
    }
    return ends;
  }

  bool node_needed(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [this](ValueId id) { return id && needed_[id.at()] && !starts_[id.at()]; });
  }

  void mark_needed(const std::vector<ValueId>& ends) {
    for (ValueId end : ends) needed_[end.at()] = true;
    for (std::size_t i = graph_.nodes().size(); i-- > 0;) {
      const Node& node = graph_.nodes()[i];
      if (!node_needed(node)) continue;
      for (ValueId input : node.inputs) {
        if (input) needed_[input.at()] = true;
      }
      for (const Body* body : bodies(node)) {
        for (ValueId capture : body->captures) needed_[capture.at()] = true;
      }
    }
  }

  // usage: a pattern of --from none of whose values is read on the way to an end.
  Status check_starts(const std::vector<std::string>& from) const {
    for (const std::string& pattern : from) {
      bool read = false;
      auto look = [&](ValueId id) { read = read || (id && starts_[id.at()] && needed_[id.at()]); };
      IT_TRY_VOID(matching(pattern, look, [&look](const Node& node) { std::for_each(node.inputs.begin(), node.inputs.end(), look); }));
      if (!read) return usage_error(text("--from ", pattern, ": none of its values is computed by a node and needed for the outputs"));
    }
    return {};
  }

  // Own dimensions of a value inside the graph are expressions; an input's must be numbers or symbols that can be bound.
  Type input_type(const ValueInfo& value) {
    Type type = value.type;
    if (!type.shape) return type;
    for (std::size_t axis = 0; axis < type.rank(); ++axis) {
      Dim& dim = (*type.shape)[axis];
      if (!dim.is_constant() && !dim.symbol_name()) dim = Dim::symbol(fresh_symbol(text(value.name, "_", axis)));
    }
    return type;
  }

  std::string fresh_symbol(const std::string& stem) {
    if (symbols_.empty()) {
      for (const ValueInfo& value : graph_.values()) {
        if (!value.type.shape) continue;
        for (const Dim& dim : *value.type.shape) {
          for (std::string& symbol : dim.symbols()) symbols_.insert(std::move(symbol));
        }
      }
    }
    std::string name = stem;
    for (int n = 1; !symbols_.insert(name).second; ++n) name = text(stem, "_", n);
    return name;
  }

  Status add_inputs() {
    auto add = [this](ValueId id) -> Status {
      const ValueInfo& value = graph_.value(id);
      if (value.type.kind == TypeKind::unknown) return usage_error(text("'", value.name, "' cannot become an input: its type is not known"));
      mapped_[id.at()] = builder_.add_input(value.name, input_type(value));
      return {};
    };
    for (ValueId id : graph_.inputs()) {
      if (needed_[id.at()]) IT_TRY_VOID(add(id));
    }
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      if (starts_[i] && needed_[i] && !mapped_[i]) IT_TRY_VOID(add(value_id(i)));
    }
    return {};
  }

  ValueId map(ValueId old) {
    if (!old) return {};
    const ValueInfo& value = graph_.value(old);
    ValueId& now = mapped_[old.at()];
    if (!now && value.constant) now = builder_.add_constant(value.name, value.constant);
    return now;
  }

  Status copy(const Node& node) {
    GraphBuilder::NodeSpec spec(node);
    for (ValueId input : node.inputs) spec.inputs.push_back(map(input));
    for (ValueId output : node.outputs) {
      spec.output_names.push_back(output ? graph_.value(output).name : "");
      spec.wanted.push_back(output.valid());
      spec.declared.push_back(output && !node.op ? graph_.value(output).type : Type{});
    }
    for (const Attribute& attribute : node.attributes) spec.attributes.set(attribute.name, with_captures(attribute.value));
    IT_TRY(std::vector<ValueId> made, builder_.add_node(std::move(spec)));
    for (std::size_t i = 0; i < node.outputs.size() && i < made.size(); ++i) {
      if (node.outputs[i] && !starts_[node.outputs[i].at()]) mapped_[node.outputs[i].at()] = made[i];
    }
    return {};
  }

  AttributeValue with_captures(AttributeValue value) {
    auto remap = [this](Body& body) {
      for (ValueId& capture : body.captures) capture = map(capture);
    };
    if (auto* body = std::get_if<Body>(&value)) remap(*body);
    if (auto* list = std::get_if<std::vector<Body>>(&value)) std::for_each(list->begin(), list->end(), remap);
    return value;
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<bool> starts_, needed_;   // by value
  std::vector<ValueId> mapped_;
  std::set<std::string> symbols_;       // of the graph, once asked for
};

}  // namespace

Result<Graph> cut_graph(const Graph& graph, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  return Cutter(graph).cut(from, to);
}

}  // namespace infini::onnx_files
