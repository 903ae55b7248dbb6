// What it-check coverage prints: of one model, and of all together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/exec/coverage.h"

namespace infini::cli {

// Nodes that are alike.
struct CoverageRow {
  std::string op, types;
  SizeClass sizes = SizeClass::fixed;
  Where where = Where::later;
  std::string device, kernel;
  std::vector<Reason> reasons;
  std::size_t nodes = 0;
  Cost cost;
};

// Nodes that follow each other on one device; those that are computed while planning are left out.
struct Partition {
  std::string where;            // the device, or one of "host", "later", "nowhere"
  std::string first;            // name of its first node, or that node's operator
  std::size_t nodes = 0;
  Cost cost;
};

struct CoverageReport {
  std::string model;
  std::vector<std::string> devices;  // in order of preference
  std::size_t nodes = 0;
  std::size_t nowhere = 0, later = 0;
  Cost cost;
  std::vector<CoverageRow> rows;     // most work first
  std::vector<Partition> partitions; // in the graph's order
  Copies copies;
  Bindings assumed;                  // sizes that nobody gave
};

CoverageReport summarise(std::string model, const Coverage& coverage, const Devices& devices, Bindings assumed);
// All of them as one.
CoverageReport total(std::span<const CoverageReport> reports, const Devices& devices);

std::string to_text(const CoverageReport& report);
std::string to_json(const CoverageReport& report);

}  // namespace infini::cli
