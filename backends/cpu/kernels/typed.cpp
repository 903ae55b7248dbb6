// Elementwise nodes of every plain type that the f32 programs do not take: integers, f64, f16, bf16, comparisons, logic, Where.
#include "backends/cpu/kernels/typed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/grid.h"
#include "backends/cpu/kernels/program.h"
#include "backends/cpu/kernels/strided.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// A division by zero gives 0.
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
    else return a - b;
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) return a / b;
    else if (b == 0) return T{0};
    else if constexpr (std::is_signed_v<T>) return b == T{-1} ? Sub{}(T{0}, a) : static_cast<T>(a / b);
    else return static_cast<T>(a / b);
  }
};
// The remainder with the sign of b (ONNX Mod, fmod = 0).
struct Mod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) return std::fmod(a, b);
    else if (b == 0) return T{0};
    else if constexpr (std::is_signed_v<T>) {
      if (b == T{-1}) return T{0};
      T r = static_cast<T>(a % b);
      return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    } else return static_cast<T>(a % b);
  }
};
struct Fmod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) return std::fmod(a, b);
    else return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? T{0} : static_cast<T>(a % b);
  }
};
struct Equal {
  template <class T>
  bool operator()(T a, T b) const { return a == b; }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const { return a < b; }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const { return a <= b; }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const { return a > b; }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const { return a >= b; }
};
struct And {
  template <class T>
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};
struct Not {
  bool operator()(bool a) const { return !a; }
  template <class T>
  T operator()(T a) const { return static_cast<T>(~a); }
};
struct Neg {
  template <class T>
  T operator()(T a) const { return std::is_integral_v<T> ? Sub{}(T{0}, a) : static_cast<T>(-a); }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (!std::is_integral_v<T>) return std::abs(a);
    else return std::is_signed_v<T> && a < T{0} ? Sub{}(T{0}, a) : a;
  }
};
struct Sign {
  template <class T>
  T operator()(T a) const { return a > T{0} ? T{1} : std::is_signed_v<T> && a < T{0} ? static_cast<T>(-1) : a; }
};
struct Relu {
  template <class T>
  T operator()(T a) const { return a < T{0} ? T{0} : a; }
};
struct IsNan {
  template <class T>
  bool operator()(T a) const { return std::isnan(a); }
};
struct Exp {
  template <class T>
  T operator()(T a) const { return std::exp(a); }
};
struct Log {
  template <class T>
  T operator()(T a) const { return std::log(a); }
};
struct Sqrt {
  template <class T>
  T operator()(T a) const { return std::sqrt(a); }
};
struct Floor {
  template <class T>
  T operator()(T a) const { return std::floor(a); }
};
struct Ceil {
  template <class T>
  T operator()(T a) const { return std::ceil(a); }
};
struct Round {
  template <class T>
  T operator()(T a) const { return std::nearbyint(a); }
};
struct Tanh {
  template <class T>
  T operator()(T a) const { return std::tanh(a); }
};
struct Erf {
  template <class T>
  T operator()(T a) const { return std::erf(a); }
};
struct Sigmoid {
  template <class T>
  T operator()(T a) const {
    T z = std::exp(-std::abs(a));
    return a >= T{0} ? T{1} / (T{1} + z) : z / (T{1} + z);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const { return T{1} / a; }
};

template <class F>
RowFunction arithmetic(DType dtype) {
  return with_number<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return binary_row<T, T, F>; });
}
template <class F>
RowFunction comparison(DType dtype) {
  if (dtype == DType::boolean) return binary_row<Bool, Bool, F>;
  return with_number<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return binary_row<T, Bool, F>; });
}
template <class F>
RowFunction bitwise(DType dtype) {
  return with_integer<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return binary_row<T, T, F>; });
}
template <class F>
RowFunction logical(DType dtype) {
  return dtype == DType::boolean ? binary_row<Bool, Bool, F> : nullptr;
}
template <class F>
RowFunction number(DType dtype) {
  return with_number<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return unary_row<T, T, F>; });
}
template <class F>
RowFunction real(DType dtype) {
  return with_float<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return unary_row<T, T, F>; });
}
RowFunction is_nan(DType dtype) {
  return with_float<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return unary_row<T, Bool, IsNan>; });
}
RowFunction inverted(DType dtype) { return dtype == DType::boolean ? unary_row<Bool, Bool, Not> : nullptr; }
RowFunction bits_inverted(DType dtype) {
  return with_integer<RowFunction>(dtype, nullptr, []<class T>() -> RowFunction { return unary_row<T, T, Not>; });
}

