// Model-local functions: their table, and fields of newer formats that the message classes may not know.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/onnx/messages.h"

namespace infini::onnx_files {

// NodeProto.overload and FunctionProto.overload (IR 10).
std::string overload_of(const onnx::NodeProto& node);
std::string overload_of(const onnx::FunctionProto& function);

void set_overload(onnx::NodeProto& node, const std::string& overload);

struct Function {
  const onnx::FunctionProto* proto = nullptr;
  std::vector<onnx::AttributeProto> defaults;  // FunctionProto.attribute_proto (IR 9)

  bool has_attribute(std::string_view name) const;
};

class FunctionTable {
 public:
  // bad_input: two functions with one name, a malformed default.
  static Result<FunctionTable> of(const onnx::ModelProto& model);
  const Function* find(std::string_view domain, std::string_view name, std::string_view overload) const;

 private:
  std::unordered_map<std::string, Function> functions_;
};

// "" for "ai.onnx", which are the same domain.
std::string_view plain_domain(std::string_view domain);

}  // namespace infini::onnx_files
