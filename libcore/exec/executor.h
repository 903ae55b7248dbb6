// Runs graphs: binds inputs, makes and keeps plans per shapes, executes them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcore/exec/memory.h"
#include "libcore/exec/planner.h"
#include "libcore/tensor/tensor.h"

namespace infini {

// By value: the position of the last node that reads it, bodies included; SIZE_MAX: nobody does.
std::vector<std::size_t> last_uses(const Graph& graph);
// Adds the numbers that symbols standing alone in `declared` have in `given`, which is exact; a symbol's first number counts.
void bind_symbols(const Type& declared, const Type& given, Bindings& bindings);

// Something that ran: a kernel, a conversion between layouts or devices, or a node on the host.
struct StepEvent {
  const Graph& graph;
  const Node& node;
  std::string_view kind;    // "kernel", "reorder", "transfer", "host"
  std::string_view kernel;
  std::string_view device;
  double ns = 0;
};

struct ExecOptions {
  Devices devices;
  it_numerics cap = IT_ROUNDING;
  std::vector<std::string> observe;                     // further values to keep, by name
  std::function<void(const StepEvent&)> on_step;        // timing of every step costs two clock reads; null: none
  std::function<void(const Graph&, const Planned&)> on_refusals;  // nodes went past the first device; once per plan
};

class Executor {
 public:
  // Loads constants (maps or reads them). bad_input: a payload is absent or its file changed.
  static Result<std::unique_ptr<Executor>> make(std::shared_ptr<const Graph> graph, ExecOptions options);
  ~Executor();

  // `inputs` in the order of graph.inputs() (then captures, for a body). Returns the outputs, then the observed values.
  // bad_input: types or shapes do not fit; unsupported: grouped report; run_failed.
  Result<std::vector<Value>> run(std::span<const Value> inputs);

  const Graph& graph() const { return *graph_; }
  // Bytes of the arenas and packed constants so far.
  std::size_t arena_bytes() const;
  // Every plan made so far.
  std::vector<const Plan*> plans() const;

 private:
  struct Liveness;
  Executor(std::shared_ptr<const Graph> graph, ExecOptions options);
  Status adopt(std::shared_ptr<const Graph> graph);
  Status load_constants();
  Status bind(std::span<const Value> inputs);
  // The plan from `position` on for what is there now; null if the graph had bodies inlined and all must begin again.
  Result<const Plan*> plan_at(std::size_t position);
  Result<std::unique_ptr<Plan>> make_plan_at(std::size_t position, std::span<const ValueId> forced);
  std::string plan_key(std::size_t position, std::span<const ValueId> forced) const;
  Status execute(const Plan& plan);
  Result<std::vector<std::byte*>> pointers(const Plan& plan, std::vector<std::shared_ptr<DeviceMemory>>& owners);
  Status execute_step(const Plan& plan, const Step& step, std::span<std::byte* const> at);
  // Moves a value from one device's memory to another's.
  Status transfer(const Place& source, const Place& target, const std::byte* from, std::byte* to) const;
  Status keep(const Plan& plan, ValueId value, int place, std::span<std::byte* const> at, std::span<const std::shared_ptr<DeviceMemory>> owners);
  Status run_on_host(const Node& node);
  Result<std::vector<Value>> run_body(const Body& body, std::span<const Value> arguments);
  void forget_dead(std::size_t position);
  Result<std::vector<Value>> results() const;

  std::shared_ptr<const Graph> graph_;
  ExecOptions options_;
  std::unique_ptr<Liveness> live_;
  ExecMemory memory_;
  std::map<std::string, std::unique_ptr<Plan>> plans_;
  std::map<const Graph*, std::unique_ptr<Executor>> bodies_;
  std::vector<std::optional<Tensor>> constants_;   // by value
  std::vector<std::optional<Value>> state_;        // by value, while running
  std::vector<std::optional<Type>> state_types_;   // by value
};

}  // namespace infini
