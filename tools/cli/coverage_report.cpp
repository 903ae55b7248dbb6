#include "tools/cli/coverage_report.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "libcore/base/text.h"
#include "tools/cli/bench_report.h"

namespace infini::cli {
namespace {

constexpr std::size_t shown_rows = 30, shown_missing = 10;
constexpr std::array<std::string_view, 5> places = {"device", "planning", "host", "later", "nowhere"};
constexpr std::array<std::string_view, 3> size_classes = {"static", "symbolic", "dynamic"};

std::string_view name(Where where) { return places[static_cast<std::size_t>(where)]; }
std::string_view name(SizeClass sizes) { return size_classes[static_cast<std::size_t>(sizes)]; }

// Most work first.
void rank(std::vector<CoverageRow>& rows) {
  auto work = [](const CoverageRow& row) { return std::tuple(row.cost.flops, row.cost.bytes, row.nodes); };
  std::stable_sort(rows.begin(), rows.end(), [&](const CoverageRow& a, const CoverageRow& b) { return work(a) > work(b); });
}

class RowTable {
 public:
  void add(const CoverageRow& row) {
    auto [entry, fresh] = rows_.try_emplace(std::tuple(row.op, row.types, row.sizes, row.where, row.device, row.kernel, row.reasons), row);
    if (fresh) return;
    entry->second.nodes += row.nodes;
    entry->second.cost += row.cost;
  }
  std::vector<CoverageRow> take() && {
    std::vector<CoverageRow> out;
    for (auto& [key, row] : rows_) out.push_back(std::move(row));
    rank(out);
    return out;
  }

 private:
  std::map<std::tuple<std::string, std::string, SizeClass, Where, std::string, std::string, std::vector<Reason>>, CoverageRow> rows_;
};

std::vector<std::string> names_of(const Devices& devices) {
  std::vector<std::string> out;
  for (const auto& device : devices) out.push_back(device->name());
  return out;
}

// What the first device lacks, whoever stands in for it: rows that differ in nothing but sizes, kernel and stand-in are one.
std::vector<CoverageRow> missing(const CoverageReport& report) {
  RowTable table;
  for (CoverageRow row : report.rows) {
    if (row.where == Where::later || row.reasons.empty()) continue;
    row.reasons.resize(1);
    row.sizes = SizeClass::fixed;
    row.kernel.clear();
    table.add(row);
  }
  return std::move(table).take();
}

// ---- text ---------------------------------------------------------------------------------------------------------------------------------

std::string percent(double part, double whole) { return text(fixed(whole > 0 ? 100 * part / whole : 0, 1), "%"); }

std::string with_unit(double number, std::string_view unit) {
  constexpr std::array<std::string_view, 6> prefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; number >= 1000 && prefix + 1 < prefixes.size(); ++prefix) number /= 1000;
  return text(fixed(number, prefix == 0 ? 0 : 2), " ", prefixes[prefix], unit);
}

std::string to_text(const std::vector<Reason>& reasons) {
  std::vector<std::string> out;
  for (const Reason& reason : reasons) out.push_back(text(reason.device, reason.device.empty() ? "" : ": ", printable(reason.text)));
  return join(out, "; ");
}

// Why a device before did not take it is told once, under what is missing.
std::string runs(const CoverageRow& row) {
  switch (row.where) {
    case Where::device: return text("on ", row.device, row.kernel.empty() ? "" : text(" by ", row.kernel));
    case Where::planning: return "computed while planning";
    case Where::at_host: return "on the host";
    case Where::later: return text("known only when it runs: ", to_text(row.reasons));
    case Where::nowhere: break;
  }
  return text("nowhere: ", to_text(row.reasons));
}

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell; numbers to the right, the last column as it is.
std::string aligned(const std::vector<Cells>& lines, std::span<const bool> to_the_right) {
  std::vector<std::size_t> widths(to_the_right.size());
  for (const Cells& cells : lines) {
    for (std::size_t c = 0; c + 1 < cells.size(); ++c) widths[c] = std::max(widths[c], cells[c].size());
  }
  std::string out;
  for (const Cells& cells : lines) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      std::string space(widths[c] > cells[c].size() ? widths[c] - cells[c].size() : 0, ' ');
      out += text("  ", to_the_right[c] ? space : "", cells[c], to_the_right[c] || c + 1 == cells.size() ? "" : space);
    }
    out += "\n";
  }
  return out;
}

