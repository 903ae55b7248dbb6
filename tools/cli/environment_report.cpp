#include <algorithm>

#include "libcore/base/text.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

std::string_view name(Finding::Verdict verdict) {
  switch (verdict) {
    case Finding::Verdict::ok:
      return "ok";
    case Finding::Verdict::warn:
      return "warn";
    case Finding::Verdict::fail:
      break;
  }
  return "fail";
}

std::string_view name(KnownAnswer::Verdict verdict) {
  switch (verdict) {
    case KnownAnswer::Verdict::right:
      return "right";
    case KnownAnswer::Verdict::wrong:
      return "wrong";
    case KnownAnswer::Verdict::failed:
      return "failed";
    case KnownAnswer::Verdict::not_taken:
      break;
  }
  return "not taken";
}

// A JSON array of what `write` makes of each element, one a line.
template <class Range, class Write>
std::string json_lines(const Range& range, Write write) {
  std::string out = "[";
  bool first = true;
  for (const auto& element : range) {
    out += text(first ? "\n  " : ",\n  ", write(element));
    first = false;
  }
  return out + "]";
}

}  // namespace

bool Environment::fit() const {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.verdict == Finding::Verdict::fail; });
}

std::string env_text(const Environment& environment) {
  std::string out;
  for (const Finding& finding : environment.findings) {
    std::string verdict(name(finding.verdict));
    verdict.resize(6, ' ');
    out += text(verdict, printable(finding.subject), ": ", printable(finding.detail),
                finding.cure.empty() ? "" : text("; cure: ", printable(finding.cure)), "\n");
  }
  for (const FactDifference& difference : environment.differences) {
    out += text("      ", printable(difference.key), ": here ", printable(difference.here), ", expected ", printable(difference.expected), "\n");
  }
  return out;
}

std::string env_json(const Environment& environment) {
  std::string facts;
  for (const auto& [key, value] : environment.facts) facts += text(facts.empty() ? "\n  " : ",\n  ", json_text(key), ": ", json_text(value));
  return text("{\"schema\": \"it-env/1\", \"fit\": ", environment.fit(), ", \"seconds\": ", environment.seconds,
              ",\n \"measured\": {\"f32_flops_per_second\": ", environment.flops, ", \"copied_bytes_per_second\": ", environment.copied_bytes,
              "},\n \"lines\": ",
              json_lines(environment.findings,
                         [](const Finding& finding) {
                           return text("{\"verdict\": \"", name(finding.verdict), "\", \"subject\": ", json_text(finding.subject),
                                       ", \"detail\": ", json_text(finding.detail), ", \"cure\": ", json_text(finding.cure), "}");
                         }),
              ",\n \"answers\": ",
              json_lines(environment.answers,
                         [](const KnownAnswer& answer) {
                           return text("{\"device\": ", json_text(answer.device), ", \"family\": ", json_text(answer.family), ", \"verdict\": \"",
                                       name(answer.verdict), "\"}");
                         }),
              ",\n \"differences\": ",
              json_lines(environment.differences,
                         [](const FactDifference& difference) {
                           return text("{\"key\": ", json_text(difference.key), ", \"here\": ", json_text(difference.here),
                                       ", \"expected\": ", json_text(difference.expected), "}");
                         }),
              ",\n \"facts\": {", facts, "}}\n");
}

std::string env_yaml(const Environment& environment) {
  std::string out;
  for (const auto& [key, value] : environment.facts) out += text(json_text(key), ": ", json_text(value), "\n");  // a JSON text is a YAML text
  return out;
}

}  // namespace infini::cli
