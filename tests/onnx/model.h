// Small ONNX models, written down in tests.
#pragma once

#include <onnx/onnx_pb.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/text.h"
#include "libcore/onnx/onnx.h"

namespace infini::testing {

// Fills in the type of a value: "2,N,?" has a number, a dim_param and a dimension of which nothing is said; "" is a scalar.
inline void set_type(onnx::ValueInfoProto& value, std::string_view name, int element, std::string_view dims) {
  value.set_name(std::string(name));
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(element);
  auto* shape = tensor->mutable_shape();
  if (dims.empty()) return;
  for (const std::string& dim : split(dims, ',')) {
    auto* axis = shape->add_dim();
    std::int64_t number = 0;
    if (parse_int(dim, number)) {
      axis->set_dim_value(number);
    } else if (dim != "?") {
      axis->set_dim_param(dim);
    }
  }
}

inline onnx::NodeProto& add_node(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, std::string_view op, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs, std::string_view name = "") {
  onnx::NodeProto& node = *nodes.Add();
  node.set_op_type(std::string(op));
  for (std::string& input : inputs) node.add_input(std::move(input));
  for (std::string& output : outputs) node.add_output(std::move(output));
  if (!name.empty()) node.set_name(std::string(name));
  return node;
}

inline void set_floats(onnx::TensorProto& tensor, std::string_view name, std::vector<std::int64_t> dims, const std::vector<float>& values) {
  tensor.set_name(std::string(name));
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

struct Model {
  onnx::ModelProto proto;

  explicit Model(int opset = 17) {
    proto.set_ir_version(8);
    proto.mutable_graph()->set_name("g");
    if (opset > 0) import_opset("", opset);
  }
  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  void import_opset(std::string_view domain, int version) {
    auto* import = proto.add_opset_import();
    import->set_domain(std::string(domain));
    import->set_version(version);
  }
  void input(std::string_view name, std::string_view dims, int element = 1) { set_type(*graph().add_input(), name, element, dims); }
  void output(std::string_view name) { graph().add_output()->set_name(std::string(name)); }
  void weight(std::string_view name, std::vector<std::int64_t> dims, const std::vector<float>& values) {
    set_floats(*graph().add_initializer(), name, std::move(dims), values);
  }
  onnx::NodeProto& node(std::string_view op, std::vector<std::string> inputs, std::vector<std::string> outputs, std::string_view name = "") {
    return add_node(*graph().mutable_node(), op, std::move(inputs), std::move(outputs), name);
  }
  onnx::FunctionProto& function(std::string_view domain, std::string_view name, std::vector<std::string> inputs, std::vector<std::string> outputs) {
    onnx::FunctionProto& f = *proto.add_functions();
    f.set_domain(std::string(domain));
    f.set_name(std::string(name));
    for (std::string& input : inputs) f.add_input(std::move(input));
    for (std::string& output : outputs) f.add_output(std::move(output));
    f.add_opset_import()->set_version(17);
    return f;
  }

  Result<ImportReport> import(const ImportOptions& options = {}) const {
    std::string bytes = proto.SerializeAsString();
    return import_onnx(std::as_bytes(std::span(bytes)), options, OpTable());
  }
  // The message of the error that importing ends in; empty if it does not.
  std::string error(const ImportOptions& options = {}) const {
    Result<ImportReport> report = import(options);
    return report ? std::string() : report.error().text();
  }
};

// A value of a graph by name; the graph must have it.
inline const ValueInfo* value_named(const Graph& graph, std::string_view name) {
  for (const ValueInfo& value : graph.values()) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

// "Relu(x) -> y; MatMul(y,w) -> z": the nodes in order.
inline std::string listing(const Graph& graph) {
  std::vector<std::string> nodes;
  auto names = [&graph](const std::vector<ValueId>& ids) {
    std::vector<std::string> out;
    for (ValueId id : ids) out.push_back(id ? graph.value(id).name : "_");
    return join(out, ",");
  };
  for (const Node& node : graph.nodes()) nodes.push_back(text(node.type, "(", names(node.inputs), ") -> ", names(node.outputs)));
  return join(nodes, "; ");
}

}  // namespace infini::testing