struct Row {
  std::string_view op;
  int arity;
  RowFunction (*of)(DType);
};
constexpr Row table[] = {
    {"Add", 2, arithmetic<Add>},          {"Sub", 2, arithmetic<Sub>},           {"Mul", 2, arithmetic<Mul>},        {"Div", 2, arithmetic<Div>},
    {"Max", 2, arithmetic<Max>},          {"Min", 2, arithmetic<Min>},           {"Mod", 2, arithmetic<Mod>},        {"Equal", 2, comparison<Equal>},
    {"Less", 2, comparison<Less>},        {"LessOrEqual", 2, comparison<LessOrEqual>}, {"Greater", 2, comparison<Greater>},
    {"GreaterOrEqual", 2, comparison<GreaterOrEqual>}, {"And", 2, logical<And>}, {"Or", 2, logical<Or>},             {"Xor", 2, logical<Xor>},
    {"BitwiseAnd", 2, bitwise<And>},      {"BitwiseOr", 2, bitwise<Or>},         {"BitwiseXor", 2, bitwise<Xor>},    {"BitwiseNot", 1, bits_inverted},
    {"Not", 1, inverted},                 {"Neg", 1, number<Neg>},               {"Abs", 1, number<Abs>},            {"Sign", 1, number<Sign>},
    {"Relu", 1, number<Relu>},            {"IsNaN", 1, is_nan},                  {"Exp", 1, real<Exp>},              {"Log", 1, real<Log>},
    {"Sqrt", 1, real<Sqrt>},              {"Floor", 1, real<Floor>},             {"Ceil", 1, real<Ceil>},            {"Round", 1, real<Round>},
    {"Tanh", 1, real<Tanh>},              {"Erf", 1, real<Erf>},                 {"Sigmoid", 1, real<Sigmoid>},      {"Reciprocal", 1, real<Reciprocal>},
};

RowFunction function_of(const Node& node, DType dtype) {
  if (node.is("Mod") && node.integer("fmod", 0) != 0) return arithmetic<Fmod>(dtype);
  if (node.is("Mod") && is_floating(dtype)) return nullptr;
  for (const Row& row : table)
    if (row.op == node.op()) return static_cast<int>(node.inputs.size()) == row.arity ? row.of(dtype) : nullptr;
  return nullptr;
}

bool is_mine(const Node& node) {
  for (const Row& row : table)
    if (node.is(row.op)) return true;
  return node.is("Where");
}

template <class T>
void where_row(const std::byte* condition, std::int64_t c_step, const std::byte* a, std::int64_t a_step, const std::byte* b, std::int64_t b_step, std::byte* y,
               std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(y + i * Stored<T>::size, condition[i * c_step] != std::byte{0} ? a + i * a_step * Stored<T>::size : b + i * b_step * Stored<T>::size, Stored<T>::size);
}
using WhereFunction = decltype(&where_row<float>);

WhereFunction where_of(std::size_t width) {
  switch (width) {
    case 1: return where_row<std::uint8_t>;
    case 2: return where_row<std::uint16_t>;
    case 4: return where_row<std::uint32_t>;
    case 8: return where_row<std::uint64_t>;
    default: return nullptr;
  }
}

constexpr std::int64_t block = 4096;

struct Typed {
  std::vector<RawOperand> operands;
  std::vector<std::int64_t> widths;  // bytes of an element
  std::int64_t width = 0;            // of the result
  Grid grid;
  RowFunction row = nullptr;
  WhereFunction where = nullptr;
  int output = 0;
};

