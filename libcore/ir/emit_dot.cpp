#include "libcore/base/text.h"
#include "libcore/ir/emit.h"

namespace infini {
namespace {

// A text for Graphviz: quotation marks and backslashes escaped, line feeds as they are written there.
std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + '"';
}

class Dot {
 public:
  std::string take() && { return std::move(out_); }

  // Everything of `graph`; ids begin with `prefix`.
  void graph(const Graph& graph, const std::string& prefix) {
    for (ValueId id : graph.inputs()) point(graph, id, prefix, "ellipse");
    for (ValueId id : graph.captures()) point(graph, id, prefix, "diamond");
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
      if (graph.values()[i].constant) point(graph, value_id(i), prefix, "note");
    }
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) node(graph, i, prefix);
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      std::string id = text(prefix, "out", i);
      line(text(id, " [shape=ellipse, label=", dot_text(graph.value(graph.outputs()[i]).name), "]"));
      edge(graph, graph.outputs()[i], id, prefix);
    }
  }

 private:
  void line(std::string_view text) {
    out_ += "  ";
    out_ += text;
    out_ += ";\n";
  }

  static std::string id_of(const Graph& graph, ValueId id, const std::string& prefix) {
    const ValueInfo& value = graph.value(id);
    return value.producer ? text(prefix, "n", value.producer.value) : text(prefix, "v", id.value);
  }

  void point(const Graph& graph, ValueId id, const std::string& prefix, std::string_view shape) {
    const ValueInfo& value = graph.value(id);
    line(text(id_of(graph, id, prefix), " [shape=", shape, ", label=", dot_text(text(value.name, "\n", to_string(value.type))), "]"));
  }

  void edge(const Graph& graph, ValueId from, const std::string& to, const std::string& prefix) {
    const ValueInfo& value = graph.value(from);
    std::string label = value.producer ? text(" [label=", dot_text(text(value.name, "\n", to_string(value.type))), "]") : "";
    line(text(id_of(graph, from, prefix), " -> ", to, label));
  }

  void node(const Graph& graph, std::size_t index, const std::string& prefix) {
    const Node& node = graph.nodes()[index];
    std::string id = text(prefix, "n", index);
    std::string op = node.domain.empty() ? node.type : text(node.domain, "::", node.type);
    line(text(id, " [shape=box", node.op ? "" : ", style=dashed", ", label=", dot_text(node.name.empty() ? op : text(op, "\n", node.name)), "]"));
    for (ValueId input : node.inputs) {
      if (input) edge(graph, input, id, prefix);
    }
    std::vector<const Body*> nested = bodies(node);
    for (std::size_t i = 0; i < nested.size(); ++i) {
      const Graph& inner = *nested[i]->graph;
      std::string inner_prefix = text(id, "b", i);
      out_ += text("  subgraph cluster_", inner_prefix, " {\n  label=", dot_text(text(op, " ", node.name, ": ", inner.name())), ";\n");
      this->graph(inner, inner_prefix);
      out_ += "  }\n";
      for (std::size_t k = 0; k < nested[i]->captures.size(); ++k) {
        edge(graph, nested[i]->captures[k], id_of(inner, inner.captures()[k], inner_prefix), prefix);
      }
    }
  }

  std::string out_;
};

}  // namespace

std::string emit_dot(const Graph& graph) {
  Dot dot;
  dot.graph(graph, "");
  return text("digraph ", dot_text(graph.name()), " {\n  rankdir=TB;\n", std::move(dot).take(), "}\n");
}

}  // namespace infini
