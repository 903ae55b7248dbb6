// What `it-check env` finds out about a machine, in parts that can be told apart; check_environment.cpp puts them together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "tools/cli/options.h"

namespace infini::cli {

// One line: what was looked at, what was found, and, if that is not as it should be, what to type or install.
struct Finding {
  enum class Verdict : std::uint8_t { ok, warn, fail };
  Verdict verdict = Verdict::ok;
  std::string subject, detail;
  std::string cure = {};  // of every warn and fail
};

// How a device did on a question whose answer was worked out by hand.
struct KnownAnswer {
  enum class Verdict : std::uint8_t { right, wrong, failed, not_taken };
  std::string device, family;
  Verdict verdict = Verdict::right;
  std::string detail = {};  // of a wrong or failed one
};

using Facts = std::map<std::string, std::string>;

// A fact in which this machine is not as the file of --expect-env says; here "nothing": there is no such fact.
struct FactDifference {
  std::string key, here, expected;
};

struct Environment {
  std::vector<Finding> findings;
  Facts facts;  // the compatibility matrix: the same on every run
  std::vector<KnownAnswer> answers;
  std::vector<FactDifference> differences;
  double flops = 0, copied_bytes = 0;  // measured, per second; 0: not measured
  double seconds = 0;                  // that all of it took

  bool fit() const;  // nothing failed
};

// ---- what is found out; each adds findings and facts -----------------------------------------------------------------------------------------

// Version, commit, compiler.
void look_at_build(Environment& out);
// The shared libraries: as built against and as loaded. Links none of them itself.
void look_at_libraries(Environment& out);
// The protobuf runtime's own opinion of the version it is asked for.
void look_at_protobuf(Environment& out);
// Processor, cores, memory, limits, disk.
void look_at_machine(Environment& out);
// Each backend: its facts, its devices, a known answer per family.
Status look_at_devices(const Arguments& arguments, Environment& out);
// --provider-modules.
void look_at_providers(const Arguments& arguments, Environment& out);
// What the cpu device reaches, and the memory behind it: about half a second.
Status measure_peaks(Environment& out);

// ---- how it is told ----------------------------------------------------------------------------------------------------------------------------

std::string env_text(const Environment& environment);
std::string env_json(const Environment& environment);
std::string env_yaml(const Environment& environment);
// What --emit=yaml wrote. bad_input: the file is no flat map of texts, or too large.
Result<Facts> read_matrix(const std::string& path);
// Where facts are not as expected; what is not expected is not compared.
std::vector<FactDifference> compare_facts(const Facts& facts, const Facts& expected);

}  // namespace infini::cli
