#include "tools/cli/bench_report.h"

#include <algorithm>
#include <map>

#include "libcore/base/statistics.h"
#include "libcore/base/text.h"
#include "libcore/exec/coverage.h"

namespace infini::cli {
namespace {

constexpr std::size_t profiled_rows = 40;

std::string ms(double value) { return fixed(value, 3); }

std::string fixed_width(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string profile_line(double ms_per_run, double total, std::string_view device, std::string_view op, std::string_view rest) {
  return text(fixed_width(ms(ms_per_run), 10), fixed_width(text(fixed(100 * ms_per_run / total, 1), "%"), 7), fixed_width(std::string(device), 10),
              fixed_width(std::string(op), 22), " ", rest, "\n");
}

constexpr std::string_view profile_head = "ms        share  device    operator               ";

// Rows of one operator, device and kernel as one.
std::string operators_text(const std::vector<ProfileRow>& profile, double total) {
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<double, std::size_t>> sums;
  for (const ProfileRow& row : profile) {
    auto& [ms_per_run, count] = sums[{row.device, printable(row.op), row.kind == "kernel" ? row.kernel : row.kind}];
    ms_per_run += row.ms;
    ++count;
  }
  std::vector<std::pair<double, std::string>> lines;
  for (const auto& [key, sum] : sums) {
    const auto& [device, op, kernel] = key;
    lines.emplace_back(sum.first, profile_line(sum.first, total, device, op, text(kernel, ", ", sum.second, sum.second == 1 ? " node" : " nodes")));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out = text("\nper operator, ", ms(total), " ms a run in all:\n", profile_head, "kernel\n");
  for (const auto& [sum, line] : lines) out += line;
  return out;
}

std::string profile_text(const std::vector<ProfileRow>& profile) {
  double total = 0, shown = 0;
  for (const ProfileRow& row : profile) total += row.ms;
  std::string out = operators_text(profile, total) + text("\nper node:\n", profile_head, "kernel  node  <- nodes of the model\n");
  for (std::size_t i = 0; i < std::min(profile.size(), profiled_rows); ++i) {
    const ProfileRow& row = profile[i];
    shown += row.ms;
    std::string origins = row.origins.size() > 1 ? text("  <- ", printable(join(row.origins, " "))) : "";
    out += profile_line(row.ms, total, row.device, printable(row.op), text(row.kind == "kernel" ? row.kernel : row.kind, "  ", printable(row.name), origins));
  }
  if (profile.size() > profiled_rows) out += text(fixed_width(ms(total - shown), 10), "in ", profile.size() - profiled_rows, " more\n");
  return out;
}

}  // namespace

std::string fixed(double value, int digits) {
  char buffer[400];  // the largest double has 309 digits before the point
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits).ptr;
  return std::string(buffer, end);
}

Result<std::vector<double>> percentile_list(const std::string& written) {
  std::vector<double> out;
  for (const std::string& word : infini::split(written, ',')) {
    double value = 0;
    if (!parse_double(word, value) || !(value >= 0 && value <= 100)) return usage_error(text("--percentile=", written, ": expected numbers from 0 to 100"));
    out.push_back(value);
  }
  return out;
}

Result<std::vector<ProfileRow>> profile(const Graph& graph, const Devices& devices, std::span<const Value> inputs, std::int64_t iterations) {
  std::map<std::tuple<const Node*, std::string, std::string>, ProfileRow> rows;
  bool counting = false;
  ExecOptions options;
  options.devices = devices;
  options.on_step = [&](const StepEvent& event) {
    if (!counting) return;
    ProfileRow& row = rows[{&event.node, std::string(event.kind), std::string(event.kernel)}];
    if (row.op.empty()) {
      row = {operator_label(event.node), event.node.name, std::string(event.kernel), std::string(event.kind), std::string(event.device), {}, 0};
      for (std::uint32_t source : event.node.origin) row.origins.push_back(event.graph.sources()[source].name);
    }
    row.ms += event.ns / 1e6 / static_cast<double>(iterations);
  };
  IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(graph), std::move(options)));
  IT_TRY([[maybe_unused]] std::vector<Value> first, executor->run(inputs));
  counting = true;
  for (std::int64_t i = 0; i < iterations; ++i) {
    IT_TRY([[maybe_unused]] std::vector<Value> again, executor->run(inputs));
  }
  std::vector<ProfileRow> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  std::stable_sort(out.begin(), out.end(), [](const ProfileRow& a, const ProfileRow& b) { return a.ms > b.ms; });
  return out;
}

std::string to_text(const BenchReport& report) {
  const std::vector<double>& times = report.times_ms;
  std::string out = text("device       ", report.device, "\nread         ", ms(report.read_ms), " ms\noptimise     ", ms(report.optimise_ms), " ms\nload         ",
                         ms(report.load_ms), " ms\nfirst run    ", ms(report.first_run_ms), " ms (planning and packing included)\nruns         ", times.size(),
                         "\nmin          ", ms(percentile(times, 0)), " ms\nmedian       ", ms(percentile(times, 50)), " ms\nmean         ", ms(mean(times)),
                         " ms, deviation ", ms(deviation(times)), " ms\n");
  for (double percent : report.percentiles) out += text(fixed_width(text("p", percent), 13), ms(percentile(times, percent)), " ms\n");
  out += text("arena        ", human_bytes(report.arena_bytes), "\nmemory       ", human_bytes(report.peak_bytes), " at most, of the whole process\n");
  return report.profile.empty() ? out : out + profile_text(report.profile);
}

std::string to_json(const BenchReport& report) {
  const std::vector<double>& times = report.times_ms;
  std::string out = text("{\"schema\": \"it-bench/1\", \"device\": ", json_text(report.device), ", \"min_ms\": ", percentile(times, 0), ", \"median_ms\": ",
                         percentile(times, 50), ", \"mean_ms\": ", mean(times), ", \"deviation_ms\": ", deviation(times), ", \"max_ms\": ", percentile(times, 100),
                         ", \"runs\": ", times.size(), ",\n \"percentiles\": {");
  for (std::size_t i = 0; i < report.percentiles.size(); ++i) {
    out += text(i ? ", " : "", "\"p", report.percentiles[i], "\": ", percentile(times, report.percentiles[i]));
  }
  out += text("},\n \"phases_ms\": {\"read\": ", report.read_ms, ", \"optimise\": ", report.optimise_ms, ", \"load\": ", report.load_ms, ", \"first_run\": ",
              report.first_run_ms, "}, \"arena_bytes\": ", report.arena_bytes, ", \"peak_bytes\": ", report.peak_bytes, ",\n \"times_ms\": [", join(times, ", "), "],\n \"profile\": [");
  for (std::size_t i = 0; i < report.profile.size(); ++i) {
    const ProfileRow& row = report.profile[i];
    std::vector<std::string> origins;
    for (const std::string& origin : row.origins) origins.push_back(json_text(origin));
    out += text(i ? "," : "", "\n  {\"op\": ", json_text(row.op), ", \"name\": ", json_text(row.name), ", \"kind\": ", json_text(row.kind), ", \"kernel\": ",
                json_text(row.kernel), ", \"device\": ", json_text(row.device), ", \"ms\": ", row.ms, ", \"origins\": [", join(origins, ", "), "]}");
  }
  return out + "]}\n";
}

}  // namespace infini::cli