std::string table(const CoverageReport& report) {
  constexpr std::array right = {true, false, false, false, true, true, false};
  std::vector<Cells> lines = {{"nodes", "operator", "types", "sizes", "FLOPs", "bytes", "runs"}};
  for (const CoverageRow& row : std::span(report.rows).first(std::min(report.rows.size(), shown_rows))) {
    lines.push_back({text(row.nodes), printable(row.op), row.types, std::string(name(row.sizes)), percent(row.cost.flops, report.cost.flops),
                     percent(row.cost.bytes, report.cost.bytes), runs(row)});
  }
  std::size_t more = report.rows.size() + 1 - lines.size();
  return aligned(lines, right) + (more > 0 ? text("  and ", more, " rows more (--json has all)\n") : "");
}

std::string missing_text(const CoverageReport& report) {
  constexpr std::array right = {true, true, true, true, false};
  std::vector<CoverageRow> rows = missing(report);
  if (rows.empty()) return "";
  std::vector<Cells> lines = {{"", "nodes", "FLOPs", "bytes", "operator"}};
  for (std::size_t i = 0; i < std::min(rows.size(), shown_missing); ++i) {
    const CoverageRow& row = rows[i];
    std::string now = row.where == Where::device ? text("on ", row.device) : std::string(name(row.where));
    lines.push_back({text(i + 1, "."), text(row.nodes), percent(row.cost.flops, report.cost.flops), percent(row.cost.bytes, report.cost.bytes),
                     text(printable(row.op), " ", row.types, ", now ", now, ": ", printable(row.reasons[0].text))});
  }
  std::string more = rows.size() > shown_missing ? text("  and ", rows.size() - shown_missing, " more (--json has all)\n") : "";
  return text("missing on ", report.devices[0], ", most work first:\n", aligned(lines, right), more);
}

std::string partitions_text(const CoverageReport& report) {
  std::map<std::string, std::size_t> count;
  for (const Partition& partition : report.partitions) ++count[partition.where];
  std::vector<std::string> parts;
  for (const auto& [where, number] : count) parts.push_back(text(number, " ", places.back() == where || where == "later" ? "" : "on ", where));
  return text("partitions  ", report.partitions.size(), parts.empty() ? "" : ": ", join(parts, ", "), "\n");
}

// "63 on cpu, 2 on reference": devices first, in order of preference.
std::string where_all_run(const CoverageReport& report) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const std::string& device : report.devices) counts.emplace_back("on " + device, 0);
  counts.insert(counts.end(), {{"on the host", 0}, {"while planning", 0}});
  for (const CoverageRow& row : report.rows) {
    std::string where = row.where == Where::device ? "on " + row.device : row.where == Where::at_host ? "on the host" : "while planning";
    auto entry = std::find_if(counts.begin(), counts.end(), [&where](const auto& count) { return count.first == where; });
    if (row.where != Where::later && entry != counts.end()) entry->second += row.nodes;
  }
  std::vector<std::string> parts;
  for (const auto& [where, count] : counts) {
    if (count > 0) parts.push_back(text(count, " ", where));
  }
  return join(parts, ", ");
}

std::string verdict(const CoverageReport& report) {
  std::string all = text(report.nodes, report.nodes == 1 ? " node" : " nodes");
  std::string open = report.later > 0 ? text("; of ", report.later, " it is known only when they run") : "";
  if (report.nowhere > 0) {
    return text("no: ", report.nowhere, " of ", all, report.nowhere == 1 ? " runs" : " run", " nowhere on ", join(report.devices, ","), open, "\n");
  }
  return text("yes: ", all, report.nodes > report.later ? ", " : "", where_all_run(report), open, "\n");
}

// ---- JSON ---------------------------------------------------------------------------------------------------------------------------------

std::string json_cost(const Cost& cost) { return text("\"flops\": ", fixed(cost.flops, 0), ", \"bytes\": ", fixed(cost.bytes, 0)); }

std::string json_row(const CoverageRow& row) {
  std::vector<std::string> reasons;
  for (const Reason& reason : row.reasons) {
    reasons.push_back(text("{\"device\": ", reason.device.empty() ? "null" : json_text(reason.device), ", \"reason\": ", json_text(reason.text), "}"));
  }
  return text("{\"op\": ", json_text(row.op), ", \"types\": ", json_text(row.types), ", \"sizes\": \"", name(row.sizes), "\", \"where\": \"", name(row.where),
              "\", \"device\": ", row.device.empty() ? "null" : json_text(row.device), ", \"kernel\": ", row.kernel.empty() ? "null" : json_text(row.kernel),
              ", \"reasons\": [", join(reasons, ", "), "], \"nodes\": ", row.nodes, ", ", json_cost(row.cost), "}");
}

