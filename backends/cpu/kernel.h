// What a kernel family is to the backend: it looks at a region and offers ways to run it; a way, once prepared, is launched.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/cpu/device.h"
#include "backends/cpu/region.h"
#include "libcore/base/result.h"

namespace infini::cpu {

// The memory of one launch, in the order of the region's inputs and outputs.
struct Launch {
  Device& device;
  const void* const* inputs;
  void* const* outputs;
  void* workspace;

  template <class T>
  const T* input(int position) const { return static_cast<const T*>(inputs[position]); }
  template <class T>
  T* output(int position) const { return static_cast<T*>(outputs[position]); }
};

// A prepared kernel.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // run_failed with what was found and what was expected, for operands that only a launch can judge.
  virtual Status launch(const Launch& launch) = 0;
  // The packed constants, for export; empty if there are none.
  virtual std::span<const float> packed() const { return {}; }
};

// One way to run a region.
struct Candidate {
  std::string kernel;
  std::vector<Order> input_orders, output_orders;  // one per region input and output; empty: all row-major
  std::size_t workspace = 0;                       // bytes
  std::size_t packed = 0;                          // bytes
  std::vector<it_in_place> in_place;
  it_numerics numerics = IT_ROUNDING;
  double cost_ns = 0;
  // packed: what the same candidate's packed() held earlier, or empty.
  std::function<Result<std::unique_ptr<Kernel>>(std::span<const float> packed)> prepare;
};

// An error is the reason why a family cannot run a region that is of its kind; an empty list: not of its kind.
using Offers = Result<std::vector<Candidate>>;

struct Family {
  const char* name;
  // The region outlives the call of offer and prepare, not more; only the bytes of constants live as long as the kernel.
  Offers (*offer)(const Region& region, Device& device);
};

// A kernel that is nothing but a function of Launch.
template <class Function>
std::unique_ptr<Kernel> kernel_of(Function function) {
  struct Held final : Kernel {
    explicit Held(Function f) : function(std::move(f)) {}
    Status launch(const Launch& launch) override { return function(launch); }
    Function function;
  };
  return std::make_unique<Held>(std::move(function));
}

// An operand as bytes: an input of the launch, or a constant where it lies (perhaps unaligned).
struct RawOperand {
  int input = -1;
  const std::byte* data = nullptr;

  static RawOperand of(const Value& value) { return {value.is_constant() ? -1 : value.input, value.data}; }
  const std::byte* at(const Launch& launch) const { return input >= 0 ? launch.input<std::byte>(input) : data; }
};

// The constant packed under `key` (its address and all that decides how it is packed): from the device's store, copied from `kept` if that
// has the size, or made by fill(floats). run_failed without memory.
Result<std::shared_ptr<Buffer>> pack_once(Device& device, const std::string& key, std::size_t floats, std::span<const float> kept,
                                          const std::function<void(float*)>& fill);

// Every family, in order of preference (kernels.def).
std::span<const Family> families();

}  // namespace infini::cpu
