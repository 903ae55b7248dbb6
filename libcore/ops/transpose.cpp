// Transpose: y[i_perm...] = x[i...].
#include <algorithm>
#include <array>
#include <numeric>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<std::size_t>> permutation(const OpContext& context) {
  std::size_t rank = context.shape(0)->size();
  std::vector<std::size_t> perm(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (!context.attributes().has("perm")) return perm;
  std::vector<std::int64_t> given = context.attributes().integers("perm");
  if (given.size() != rank) return bad_input(text("perm [", join(given, ","), "] has ", given.size(), " axes, the input ", to_string(*context.shape(0)), " has ", rank));
  if (std::any_of(given.begin(), given.end(), [](std::int64_t axis) { return axis < 0; })) {
    return bad_input(text("perm [", join(given, ","), "] holds a negative axis, expected each of 0 to ", rank - 1, " once"));
  }
  IT_TRY(std::vector<std::size_t> sorted, normalise_axes(given, rank));
  perm.assign(given.begin(), given.end());
  return perm;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0)) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::vector<std::size_t> perm, permutation(context));
  Shape out;
  for (std::size_t axis : perm) out.push_back((*context.shape(0))[axis]);
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<std::size_t> perm, permutation(context));
  IT_TRY(std::vector<Type> types, infer(context));
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [&](Meaning& m, const Indices& at) {
    Indices from(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i) from[perm[i]] = at[i];
    return m.in(0)(from);
  });
}

constexpr std::array<int, 6> versions = {1, 13, 21, 23, 24, 25};
constexpr std::array<Param, 1> inputs = {Param{"data", dtypes::any, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"transposed", dtypes::any, "T"}};
constexpr std::array<AttributeDef, 1> attributes = {optional_attribute("perm", AttributeKind::integers)};

const std::array table = {OpDef{"Transpose", "Axes in another order", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> transpose_ops() { return table; }

}  // namespace infini
