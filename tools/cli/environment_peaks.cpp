#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "libcore/base/text.h"
#include "libcore/exec/executor.h"
#include "libcore/ir/graph.h"
#include "tools/cli/devices.h"
#include "tools/cli/environment.h"

namespace infini::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double budget = 0.2;  // seconds for each peak
constexpr std::int64_t extent = 512;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The best rate of `work` within the budget, at least three times: units of one call per second.
double best_rate(double units, const std::function<void()>& work) {
  double best = 0;
  Clock::time_point start = Clock::now();
  for (int i = 0; i < 3 || seconds_since(start) < budget; ++i) {
    Clock::time_point begin = Clock::now();
    work();
    best = std::max(best, units / seconds_since(begin));
  }
  return best;
}

// A product of two square f32 matrices, the second one a constant.
Result<std::unique_ptr<Executor>> product(const Arguments& arguments) {
  IT_TRY(Backend backend, find_backend("cpu", arguments));
  IT_TRY(std::shared_ptr<Device> cpu, Device::open(backend, 0, {}));
  OpTable ops;
  GraphBuilder builder;
  GraphBuilder::NodeSpec node;
  node.op = ops.find("", "MatMul");
  IT_TRY(Tensor zeros, Tensor::zeros(DType::f32, {extent, extent}));
  node.inputs = {builder.add_input("a", zeros.type()), builder.add_constant("b", make_constant(zeros))};
  node.output_names = {"y"};
  IT_TRY(std::vector<ValueId> y, builder.add_node(std::move(node)));
  builder.add_output(y[0]);
  IT_TRY(Graph graph, std::move(builder).build());
  ExecOptions options;
  options.devices = {std::move(cpu)};
  return Executor::make(std::make_shared<const Graph>(std::move(graph)), std::move(options));
}

Result<double> measured_flops() {
  IT_TRY(std::unique_ptr<Executor> executor, product({}));
  IT_TRY(Tensor a, Tensor::zeros(DType::f32, {extent, extent}));
  std::vector<Value> inputs = {std::move(a)};
  Status status;
  double rate = best_rate(2.0 * extent * extent * extent, [&] {
    if (Result<std::vector<Value>> out = executor->run(inputs); !out) status = out.error();
  });
  if (!status) return status.error();
  return rate;
}

int usable_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Bytes read and written per second when every processor copies memory that no cache holds.
double measured_copy() {
  constexpr std::size_t most = std::size_t{512} << 20, least = std::size_t{4} << 20;
  auto threads = static_cast<std::size_t>(usable_processors());
  std::size_t bytes = std::clamp(most / (2 * threads), least, std::size_t{64} << 20);
  std::vector<double> rates(threads);
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  auto copy = [&](std::size_t thread) {
    auto from = std::make_unique<std::byte[]>(bytes), to = std::make_unique<std::byte[]>(bytes);  // both written, so the system has given the pages
    together.arrive_and_wait();
    rates[thread] = best_rate(2.0 * static_cast<double>(bytes), [&] {
      std::memcpy(to.get(), from.get(), bytes);
      asm volatile("" : : "r"(to.get()) : "memory");  // so that the copy is not left out
    });
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < threads; ++i) workers.emplace_back(copy, i);
  copy(0);
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (double rate : rates) sum += rate;
  return sum;
}

std::string giga(double rate) { return text(static_cast<double>(static_cast<std::int64_t>(rate / 1e8)) / 10); }

}  // namespace

Status measure_peaks(Environment& out) {
  IT_TRY(out.flops, measured_flops());
  out.copied_bytes = measured_copy();
  out.findings.push_back({Finding::Verdict::ok, "peaks",
                          text("measured: ", giga(out.flops), " GFLOP/s by the cpu's MatMul of ", extent, " x ", extent, " in f32, ",
                               giga(out.copied_bytes), " GB/s read and written by copies on all usable cores")});
  return {};
}

}  // namespace infini::cli
