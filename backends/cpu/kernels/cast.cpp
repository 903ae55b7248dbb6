// Cast between the plain types: f32, f64, f16, bf16, integers, bool. Each element is rounded once; integers wrap around.
#include "backends/cpu/kernels/cast.h"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "backends/cpu/kernels/typed.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

template <class To, class Number>
void store_number(std::byte* place, Number value) {
  if constexpr (std::is_same_v<To, Bool>) Stored<Bool>::store(place, value != Number{0});
  else if constexpr (std::is_same_v<To, F16>) Stored<std::uint16_t>::store(place, static_cast<std::uint16_t>(encode_float(DType::f16, static_cast<double>(value))));
  else if constexpr (std::is_same_v<To, BF16>) Stored<std::uint16_t>::store(place, static_cast<std::uint16_t>(encode_float(DType::bf16, static_cast<double>(value))));
  else if constexpr (std::is_floating_point_v<To> || std::is_integral_v<Number>) Stored<To>::store(place, static_cast<To>(value));
  else if constexpr (std::is_same_v<To, std::uint64_t>) Stored<To>::store(place, truncate_to_u64(static_cast<double>(value)));
  else Stored<To>::store(place, static_cast<To>(truncate_to_int(static_cast<double>(value))));
}

template <class From, class To>
void cast_row(const std::byte* from, std::byte* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) store_number<To>(to + i * Stored<To>::size, Stored<From>::load(from + i * Stored<From>::size));
}

template <class F>
CastFunction with_plain(DType dtype, F f) {
  if (dtype == DType::boolean) return f.template operator()<Bool>();
  return with_number<CastFunction>(dtype, nullptr, f);
}

}  // namespace

CastFunction cast_function(DType from, DType to) {
  return with_plain(from, [to]<class From>() -> CastFunction {
    return with_plain(to, []<class To>() -> CastFunction { return cast_row<From, To>; });
  });
}

void cast_all(Pool& pool, CastFunction function, DType from_type, const std::byte* from, DType to_type, std::byte* to, std::int64_t n) {
  constexpr std::int64_t grain = 16384;
  std::int64_t in = static_cast<std::int64_t>(element_bytes(from_type)), out = static_cast<std::int64_t>(element_bytes(to_type));
  pool.run((n + grain - 1) / grain, [&](std::int64_t chunk, int) {
    function(from + chunk * grain * in, to + chunk * grain * out, std::min(grain, n - chunk * grain));
  });
}

Offers cast_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("Cast") || node->is("CastLike"))) return offers;
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y) return unsupported("Cast with an operand left out");
  CastFunction function = cast_function(x->dtype, y->dtype);
  if (!function) return unsupported(text("Cast from ", infini::name(x->dtype), " to ", infini::name(y->dtype)));
  RawOperand from = RawOperand::of(*x);
  int to = y->output;
  std::int64_t total = y->count();
  auto run = [=, from_type = x->dtype, to_type = y->dtype](const Launch& launch) -> Status {
    cast_all(launch.device.pool, function, from_type, from.at(launch), to_type, launch.output<std::byte>(to), total);
    return {};
  };
  for (const Order& order : {Order{}, x->is_constant() ? Order{} : channels_last(x->rank())}) {
    if (!offers.empty() && order.empty()) break;
    Candidate c;
    c.kernel = order.empty() ? "cast" : "cast_nhwc";
    c.numerics = IT_EXACT;
    for (int input : region.inputs) c.input_orders.push_back(input == node->inputs[0] ? order : Order{});
    c.output_orders = {order};
    c.cost_ns = std::max(device.cost(0, static_cast<double>(x->bytes() + y->bytes())), 700.0 + 2.0 * static_cast<double>(total) / device.pool.threads());
    c.prepare = [run](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of(run); };
    offers.push_back(std::move(c));
  }
  return offers;
}

}  // namespace infini::cpu
