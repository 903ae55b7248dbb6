#include "libcore/onnx/functions.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/onnx/problems.h"

namespace infini::onnx_files {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int node_overload = 8, function_overload = 13, function_attribute_proto = 11;

// The serialised values of a string or message field, whether the message classes know it or not.
std::vector<std::string> field_values(const Message& message, int number) {
  std::vector<std::string> values;
  const auto* reflection = message.GetReflection();
  if (const FieldDescriptor* known = message.GetDescriptor()->FindFieldByNumber(number)) {
    if (!known->is_repeated()) return {reflection->GetString(message, known)};
    for (int i = 0; i < reflection->FieldSize(message, known); ++i) values.push_back(reflection->GetRepeatedMessage(message, known, i).SerializeAsString());
    return values;
  }
  const auto& unknown = reflection->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) values.push_back(field.length_delimited());
  }
  return values;
}

std::string last_or_empty(std::vector<std::string> values) { return values.empty() ? std::string() : std::move(values.back()); }

std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
  std::string out(plain_domain(domain));
  out += '\0';
  out += name;
  out += '\0';
  out += overload;
  return out;
}

}  // namespace

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

void set_overload(onnx::NodeProto& node, const std::string& overload) {
  if (const FieldDescriptor* known = node.GetDescriptor()->FindFieldByNumber(node_overload)) {
    node.GetReflection()->SetString(&node, known, overload);
  } else {
    *node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(node_overload) = overload;
  }
}

std::string overload_of(const onnx::NodeProto& node) { return last_or_empty(field_values(node, node_overload)); }
std::string overload_of(const onnx::FunctionProto& function) { return last_or_empty(field_values(function, function_overload)); }

bool Function::has_attribute(std::string_view name) const {
  const auto& names = proto->attribute();
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(defaults.begin(), defaults.end(), [&](const onnx::AttributeProto& a) { return a.name() == name; });
}

Result<FunctionTable> FunctionTable::of(const onnx::ModelProto& model) {
  FunctionTable table;
  for (const onnx::FunctionProto& proto : model.functions()) {
    Function function{&proto, {}};
    std::string name = operator_name(proto.domain(), proto.name());
    for (const std::string& bytes : field_values(proto, function_attribute_proto)) {
      onnx::AttributeProto attribute;
      if (!attribute.ParseFromString(bytes)) return bad_input(text("function '", name, "' has a malformed attribute default"));
      function.defaults.push_back(std::move(attribute));
    }
    std::string overload = overload_of(proto);
    if (!table.functions_.emplace(key(proto.domain(), proto.name(), overload), std::move(function)).second) {
      return bad_input(text("there are two functions '", name, "'", overload.empty() ? "" : " with overload '" + overload + "'"));
    }
  }
  return table;
}

const Function* FunctionTable::find(std::string_view domain, std::string_view name, std::string_view overload) const {
  if (functions_.empty()) return nullptr;
  auto found = functions_.find(key(domain, name, overload));
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace infini::onnx_files
