// Everything that is wrong with a model, gathered node by node and told at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/onnx.h"

namespace infini::onnx_files {

using Path = std::vector<std::uint32_t>;

// "Conv", or "com.microsoft.FusedConv".
std::string operator_name(std::string_view domain, std::string_view type);
// A node's name, or "#3.0.7" by its path.
std::string node_label(const onnx::NodeProto& node, const Path& path);

// Groups nodes by operator and reason, in the order of first appearance.
class Groups {
 public:
  void add(std::string op, std::string label, std::string reason);
  bool empty() const { return groups_.empty(); }
  const std::vector<OperatorGroup>& list() const { return groups_; }

 private:
  std::vector<OperatorGroup> groups_;
};

class Problems {
 public:
  void add(std::string op, std::string label, Error error);
  // Of the graph as a whole rather than a node: "input 'x' has no type".
  void add(Error error);
  bool empty() const { return groups_.empty() && general_.empty(); }
  // One error; bad_input if any part of it is, else unsupported.
  Error report() const;

 private:
  void note_kind(ErrorKind kind);

  Groups groups_;
  std::vector<std::string> general_;
  bool malformed_ = false, internal_ = false;
};

}  // namespace infini::onnx_files
