// Regions built by hand for the CPU backend, run by every candidate and compared with double-precision expectations.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "libcore/plugin/it_backend.h"
#include "libcore/tensor/dtype.h"

extern "C" const it_backend* it_cpu_backend_query(std::uint32_t max_abi);

namespace cpu_test {

using Extents = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

inline std::int64_t count(const Extents& extents) {
  std::int64_t product = 1;
  for (std::int64_t e : extents) product *= e;
  return product;
}

// An open device with the options given as "threads=2 isa=avx2"; handle is null if the processor lacks the instruction set.
class Device {
 public:
  explicit Device(const std::string& options);
  ~Device() { if (handle) table->close(handle); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  const it_backend* table = it_cpu_backend_query(IT_ABI);
  it_device* handle = nullptr;
  std::string error;
};

struct Attribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>> value;
};

// A candidate as the device offered it.
struct Offered {
  std::int32_t id;
  std::string kernel;
  std::vector<std::vector<std::int32_t>> input_orders, output_orders;
  std::size_t workspace, packed;
  std::vector<it_in_place> in_place;
};

// One region under construction. Values hold doubles and become elements of their type when the region is run.
class Case {
 public:
  // Values; each returns its number. An input's and a constant's numbers are row-major.
  int input(const Extents& extents, const Doubles& numbers, infini::DType dtype = infini::DType::f32);
  int constant(const Extents& extents, const Doubles& numbers, infini::DType dtype = infini::DType::f32);
  int value(const Extents& extents, infini::DType dtype = infini::DType::f32);
  void node(const std::string& op, std::vector<int> inputs, std::vector<int> outputs, std::vector<Attribute> attributes = {});
  void output(int value) { outputs_.push_back(value); }
  // Puts all nodes so far into the body of one infini.fused node.
  void fuse() { fused_ = true; }

  // What the device offers; empty with the reason if nothing.
  std::vector<Offered> offers(Device& device, std::string* reason = nullptr);
  // Row-major results of one candidate, or an error. in_place: operands that may share memory do.
  std::vector<Doubles> run(Device& device, const Offered& offered, std::string* error = nullptr, bool in_place = false);

 private:
  struct Value {
    Extents extents;
    infini::DType dtype;
    std::vector<std::byte> bytes;  // one byte in front, so that constants are unaligned
    bool constant = false;
  };
  const it_region* region();
  it_status launch(Device& device, const Offered& offered, it_kernel* kernel, bool in_place, std::vector<Doubles>& results, it_message message);
  const it_region* level(const std::vector<int>& inputs, std::vector<it_node> nodes, bool hide_constants);
  std::vector<it_node> raw_nodes();

  struct NodeText {
    std::string op;
    std::vector<int> inputs, outputs;
    std::vector<Attribute> attributes;
  };
  std::deque<Value> values_;
  std::deque<NodeText> nodes_;
  std::vector<int> inputs_, outputs_;
  bool fused_ = false;
  // Storage of the C records.
  std::deque<std::vector<it_value>> raw_values_;
  std::deque<std::vector<it_node>> raw_node_lists_;
  std::deque<std::vector<it_attribute>> raw_attributes_;
  std::deque<it_region> regions_;
  std::deque<std::vector<int>> lists_;
};

// Numbers in [-1, 1) that a float holds exactly, the same for the same seed.
Doubles noise(std::int64_t count, unsigned seed);
// ||a - b|| / ||b||; NaN and infinities must match, else it is infinite.
double relative_l2(const Doubles& actual, const Doubles& expected);

// Runs every candidate on every instruction set with one and two threads and checks that each result is within `limit`.
void check_all(Case& c, const std::vector<Doubles>& expected, double limit = 1e-6, const char* note = "");
// The same for results that must be the very numbers.
inline void check_exact(Case& c, const std::vector<Doubles>& expected, const char* note = "") { check_all(c, expected, 0, note); }

}  // namespace cpu_test
