#include <algorithm>

#include "libcore/base/text.h"
#include "libcore/ir/diff.h"
#include "tools/cli/checks.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

constexpr std::size_t shown_lines = 100, kind_width = 10;

std::string not_compared(const GraphDiff& found) {
  return found.unknown.empty() ? "" : text("; ", found.unknown.size(), " weights without content were not compared");
}

std::string to_text(const GraphDiff& found) {
  std::string out;
  for (std::size_t i = 0; i < std::min(found.differences.size(), shown_lines); ++i) {
    const Difference& difference = found.differences[i];
    std::string kind = difference.kind;
    kind.resize(std::max(kind.size(), kind_width), ' ');
    std::string where = printable(difference.where), what = printable(difference.what);
    out += text(kind, where, where.empty() || what.empty() ? "" : difference.kind == "rewritten" ? " " : ": ", what, "\n");
  }
  if (found.differences.size() > shown_lines) out += text("and ", found.differences.size() - shown_lines, " more (--json has all)\n");
  if (found.shapes_that_follow > 0) out += text("the types of ", found.shapes_that_follow, " further results follow from these\n");
  if (found.same()) return out + text("the same: ", found.alike, " nodes", not_compared(found), "\n");
  return out + text("not the same: ", found.differences.size(), found.differences.size() == 1 ? " difference; " : " differences; ", found.alike, " nodes are alike, of ", found.nodes_a, " in A and ", found.nodes_b, " in B",
                    not_compared(found), "\n");
}

std::string to_json(const GraphDiff& found) {
  std::string out = text("{\"schema\": \"it-diff/1\", \"same\": ", found.same(), ", \"nodes_a\": ", found.nodes_a, ", \"nodes_b\": ", found.nodes_b, ", \"nodes_alike\": ",
                         found.alike, ", \"types_that_follow\": ", found.shapes_that_follow, ",\n \"not_compared\": [");
  for (std::size_t i = 0; i < found.unknown.size(); ++i) out += text(i ? ", " : "", json_text(found.unknown[i]));
  out += "],\n \"differences\": [";
  for (std::size_t i = 0; i < found.differences.size(); ++i) {
    const Difference& difference = found.differences[i];
    out += text(i ? "," : "", "\n  {\"kind\": ", json_text(difference.kind), ", \"where\": ", json_text(difference.where), ", \"what\": ", json_text(difference.what), "}");
  }
  return out + "]}\n";
}

}  // namespace

Result<int> check_diff(const Graph& a, const Graph& b, const Arguments& arguments, const Talk& talk) {
  IT_TRY(GraphDiff found, diff(a, b));
  int written = print_page(arguments.has("json") ? to_json(found) : to_text(found), talk);
  return written ? written : found.same() ? 0 : status_no;
}

}  // namespace infini::cli
