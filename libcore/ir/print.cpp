#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ir/element_text.h"
#include "libcore/ir/lex.h"
#include "libcore/ir/text_form.h"

namespace infini {
namespace {

constexpr std::int64_t elements_per_line = 16;

bool is_default(const OpDef* op, const Attribute& attribute) {
  const AttributeDef* def = op ? find_attribute(*op, attribute.name) : nullptr;
  if (!def) return false;
  switch (def->standard) {
    case AttributeDef::Standard::none:
    case AttributeDef::Standard::required: return false;
    case AttributeDef::Standard::integer: return same(attribute.value, def->integer);
    case AttributeDef::Standard::real: return same(attribute.value, def->real);
    case AttributeDef::Standard::text: return same(attribute.value, std::string(def->text));
  }
  return false;
}

// A real that no reader takes for an integer.
std::string real_attribute_text(float value) {
  std::string out = real_text(value);
  return out.find_first_of(".enx") == std::string::npos ? out + ".0" : out;
}

bool as_bits(float value) { return real_text(value).starts_with("0x"); }

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string take() && { return std::move(out_); }

  void graph(const Graph& graph, const Body* body = nullptr, const Graph* outer = nullptr) {
    out_ += "graph " + quoted(graph.name()) + " (";
    inputs(graph);
    out_ += ")";
    if (body && !body->captures.empty()) captures(graph, *body, *outer);
    out_ += " -> (";
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) out_ += (i ? ", " : "") + name(graph, graph.outputs()[i]);
    out_ += ") {";
    ++depth_;
    for (const Symbol& symbol : graph.symbols()) line("symbol " + Dim::symbol(symbol.name).to_string() + " in " + to_string(symbol.bounds));
    for (const auto& [key, value] : graph.metadata()) line("metadata " + quoted(key) + " = " + quoted(value));
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
      if (graph.values()[i].constant) constant(graph, value_id(i));
    }
    for (const Node& node : graph.nodes()) this->node(graph, node);
    --depth_;
    line("}");
  }

  void sources(const Graph& graph) {
    if (graph.sources().empty() || !options_.origins) return;
    out_ += "\nsources {";
    ++depth_;
    for (std::size_t i = 0; i < graph.sources().size(); ++i) {
      const SourceNode& source = graph.sources()[i];
      line(text(i, " = [", join(source.path, ", "), "] ", word_text(source.op), " ", quoted(source.name)));
    }
    --depth_;
    line("}");
  }

  void ledger(const std::vector<LedgerEntry>& entries) {
    if (entries.empty()) return;
    out_ += "\nledger {";
    ++depth_;
    for (const LedgerEntry& entry : entries) {
      line(quoted(entry.tool) + " " + quoted(entry.version) + " " + quoted(entry.options));
      if (entry.before) out_ += " before " + to_hex(*entry.before);
      if (entry.after) out_ += " after " + to_hex(*entry.after);
    }
    --depth_;
    line("}");
  }

  void value(const Graph& graph, const AttributeValue& value) {
    auto real = [this](float v) { out_ += real_attribute_text(v); };
    switch (kind(value)) {
      case AttributeKind::integer: out_ += text(std::get<std::int64_t>(value)); break;
      case AttributeKind::real:
        if (as_bits(std::get<float>(value))) out_ += "real ";
        real(std::get<float>(value));
        break;
      case AttributeKind::text: out_ += quoted(std::get<std::string>(value)); break;
      case AttributeKind::integers: {
        const auto& items = std::get<std::vector<std::int64_t>>(value);
        list(items.empty() ? "ints " : "", items, [this](std::int64_t v) { out_ += text(v); });
        break;
      }
      case AttributeKind::reals: {
        const auto& items = std::get<std::vector<float>>(value);
        list(items.empty() || std::ranges::any_of(items, as_bits) ? "reals " : "", items, real);
        break;
      }
      case AttributeKind::texts: {
        const auto& items = std::get<std::vector<std::string>>(value);
        list(items.empty() ? "texts " : "", items, [this](const std::string& v) { out_ += quoted(v); });
        break;
      }
      case AttributeKind::tensor:
        out_ += "tensor ";
        tensor(std::get<Tensor>(value));
        break;
      case AttributeKind::type: out_ += "type " + to_string(std::get<Type>(value)); break;
      case AttributeKind::body: this->graph(*std::get<Body>(value).graph, &std::get<Body>(value), &graph); break;
      case AttributeKind::tensors: list("tensors ", std::get<std::vector<Tensor>>(value), [this](const Tensor& v) { tensor(v); }); break;
      case AttributeKind::bodies:
        list("graphs ", std::get<std::vector<Body>>(value), [&](const Body& body) { this->graph(*body.graph, &body, &graph); });
        break;
    }
  }

 private:
  void line(std::string_view text) {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
    out_ += text;
  }

  static std::string name(const Graph& graph, ValueId id) { return id ? value_name_text(graph.value(id).name) : "_"; }

  void inputs(const Graph& graph) {
    ++depth_;
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
      const ValueInfo& value = graph.value(graph.inputs()[i]);
      line(text(value_name_text(value.name), ": ", to_string(value.type), i + 1 < graph.inputs().size() ? "," : ""));
    }
    --depth_;
    if (!graph.inputs().empty()) line("");
  }

  void captures(const Graph& graph, const Body& body, const Graph& outer) {
    out_ += " captures (";
    for (std::size_t i = 0; i < body.captures.size(); ++i) {
      std::string inside = name(graph, graph.captures()[i]), outside = name(outer, body.captures[i]);
      out_ += (i ? ", " : "") + (inside == outside ? inside : inside + " = " + outside);
    }
    out_ += ")";
  }

  void elements(const Tensor& tensor) {
    out_ += '{';
    bool lines = tensor.count() > elements_per_line;
    ++depth_;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      if (i > 0) out_ += lines && i % elements_per_line == 0 ? "," : ", ";
      if (lines && i % elements_per_line == 0) line("");
      out_ += element_text(tensor, i);
    }
    --depth_;
    if (lines) line("");
    out_ += '}';
  }

  void constant(const Graph& graph, ValueId id) {
    const Constant& constant = *graph.value(id).constant;
    line(name(graph, id) + " = constant " + to_string(constant.type()) + " ");
    if (const Tensor* tensor = constant.at_hand()) {
      bool small = constant.size() <= inline_limit;
      if (!options_.all_constants && tensor->count() > static_cast<std::int64_t>(options_.constant_elements)) {
        out_ += "...";
      } else {
        if (std::holds_alternative<MappedPayload>(constant.payload)) out_ += "mapped ";
        if (small && std::holds_alternative<OwnedPayload>(constant.payload)) out_ += "owned ";
        if (!small && std::holds_alternative<InlinePayload>(constant.payload)) out_ += "inline ";
        elements(*tensor);
      }
    } else if (const auto* file = std::get_if<FilePayload>(&constant.payload)) {
      const FileRange& range = file->range;
      out_ += text("file ", quoted(range.path), " offset ", range.offset, " length ", range.length, " size ", range.file_size, " modified ", range.modified_ns);
    } else if (const auto* stream = std::get_if<StreamPayload>(&constant.payload)) {
      out_ += text("stream ", stream->index);
    } else {
      out_ += "absent";
    }
    if (constant.digest) out_ += " digest " + to_hex(*constant.digest);
  }

  void node(const Graph& graph, const Node& node) {
    line("");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) out_ += (i ? ", " : "") + name(graph, node.outputs[i]);
    if (!node.outputs.empty()) out_ += " = ";
    if (!node.domain.empty()) out_ += word_text(node.domain) + "::";
    out_ += word_text(node.type);
    if (!node.op) out_ += text(" version ", node.version);
    if (!node.overload.empty()) out_ += " overload " + quoted(node.overload);
    if (!node.op) out_ += " ";
    out_ += "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) out_ += (i ? ", " : "") + name(graph, node.inputs[i]);
    out_ += ")";
    attributes(graph, node);
    bool first = true;
    for (ValueId output : node.outputs) {
      if (!output) continue;
      out_ += (first ? " : " : ", ") + to_string(graph.value(output).type);
      first = false;
    }
    if (!node.name.empty()) out_ += " @ " + quoted(node.name);
    if (options_.origins && !node.origin.empty()) out_ += " from " + join(node.origin, ", ");
  }

  void attributes(const Graph& graph, const Node& node) {
    bool lines = !bodies(node).empty();
    bool first = true;
    ++depth_;
    for (const Attribute& attribute : node.attributes) {
      if (is_default(node.op, attribute)) continue;
      out_ += first ? " {" : lines ? "," : ", ";
      if (lines) line("");
      out_ += word_text(attribute.name) + " = ";
      value(graph, attribute.value);
      first = false;
    }
    --depth_;
    if (first) return;
    if (lines) line("");
    out_ += "}";
  }

  template <class List, class Print>
  void list(std::string_view prefix, const List& items, const Print& print) {
    out_ += prefix;
    out_ += "[";
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ", ";
      print(item);
      first = false;
    }
    out_ += "]";
  }

  void tensor(const Tensor& tensor) {
    out_ += to_string(tensor.type()) + " ";
    elements(tensor);
  }

  const PrintOptions& options_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  Printer printer(options);
  printer.graph(module.graph);
  printer.sources(module.graph);
  printer.ledger(module.ledger);
  return std::move(printer).take() + "\n";
}

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.graph(graph);
  printer.sources(graph);
  return std::move(printer).take() + "\n";
}

std::string print(const Graph& graph, const AttributeValue& value) {
  PrintOptions options;
  Printer printer(options);
  printer.value(graph, value);
  return std::move(printer).take();
}

}  // namespace infini
