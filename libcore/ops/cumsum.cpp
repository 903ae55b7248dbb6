// CumSum: running sums along one axis, from either end, with or without the element itself.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

constexpr std::int64_t block = 64;  // elements are summed in blocks, so that an axis of n costs n * 64 + (n / 64)^2 and not n^2

Result<std::vector<Type>> infer(const OpContext& context) {
  if (context.shape(1)) {
    std::optional<std::int64_t> count = element_count(*context.shape(1)).constant();
    if (context.shape(1)->size() > 1 || (count && *count != 1)) return bad_input(text("axis is ", to_string(*context.shape(1)), ", expected a single number"));
  }
  std::optional<std::vector<std::int64_t>> axis = context.ints(1);
  if (axis && axis->size() == 1 && context.shape(0)) IT_TRY_VOID(normalise_axis(axis->front(), context.shape(0)->size()));
  return infer_same(context);
}

Result<Program> meaning(const OpContext& context) {
  std::optional<std::vector<std::int64_t>> named = context.ints(1);
  if (!named || named->size() != 1) return unsupported("CumSum: the value of input 'axis' is not known");
  const Shape& x = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(named->front(), x.size()));
  bool reverse = context.attributes().integer("reverse") != 0, exclusive = context.attributes().integer("exclusive") != 0;
  DType dtype = context.dtype(0), computed = is_floating(dtype) ? DType::f64 : dtype;
  Shape blocks = x;
  blocks[axis] = ceil_div(x[axis], Dim(block));
  auto along = [axis](Indices at, Expr position) {
    at[axis] = std::move(position);
    return at;
  };
  Meaning m(context);
  // Element `position` in the order of summation, 0 outside.
  auto element = [&](const Indices& at, Expr position) {
    return cast(computed, m.in(0)(along(at, reverse ? index(x[axis] - Dim(1)) - position : position)));
  };
  TensorRef sums = m.define(computed, blocks, [&](const Indices& at) {
    return m.sum(Dim(block), [&](Expr k) { return element(at, at[axis] * index(block) + k); });
  });
  TensorRef before = m.define(computed, blocks, [&](const Indices& at) {
    return m.sum(blocks[axis], [&](Expr b) { return sums(along(at, at[axis] - index(1) - b)); });
  });
  m.output(m.define(dtype, x, [&](const Indices& at) {
    Expr position = reverse ? index(x[axis] - Dim(1)) - at[axis] : at[axis];
    Expr start = floor_div(position, index(block)), rest = floor_mod(position, index(block));
    Expr own = m.sum(Dim(block), [&](Expr k) {
      Expr counts = exclusive ? less(k, rest) : less_equal(k, rest);
      return select(counts, element(at, start * index(block) + k), constant(computed, 0));
    });
    return cast(dtype, before(along(at, start)) + own);
  }));
  return std::move(m).finish();
}

constexpr DTypeSet types = dtypes::floats | DType::i32 | DType::i64 | DType::u32 | DType::u64;
constexpr std::array<int, 2> versions = {11, 14};
constexpr std::array<Param, 2> inputs = {Param{"x", types, "T"}, Param{"axis", dtypes::index_types}};
constexpr std::array<Param, 1> outputs = {Param{"y", types, "T"}};
constexpr std::array<AttributeDef, 2> attributes = {int_attribute("exclusive", 0), int_attribute("reverse", 0)};
constexpr std::array<int, 1> axis_input = {1};

const std::array table = {OpDef{.name = "CumSum", .summary = "Running sums along one axis", .versions = versions, .inputs = inputs, .outputs = outputs,
                                .attributes = attributes, .infer = infer, .meaning = meaning, .value_inputs = axis_input}};

}  // namespace

std::span<const OpDef> cumsum_ops() { return table; }

}  // namespace infini