Status run(const Typed& t, const Launch& launch) {
  const std::byte* data[3] = {};
  for (std::size_t i = 0; i < t.operands.size(); ++i) data[i] = t.operands[i].at(launch);
  std::byte* y = launch.output<std::byte>(t.output);
  for_blocks(launch.device.pool, t.grid, block, block, [&](const GridBlock& b, int) {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      const std::byte* from[3] = {};
      std::int64_t step[3] = {};
      for (std::size_t i = 0; i < t.operands.size(); ++i) {
        from[i] = data[i] + (b.offsets[i] + r * t.grid.row_stride(i)) * t.widths[i];
        step[i] = t.grid.column_stride(i);
      }
      std::byte* to = y + (b.result + r * t.grid.columns()) * t.width;
      if (t.where) t.where(from[0], step[0], from[1], step[1], from[2], step[2], to, b.columns);
      else t.row(from[0], step[0], from[1], step[1], to, b.columns);
    }
  });
  return {};
}

Result<Candidate> candidate(const Region& region, Device& device, const Order& order) {
  const Node& node = region.nodes[0];
  const Value *first = region.input(node, node.is("Where") ? 1 : 0), *y = region.output(node, 0);
  if (!first || !y) return unsupported(text(node.op(), " with an operand left out"));
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<RawOperand> operands;
  std::vector<std::int64_t> widths;
  Candidate c;
  c.input_orders.resize(region.inputs.size());
  double bytes = static_cast<double>(y->bytes());
  for (int input : node.inputs) {
    if (input < 0) return unsupported(text(node.op(), " with an operand left out"));
    const Value& value = region.values[static_cast<std::size_t>(input)];
    // A constant stays row-major where it lies.
    Order own = value.rank() == y->rank() && !value.is_constant() ? order : Order{};
    if (value.rank() > y->rank()) return unsupported(text(node.op(), " with an operand of higher rank than its result"));
    strides.push_back(broadcast_strides(value.extents, own, y->extents));
    operands.push_back(RawOperand::of(value));
    widths.push_back(static_cast<std::int64_t>(element_bytes(value.dtype)));
    bytes += static_cast<double>(value.bytes());
    if (value.input >= 0) c.input_orders[static_cast<std::size_t>(value.input)] = own;
  }
  Typed t{std::move(operands), std::move(widths), static_cast<std::int64_t>(element_bytes(y->dtype)), Grid(y->extents, order, strides), nullptr, nullptr, y->output};
  if (node.is("Where")) t.where = node.inputs.size() == 3 ? where_of(element_bytes(first->dtype)) : nullptr;
  else t.row = function_of(node, first->dtype);
  if (!t.where && !t.row) return unsupported(text(node.op(), " of ", node.inputs.size(), " operands of ", infini::name(first->dtype)));
  c.kernel = text("typed_", infini::name(first->dtype), order.empty() ? "" : "_nhwc");
  c.numerics = is_floating(first->dtype) && first->dtype != DType::f32 ? IT_ROUNDING : IT_EXACT;
  c.output_orders = {order};
  c.cost_ns = std::max(device.cost(0, bytes), 700.0 + 2.0 * static_cast<double>(y->count()) / device.pool.threads());
  c.prepare = [t](std::span<const float>) -> Result<std::unique_ptr<Kernel>> { return kernel_of([t](const Launch& launch) { return run(t, launch); }); };
  return c;
}

}  // namespace

Offers typed_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !is_mine(*node)) return offers;
  const Value *first = region.input(*node, 0), *y = region.output(*node, 0);
  bool program = is_elementwise(*node) && first && first->dtype == DType::f32;
  if (program) return offers;  // the elementwise family's
  for (int input : node->inputs)
    if (input >= 0 && !can_move(region.values[static_cast<std::size_t>(input)].dtype))
      return unsupported(text(node->op(), " of ", infini::name(region.values[static_cast<std::size_t>(input)].dtype)));
  IT_TRY(Candidate plain, candidate(region, device, {}));
  offers.push_back(std::move(plain));
  Order last = y ? channels_last(y->rank()) : Order{};
  if (last.empty()) return offers;
  if (Result<Candidate> other = candidate(region, device, last)) offers.push_back(std::move(*other));
  return offers;
}

}  // namespace infini::cpu
