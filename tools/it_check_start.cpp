// it-check: loads the library that does the work, every symbol bound at once. A shared library that is missing or is another one thus becomes a
// line with its cure; the loader would end the process before main with less to go by.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "libcore/base/text.h"
#include "tools/cli/environment.h"
#include "tools/cli/program.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr int status_no = 1, status_run_failed = 5;

std::filesystem::path work_library() {
  std::filesystem::path folder = program_folder(), beside = folder / "it-check.so";
  std::error_code error;
  return std::filesystem::exists(beside, error) ? beside : folder.parent_path() / "lib" / "infinitensor" / "it-check.so";
}

// What is known without that library: which of those it needs are not what it was built against.
Environment without(const std::string& reason) {
  Environment found;
  look_at_libraries(found);
  std::erase_if(found.findings, [](const Finding& finding) { return finding.verdict == Finding::Verdict::ok; });
  for (Finding& finding : found.findings) finding.verdict = Finding::Verdict::fail;
  if (found.findings.empty())
    found.findings.push_back({Finding::Verdict::fail, "libraries", reason, "install InfiniTensor again"});
  else if (!found.findings[0].detail.ends_with(reason))
    found.findings[0].detail += "; " + reason;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  void* library = dlopen(work_library().c_str(), RTLD_NOW | RTLD_LOCAL);
  auto work = library ? reinterpret_cast<int (*)(int, char**)>(dlsym(library, "it_check_main")) : nullptr;
  if (work) return work(argc, argv);
  Environment found = without(dlerror());
  auto given = [&](std::string_view word) { return std::find(argv + 1, argv + argc, word) != argv + argc; };
  if (!given("env")) {
    for (const Finding& finding : found.findings)
      std::fputs(text("it-check: ", finding.subject, ": ", finding.detail, "; cure: ", finding.cure, "\n").c_str(), stderr);
    return status_run_failed;
  }
  std::fputs((given("--json") ? env_json(found) : env_text(found)).c_str(), stdout);
  return status_no;
}
