#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "libcore/base/text.h"
#include "tools/cli/checks.h"
#include "tools/cli/coverage_report.h"
#include "tools/cli/devices.h"
#include "tools/cli/inputs.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

struct Failure {
  std::string model;
  Error error;
};

// Every .onnx and .itg below a folder, in the order of their names. `closed`: the folders that cannot be looked into.
Result<std::vector<std::string>> models_below(const std::string& folder, std::vector<Failure>& closed) {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string path = entry->path().string();
    std::error_code lost;  // a link to nothing or to itself is told as a model that cannot be read; a pipe or a folder is none
    bool model = entry->is_regular_file(lost) || lost || entry->status(lost).type() == std::filesystem::file_type::not_found;
    if (model && (path.ends_with(".onnx") || path.ends_with(".itg"))) out.push_back(std::move(path));
    if (entry->is_directory(lost) && ::access(path.c_str(), R_OK | X_OK) != 0) {
      if (!entry->is_symlink(lost)) closed.push_back({path, bad_input(text(path, ": ", std::generic_category().message(errno)))});
      entry.disable_recursion_pending();
    }
  }
  if (error) return bad_input(text(folder, ": ", error.message()));
  if (out.empty() && closed.empty()) return bad_input(text(folder, " holds no .onnx and no .itg"));
  std::sort(out.begin(), out.end());
  return out;
}

// Sizes that nobody gave may be what does not fit.
Error with_assumed(Error error, const Bindings& assumed) {
  std::vector<std::string> sizes;
  for (const Binding& binding : assumed) sizes.push_back(text(binding.symbol, "=", binding.value));
  if (error.kind == ErrorKind::bad_input && !sizes.empty()) error.message += text("; assumed is ", join(sizes, ", "), ": give other sizes with --dim");
  return error;
}

std::string failures_json(const std::vector<Failure>& failures) {
  std::vector<std::string> out;
  for (const Failure& failure : failures) {
    out.push_back(text("\n  {\"model\": ", json_text(failure.model), ", \"status\": ", exit_status(failure.error), ", \"error\": ", json_text(failure.error.text()), "}"));
  }
  return join(out, ",");
}

std::string page_json(const std::vector<CoverageReport>& reports, const std::vector<Failure>& failures, const CoverageReport& all) {
  std::vector<std::string> devices, models;
  for (const std::string& device : all.devices) devices.push_back(json_text(device));
  for (const CoverageReport& report : reports) models.push_back("\n  " + to_json(report));
  return text("{\"schema\": \"it-coverage/1\", \"devices\": [", join(devices, ", "), "],\n \"models\": [", join(models, ","), "],\n \"failed\": [",
              failures_json(failures), "],\n \"total\": ", to_json(all), "}\n");
}

std::string page_text(const std::vector<CoverageReport>& reports, const std::vector<Failure>& failures, const CoverageReport& all, bool folder) {
  std::vector<std::string> sections;
  for (const CoverageReport& report : reports) sections.push_back(to_text(report));
  for (const Failure& failure : failures) sections.push_back(text(printable(failure.model), "\nfailed: ", printable(failure.error.text()), "\n"));
  if (folder) sections.push_back(to_text(all));
  return join(sections, "\n");
}

}  // namespace

Result<int> check_coverage(const std::string& operand, const std::function<Result<Input>(const std::string&)>& read, const Arguments& arguments, const Talk& talk) {
  IT_TRY(Devices devices, open_devices(arguments));
  std::error_code none;
  bool folder = std::filesystem::is_directory(operand, none);
  std::vector<std::string> files = {operand};
  std::vector<Failure> failures;
  if (folder) {
    IT_TRY(files, models_below(operand, failures));
  }
  auto look = [&](const std::string& file) -> Result<CoverageReport> {
    IT_TRY(Input input, read(file));
    IT_TRY(KnownInputs known, known_inputs(input.module, arguments, !folder));
    Result<Coverage> coverage = cover(input.module.graph, {devices, known.types, known.given});
    if (!coverage) return with_assumed(within(file, std::move(coverage.error())), known.assumed);
    return summarise(file == "-" ? "standard input" : file, *coverage, devices, std::move(known.assumed));
  };
  std::vector<CoverageReport> reports;
  for (const std::string& file : files) {
    Result<CoverageReport> report = look(file);
    if (!report && !folder) return std::move(report.error());
    if (report) reports.push_back(std::move(*report));
    else failures.push_back({file, std::move(report.error())});
  }
  CoverageReport all = total(reports, devices);
  int written = print_page(arguments.has("json") ? page_json(reports, failures, all) : page_text(reports, failures, all, folder), talk);
  if (written) return written;
  return !failures.empty() ? exit_status(failures[0].error) : all.nowhere > 0 ? status_no : 0;
}

}  // namespace infini::cli
