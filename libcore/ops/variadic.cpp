// Elementwise operators of any number of tensors, with NumPy broadcasting.
#include <array>

#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  if (context.input_count() == 0) return bad_input("has no input, expected at least one");
  return infer_broadcast(context);
}

// Inputs joined by `step` from the left; `mean`: divided by their number.
template <Op step, bool mean = false>
Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::optional<Shape> shape, broadcast_inputs(context));
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, *shape, [&](Meaning& m, const Indices& at) {
    Expr all = wide(m.in(0).broadcast(at));
    for (std::size_t i = 1; i < context.input_count(); ++i) all = binary(step, all, wide(m.in(i).broadcast(at)));
    if (mean) all = all / constant(all.dtype(), static_cast<double>(context.input_count()));
    return cast(dtype, all);
  });
}

constexpr std::array<Param, 1> numeric_in = {Param{"data_0", dtypes::numeric, "T", Arity::variadic}};
constexpr std::array<Param, 1> float_in = {Param{"data_0", dtypes::floats, "T", Arity::variadic}};
constexpr std::array<Param, 1> max_out = {Param{"max", dtypes::numeric, "T"}};
constexpr std::array<Param, 1> min_out = {Param{"min", dtypes::numeric, "T"}};
constexpr std::array<Param, 1> mean_out = {Param{"mean", dtypes::floats, "T"}};
constexpr std::array<Param, 1> sum_out = {Param{"sum", dtypes::floats, "T"}};
constexpr std::array<int, 5> v_1_6_8_12_13 = {1, 6, 8, 12, 13};
constexpr std::array<int, 4> v_1_6_8_13 = {1, 6, 8, 13};

const std::array table = {
    OpDef{"Max", "Largest of the inputs; NaN if one is NaN", v_1_6_8_12_13, numeric_in, max_out, {}, infer, meaning<Op::maximum>},
    OpDef{"Mean", "Mean of the inputs", v_1_6_8_13, float_in, mean_out, {}, infer, meaning<Op::add, true>},
    OpDef{"Min", "Smallest of the inputs; NaN if one is NaN", v_1_6_8_12_13, numeric_in, min_out, {}, infer, meaning<Op::minimum>},
    OpDef{"Sum", "Sum of the inputs", v_1_6_8_13, float_in, sum_out, {}, infer, meaning<Op::add>},
};

}  // namespace

std::span<const OpDef> variadic_ops() { return table; }

}  // namespace infini
