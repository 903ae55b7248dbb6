#include "libcore/onnx/export_graph.h"

#include <set>
#include <unordered_set>

#include "libcore/base/text.h"
#include "libcore/onnx/export_types.h"
#include "libcore/onnx/functions.h"

namespace infini::onnx_files {
namespace {

using Proto = onnx::AttributeProto;
using NameSet = std::unordered_set<std::string>;

Result<onnx::TensorProto> tensor_message(std::string_view name, const Tensor& tensor) {
  onnx::TensorProto message = tensor_header(name, tensor.dtype(), tensor.extents());
  if (tensor.dtype() == DType::str) {
    for (const std::string& element : tensor.strings()) message.add_string_data(element);
  } else {
    message.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
  }
  return message;
}

class GraphWriter {
 public:
  // `around`: names that the graphs around this one have; `outer_names`: what its captures are called there.
  GraphWriter(const Graph& graph, const NameSet& around, std::vector<std::string> outer_names)
      : graph_(graph), around_(around), names_(graph.values().size()) {
    for (std::size_t i = 0; i < graph.captures().size(); ++i) names_[graph.captures()[i].at()] = std::move(outer_names[i]);
    for (const ValueInfo& value : graph.values()) own_.insert(value.name);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty()) names_[i] = around.contains(graph.values()[i].name) ? fresh(graph.values()[i].name) : graph.values()[i].name;
    }
    for (ValueId id : graph.captures()) is_capture_.insert(id);
  }

  // Constants go to `weights`, or without that into the message.
  Result<onnx::GraphProto> write(std::vector<Weight>* weights) {
    message_.set_name(graph_.name().empty() ? "graph" : graph_.name());
    for (ValueId id : graph_.inputs()) set_value(*message_.add_input(), names_[id.at()], graph_.value(id).type);
    for (std::size_t i = 0; i < graph_.values().size(); ++i) {
      if (graph_.values()[i].constant) IT_TRY_VOID(constant(names_[i], graph_.values()[i].constant, weights));
    }
    for (const Node& node : graph_.nodes()) IT_TRY_VOID(within(describe(graph_, node), add(node)));
    NameSet seen;
    for (ValueId id : graph_.outputs()) {
      std::string name = names_[id.at()];
      if (is_capture_.contains(id) || !seen.insert(name).second) name = identity(name);
      set_value(*message_.add_output(), name, graph_.value(id).type);
    }
    return std::move(message_);
  }

 private:
  std::string fresh(const std::string& stem) {
    for (int n = 1;; ++n) {
      std::string name = text(stem, "_", n);
      if (!around_.contains(name) && own_.insert(name).second) return name;
    }
  }

  // Outputs must be values that the graph itself makes, each once.
  std::string identity(const std::string& of) {
    onnx::NodeProto& node = *message_.add_node();
    node.set_op_type("Identity");
    node.add_input(of);
    node.add_output(fresh(of));
    return node.output(0);
  }

  Status constant(const std::string& name, const ConstantRef& constant, std::vector<Weight>* weights) {
    if (weights) {
      weights->push_back({name, constant});
      return {};
    }
    IT_TRY(Tensor tensor, within(name, load(*constant)));
    IT_TRY(*message_.add_initializer(), tensor_message(name, tensor));
    return {};
  }

  Status add(const Node& node) {
    onnx::NodeProto& out = *message_.add_node();
    out.set_op_type(node.type);
    out.set_domain(node.domain);
    out.set_name(node.name);
    if (!node.overload.empty()) set_overload(out, node.overload);
    for (ValueId id : node.inputs) out.add_input(id ? names_[id.at()] : "");
    for (ValueId id : node.outputs) out.add_output(id ? names_[id.at()] : "");
    if (!node.op) {
      for (ValueId id : node.outputs) {
        if (id && graph_.value(id).type.kind != TypeKind::unknown) set_value(*message_.add_value_info(), names_[id.at()], graph_.value(id).type);
      }
    }
    for (const Attribute& attribute : node.attributes) IT_TRY_VOID(set_attribute(*out.add_attribute(), attribute));
    return {};
  }

  Status set_attribute(Proto& out, const Attribute& attribute) {
    out.set_name(attribute.name);
    const AttributeValue& value = attribute.value;
    switch (kind(value)) {
      case AttributeKind::integer: out.set_type(Proto::INT); out.set_i(std::get<std::int64_t>(value)); break;
      case AttributeKind::real: out.set_type(Proto::FLOAT); out.set_f(std::get<float>(value)); break;
      case AttributeKind::text: out.set_type(Proto::STRING); out.set_s(std::get<std::string>(value)); break;
      case AttributeKind::integers:
        out.set_type(Proto::INTS);
        for (std::int64_t i : std::get<std::vector<std::int64_t>>(value)) out.add_ints(i);
        break;
      case AttributeKind::reals:
        out.set_type(Proto::FLOATS);
        for (float f : std::get<std::vector<float>>(value)) out.add_floats(f);
        break;
      case AttributeKind::texts:
        out.set_type(Proto::STRINGS);
        for (const std::string& s : std::get<std::vector<std::string>>(value)) out.add_strings(s);
        break;
      case AttributeKind::type:
        out.set_type(Proto::TYPE_PROTO);
        set_type(*out.mutable_tp(), std::get<Type>(value));
        break;
      case AttributeKind::tensor:
      case AttributeKind::tensors: return set_tensors(out, value);
      case AttributeKind::body:
      case AttributeKind::bodies: return set_bodies(out, value);
    }
    return {};
  }

  Status set_tensors(Proto& out, const AttributeValue& value) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      out.set_type(Proto::TENSOR);
      IT_TRY(*out.mutable_t(), tensor_message("", *tensor));
      return {};
    }
    out.set_type(Proto::TENSORS);
    for (const Tensor& tensor : std::get<std::vector<Tensor>>(value)) {
      IT_TRY(*out.add_tensors(), tensor_message("", tensor));
    }
    return {};
  }

  Status set_bodies(Proto& out, const AttributeValue& value) {
    if (const auto* body = std::get_if<Body>(&value)) {
      out.set_type(Proto::GRAPH);
      IT_TRY(*out.mutable_g(), nested(*body));
      return {};
    }
    out.set_type(Proto::GRAPHS);
    for (const Body& body : std::get<std::vector<Body>>(value)) {
      IT_TRY(*out.add_graphs(), nested(body));
    }
    return {};
  }

  Result<onnx::GraphProto> nested(const Body& body) {
    NameSet around = around_;
    around.insert(own_.begin(), own_.end());
    around.insert(names_.begin(), names_.end());
    std::vector<std::string> outer_names;
    for (ValueId capture : body.captures) outer_names.push_back(names_[capture.at()]);
    return GraphWriter(*body.graph, around, std::move(outer_names)).write(nullptr);
  }

  const Graph& graph_;
  const NameSet& around_;
  NameSet own_;                      // names of this graph's values, those made here included
  std::vector<std::string> names_;   // by value: what the file calls it
  std::set<ValueId> is_capture_;
  onnx::GraphProto message_;
};

}  // namespace

onnx::TensorProto tensor_header(std::string_view name, DType dtype, const Extents& extents) {
  onnx::TensorProto message;
  message.set_name(std::string(name));
  message.set_data_type(static_cast<int>(dtype));
  for (std::int64_t extent : extents) message.add_dims(extent);
  return message;
}

Result<onnx::GraphProto> graph_message(const Graph& graph, std::vector<Weight>& weights) { return GraphWriter(graph, {}, {}).write(&weights); }

}  // namespace infini::onnx_files
