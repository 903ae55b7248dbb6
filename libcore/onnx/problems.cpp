#include "libcore/onnx/problems.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr std::size_t label_limit = 3;    // nodes named per line
constexpr std::size_t line_limit = 200;   // lines per report

}  // namespace

std::string to_string(std::span<const OperatorGroup> groups) {
  std::vector<std::string> lines;
  for (const OperatorGroup& group : groups.first(std::min(groups.size(), line_limit))) {
    std::string more = group.count > group.first_nodes.size() ? ", ..." : "";
    lines.push_back(text(group.op, ": ", group.count, group.count == 1 ? " node (" : " nodes (", join(group.first_nodes, ", "), more, "): ", group.reason));
  }
  if (groups.size() > line_limit) lines.push_back(text("and ", groups.size() - line_limit, " more"));
  return join(lines, "\n");
}

namespace onnx_files {

std::string operator_name(std::string_view domain, std::string_view type) {
  return domain.empty() || domain == "ai.onnx" ? std::string(type) : text(domain, ".", type);
}

std::string node_label(const onnx::NodeProto& node, const Path& path) { return node.name().empty() ? "#" + join(path, ".") : node.name(); }

void Groups::add(std::string op, std::string label, std::string reason) {
  auto same = [&](const OperatorGroup& group) { return group.op == op && group.reason == reason; };
  auto found = std::find_if(groups_.begin(), groups_.end(), same);
  if (found == groups_.end()) {
    groups_.push_back({std::move(op), std::move(reason), 0, {}});
    found = groups_.end() - 1;
  }
  ++found->count;
  if (found->first_nodes.size() < label_limit) found->first_nodes.push_back(std::move(label));
}

void Problems::note_kind(ErrorKind kind) {
  if (kind == ErrorKind::internal) internal_ = true;
  if (kind != ErrorKind::internal && kind != ErrorKind::unsupported) malformed_ = true;
}

void Problems::add(std::string op, std::string label, Error error) {
  note_kind(error.kind);
  groups_.add(std::move(op), std::move(label), error.text());
}

void Problems::add(Error error) {
  note_kind(error.kind);
  std::string message = error.text();
  if (std::find(general_.begin(), general_.end(), message) == general_.end()) general_.push_back(std::move(message));
}

Error Problems::report() const {
  std::vector<std::string> lines(general_.begin(), general_.begin() + static_cast<std::ptrdiff_t>(std::min(general_.size(), line_limit)));
  if (general_.size() > line_limit) lines.push_back(text("and ", general_.size() - line_limit, " more"));
  if (!groups_.empty()) lines.push_back(to_string(groups_.list()));
  std::string message = join(lines, "\n");
  if (internal_) return internal_error(std::move(message));
  return malformed_ ? bad_input(std::move(message)) : unsupported(std::move(message));
}

}  // namespace onnx_files
}  // namespace infini
