// What the families that compute in f32 offer, for regions of f16 and bf16: operands are widened, the results rounded once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/cast.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// The families that have arithmetic in f32 alone. The others serve f16 and bf16 themselves, or, as Softmax, round in between as well.
constexpr std::array computing = {std::string_view("gemm"), std::string_view("depthwise"), std::string_view("conv"), std::string_view("conv_transpose"),
                                  std::string_view("pooling"), std::string_view("elementwise"), std::string_view("lrn"),
                                  std::string_view("normalization"), std::string_view("reduce"), std::string_view("resize")};

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// An operand of the launch that has an f32 copy in the workspace, `offset` bytes into it.
struct Copy {
  std::size_t position, offset;
  DType dtype;
  std::int64_t count;
};

struct Widened {
  Region region;
  std::vector<std::shared_ptr<Buffer>> constants;  // what the region's constants point to
  std::vector<Copy> inputs, outputs;
  std::size_t workspace = 0;  // of all copies
};

std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// The same region in f32.
Result<std::shared_ptr<const Widened>> widen(const Region& region, Device& device) {
  auto wide = std::make_shared<Widened>();
  wide->region = region;
  for (Value& value : wide->region.values) {
    if (!is_half(value.dtype)) continue;
    DType dtype = value.dtype;
    std::int64_t count = value.count();
    value.dtype = DType::f32;
    if (value.is_constant() && count > 0) {
      std::string key = text("widened:", reinterpret_cast<std::uintptr_t>(value.data), ":", name(dtype), ":", count);
      CastFunction function = cast_function(dtype, DType::f32);
      IT_TRY(std::shared_ptr<Buffer> buffer, pack_once(device, key, static_cast<std::size_t>(count), {}, [&](float* to) {
               cast_all(device.pool, function, dtype, value.data, DType::f32, reinterpret_cast<std::byte*>(to), count);
             }));
      value.data = reinterpret_cast<const std::byte*>(buffer->data());
      wide->constants.push_back(std::move(buffer));
    }
    auto copy = [&](std::vector<Copy>& copies, int position) {
      if (position < 0) return;
      copies.push_back({static_cast<std::size_t>(position), wide->workspace, dtype, count});
      wide->workspace += whole_lines(value.bytes());
    };
    if (!value.is_constant()) copy(wide->inputs, value.input);
    copy(wide->outputs, value.output);
  }
  return std::shared_ptr<const Widened>(std::move(wide));
}

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(std::shared_ptr<const Widened> wide, std::unique_ptr<Kernel> kernel) : wide_(std::move(wide)), kernel_(std::move(kernel)) {}

  Status launch(const Launch& launch) override {
    const Region& region = wide_->region;
    std::vector<const void*> inputs(launch.inputs, launch.inputs + region.inputs.size());
    std::vector<void*> outputs(launch.outputs, launch.outputs + region.outputs.size());
    std::byte* memory = static_cast<std::byte*>(launch.workspace);
    for (const Copy& copy : wide_->inputs) {
      cast_all(launch.device.pool, cast_function(copy.dtype, DType::f32), copy.dtype, launch.input<std::byte>(static_cast<int>(copy.position)),
               DType::f32, memory + copy.offset, copy.count);
      inputs[copy.position] = memory + copy.offset;
    }
    for (const Copy& copy : wide_->outputs) outputs[copy.position] = memory + copy.offset;
    IT_TRY_VOID(kernel_->launch({launch.device, inputs.data(), outputs.data(), memory + wide_->workspace}));
    for (const Copy& copy : wide_->outputs)
      cast_all(launch.device.pool, cast_function(DType::f32, copy.dtype), DType::f32, memory + copy.offset, copy.dtype,
               launch.output<std::byte>(static_cast<int>(copy.position)), copy.count);
    return {};
  }

 private:
  std::shared_ptr<const Widened> wide_;
  std::unique_ptr<Kernel> kernel_;  // goes first: it may read wide_'s constants
};

// The candidate of the f32 region, between conversions.
Candidate between_conversions(Candidate inner, const std::shared_ptr<const Widened>& wide, Device& device) {
  Candidate c;
  c.kernel = inner.kernel + "_widened";
  c.input_orders = std::move(inner.input_orders);
  c.output_orders = std::move(inner.output_orders);
  c.workspace = wide->workspace + inner.workspace;
  c.numerics = std::max(inner.numerics, IT_ROUNDING);
  double elements = static_cast<double>(wide->workspace) / sizeof(float);
  c.cost_ns = inner.cost_ns + device.cost(40 * elements, 6 * elements, 0.25);
  c.prepare = [wide, prepare = std::move(inner.prepare)](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    IT_TRY(std::unique_ptr<Kernel> kernel, prepare({}));
    return std::unique_ptr<Kernel>(std::make_unique<WidenedKernel>(wide, std::move(kernel)));
  };
  return c;
}

}  // namespace

Offers widened_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  bool any = std::any_of(region.values.begin(), region.values.end(), [](const Value& value) { return is_half(value.dtype); });
  // A conversion in the middle is there to round.
  bool rounds = std::any_of(region.nodes.begin(), region.nodes.end(), [](const Node& node) { return node.is("Cast") || node.is("CastLike"); });
  if (!any || rounds) return offers;
  IT_TRY(std::shared_ptr<const Widened> wide, widen(region, device));
  std::vector<std::string> reasons;
  for (const Family& family : families()) {
    if (std::find(computing.begin(), computing.end(), family.name) == computing.end()) continue;
    Offers inner = family.offer(wide->region, device);
    if (!inner && inner.error().kind != ErrorKind::unsupported) return inner.error();
    if (!inner) reasons.push_back(inner.error().text());
    else for (Candidate& candidate : *inner) offers.push_back(between_conversions(std::move(candidate), wide, device));
  }
  if (offers.empty() && !reasons.empty()) return unsupported(text("widened to f32: ", join(reasons, "; ")));
  return offers;
}

}  // namespace infini::cpu
