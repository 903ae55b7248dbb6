#include <chrono>

#include "libcore/base/text.h"
#include "tools/cli/checks.h"
#include "tools/cli/environment.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

void compare_with(const Facts& expected, const std::string& path, Environment& out) {
  out.differences = compare_facts(out.facts, expected);
  std::size_t count = out.differences.size();
  if (count == 0) {
    out.findings.push_back({Finding::Verdict::ok, "matrix", text("this machine is as ", path, " says")});
  } else {
    out.findings.push_back({Finding::Verdict::fail, "matrix", text(count, count == 1 ? " fact is" : " facts are", " not as ", path, " says"),
                            "make them so, or write the matrix anew: it-check env --emit=yaml"});
  }
}

Result<Environment> look(const Arguments& arguments) {
  auto start = std::chrono::steady_clock::now();
  Environment out;
  Facts expected;
  if (arguments.has("expect-env")) {
    IT_TRY(expected, read_matrix(arguments.get("expect-env")));
  }
  look_at_build(out);
  look_at_libraries(out);
  look_at_protobuf(out);
  look_at_machine(out);
  if (!arguments.has("emit")) IT_TRY_VOID(measure_peaks(out));  // the matrix has nothing that is measured
  IT_TRY_VOID(look_at_devices(arguments, out));
  look_at_providers(arguments, out);
  if (arguments.has("expect-env")) compare_with(expected, arguments.get("expect-env"), out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace

Result<int> check_environment(const Arguments& arguments, const Talk& talk) {
  if (arguments.operands().size() > 1)
    return usage_error(text("it-check env looks at this machine and takes no operand, not '", arguments.operands()[1], "'"));
  if (arguments.has("emit") && arguments.has("json")) return usage_error("--emit=yaml and --json exclude each other");
  IT_TRY(Environment environment, look(arguments));
  if (arguments.has("emit")) {
    for (const Finding& finding : environment.findings) {
      if (finding.verdict == Finding::Verdict::fail) talk.notice(text(finding.subject, ": ", finding.detail, "; cure: ", finding.cure));
    }
  }
  int written = print_page(arguments.has("emit")   ? env_yaml(environment)
                           : arguments.has("json") ? env_json(environment)
                                                   : env_text(environment),
                           talk);
  return written ? written : environment.fit() ? 0 : status_no;
}

}  // namespace infini::cli