std::string json_missing(const CoverageReport& report, const CoverageRow& row) {
  auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  return text("{\"op\": ", json_text(row.op), ", \"types\": ", json_text(row.types), ", \"reason\": ", json_text(row.reasons[0].text), ", \"now\": ",
              json_text(row.where == Where::device ? row.device : std::string(name(row.where))), ", \"nodes\": ", row.nodes, ", \"flops_share\": ",
              share(row.cost.flops, report.cost.flops), ", \"bytes_share\": ", share(row.cost.bytes, report.cost.bytes), "}");
}

template <class Range, class Write>
std::string json_list(const Range& range, Write write) {
  std::vector<std::string> out;
  for (const auto& element : range) out.push_back("\n    " + write(element));
  return text("[", join(out, ","), "]");
}

}  // namespace

CoverageReport summarise(std::string model, const Coverage& coverage, const Devices& devices, Bindings assumed) {
  CoverageReport out;
  out.model = std::move(model);
  out.devices = names_of(devices);
  out.nodes = coverage.nodes.size();
  out.copies = coverage.copies;
  out.assumed = std::move(assumed);
  RowTable table;
  for (const NodeCoverage& node : coverage.nodes) {
    out.nowhere += node.where == Where::nowhere;
    out.later += node.where == Where::later;
    out.cost += node.cost;
    table.add({node.op, node.types, node.sizes, node.where, node.device, node.kernel, node.reasons, 1, node.cost});
    if (node.where == Where::planning) continue;
    std::string where = node.where == Where::device ? node.device : std::string(name(node.where));
    if (out.partitions.empty() || out.partitions.back().where != where) out.partitions.push_back({where, node.name.empty() ? node.op : node.name, 0, {}});
    ++out.partitions.back().nodes;
    out.partitions.back().cost += node.cost;
  }
  out.rows = std::move(table).take();
  return out;
}

CoverageReport total(std::span<const CoverageReport> reports, const Devices& devices) {
  CoverageReport out;
  out.devices = names_of(devices);
  out.model = text("all ", reports.size());
  RowTable table;
  for (const CoverageReport& report : reports) {
    out.nodes += report.nodes;
    out.nowhere += report.nowhere;
    out.later += report.later;
    out.cost += report.cost;
    out.copies += report.copies;
    for (const CoverageRow& row : report.rows) table.add(row);
    out.partitions.insert(out.partitions.end(), report.partitions.begin(), report.partitions.end());
  }
  out.rows = std::move(table).take();
  return out;
}

std::string to_text(const CoverageReport& report) {
  std::vector<std::string> assumed;
  for (const Binding& binding : report.assumed) assumed.push_back(text(printable(binding.symbol), "=", binding.value));
  return text(printable(report.model), "\n", table(report), missing_text(report), "work        ", with_unit(report.cost.flops, "FLOP"), ", ",
              with_unit(report.cost.bytes, "byte"), "\n", partitions_text(report), "copies      ", report.copies.count, " between devices, ",
              with_unit(report.copies.bytes, "byte"), "\n", assumed.empty() ? "" : text("assumed     ", join(assumed, ", "), " (--dim says otherwise)\n"),
              verdict(report));
}

std::string to_json(const CoverageReport& report) {
  std::vector<std::string> devices, assumed;
  for (const std::string& device : report.devices) devices.push_back(json_text(device));
  for (const Binding& binding : report.assumed) assumed.push_back(text(json_text(binding.symbol), ": ", binding.value));
  auto missing_row = [&](const CoverageRow& row) { return json_missing(report, row); };
  auto partition = [](const Partition& p) {
    return text("{\"where\": ", json_text(p.where), ", \"first\": ", json_text(p.first), ", \"nodes\": ", p.nodes, ", ", json_cost(p.cost), "}");
  };
  return text("{\"model\": ", json_text(report.model), ", \"supported\": ", report.nowhere == 0, ", \"nodes\": ", report.nodes, ", \"nowhere\": ", report.nowhere,
              ", \"later\": ", report.later, ", ", json_cost(report.cost), ", \"assumed\": {", join(assumed, ", "), "},\n   \"rows\": ",
              json_list(report.rows, json_row), ",\n   \"missing\": ", json_list(missing(report), missing_row), ",\n   \"partitions\": ",
              json_list(report.partitions, partition), ",\n   \"copies\": {\"count\": ", report.copies.count, ", \"bytes\": ", fixed(report.copies.bytes, 0), "}}");
}

}  // namespace infini::cli
