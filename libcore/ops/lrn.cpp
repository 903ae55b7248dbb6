// LRN: y = x / (bias + alpha / size * sum of the squares of `size` neighbouring channels)^beta.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  std::int64_t size = context.attributes().integer("size");
  if (size < 1) return bad_input(text("attribute 'size' is ", size, ", expected at least 1"));
  if (context.shape(0) && context.shape(0)->size() < 2) return bad_input(text("x is ", to_string(*context.shape(0)), ", expected a channel axis"));
  return infer_same(context);
}

Result<Program> meaning(const OpContext& context) {
  std::int64_t size = context.attributes().integer("size");
  auto real = [&](std::string_view name, float standard) { return static_cast<double>(context.attributes().real(name, standard)); };
  DType dtype = context.dtype(0), computed = compute_type(dtype);
  double share = real("alpha", 1e-4f) / static_cast<double>(size);
  // Beyond the channels there are zeros only.
  const Dim& channels = (*context.shape(0))[1];
  Dim before = min(Dim((size - 1) / 2), channels), after = min(Dim(size / 2), channels);
  return elementwise_meaning(context, dtype, *context.shape(0), [&](Meaning& m, const Indices& at) {
    Expr squares = m.sum(before + 1 + after, [&](Expr k) {
      Indices near = at;
      near[1] = at[1] + k - index(before);
      Expr x = wide(m.in(0)(near));
      return x * x;
    });
    Expr base = constant(computed, real("bias", 1)) + constant(computed, share) * squares;
    return cast(dtype, wide(m.in(0)(at)) / binary(Op::pow, base, constant(computed, real("beta", 0.75f))));
  });
}

constexpr std::array<int, 2> versions = {1, 13};
constexpr std::array<Param, 1> inputs = {Param{"X", dtypes::floats, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"Y", dtypes::floats, "T"}};
constexpr std::array<AttributeDef, 4> attributes = {real_attribute("alpha", 1e-4f), real_attribute("beta", 0.75f), real_attribute("bias", 1),
                                                    required_attribute("size", AttributeKind::integer)};

const std::array table = {OpDef{"LRN", "Normalised by neighbouring channels", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> lrn_ops() { return table; }

}  // namespace infini
