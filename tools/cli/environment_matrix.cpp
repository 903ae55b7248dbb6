#include <yaml-cpp/yaml.h>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

constexpr std::uint64_t most_bytes = 1 << 20;

Result<Facts> read_facts(const std::string& yaml) {
  try {  // yaml-cpp throws, on nesting deeper than it can follow too; nothing of it passes this line
    YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return bad_input("expected a map of facts, as it-check env --emit=yaml writes it");
    Facts facts;
    for (const auto& entry : root) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar())
        return bad_input(text("line ", entry.first.Mark().line + 1, ": expected KEY: VALUE, both texts"));
      if (!facts.emplace(entry.first.Scalar(), entry.second.Scalar()).second) {
        return bad_input(text("line ", entry.first.Mark().line + 1, ": ", quoted(entry.first.Scalar()), " stands there twice"));
      }
    }
    return facts;
  } catch (const YAML::Exception& e) {
    return bad_input(std::string(e.what()));
  }
}

}  // namespace

Result<Facts> read_matrix(const std::string& path) {
  IT_TRY(std::vector<std::byte> bytes, read_file(path, most_bytes));
  return within(path, read_facts(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
}

std::vector<FactDifference> compare_facts(const Facts& facts, const Facts& expected) {
  std::vector<FactDifference> differences;
  for (const auto& [key, value] : expected) {
    auto found = facts.find(key);
    std::string here = found == facts.end() ? "nothing" : found->second;
    if (here != value) differences.push_back({key, here, value});
  }
  return differences;
}

}  // namespace infini::cli
