// Repetition: Expand (by broadcasting) and Tile.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer_expand(const OpContext& context) {
  auto operand = context.dims(1);
  if (!context.shape(0) || !operand) return one(Type::tensor(context.dtype(0)));
  Shape to;
  for (const std::optional<Dim>& dim : *operand) {
    if (dim && dim->constant().value_or(0) < 0) return bad_input(text("the shape holds ", dim->to_string()));
    to.push_back(dim ? *dim : context.fresh());
  }
  IT_TRY(Shape out, broadcast(*context.shape(0), to));
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> expand_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_expand(context));
  if (!types[0].has_shape()) return unsupported("the shape to expand to is not known");
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [](Meaning& m, const Indices& at) { return m.in(0).broadcast(at); });
}

Result<std::vector<Type>> infer_tile(const OpContext& context) {
  const Shape* shape = context.shape(0);
  if (!shape) return one(Type::tensor(context.dtype(0)));
  auto repeats = context.dims(1);
  if (!repeats) return one(fresh_tensor(context, context.dtype(0), shape->size()));
  if (repeats->size() != shape->size()) return bad_input(text("repeats has ", repeats->size(), " entries, the input ", to_string(*shape), " has ", shape->size(), " axes"));
  Shape out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if ((*repeats)[i] && (*repeats)[i]->constant() && *(*repeats)[i]->constant() < 0) return bad_input("repeats holds a negative number");
    out.push_back((*repeats)[i] ? (*shape)[i] * *(*repeats)[i] : context.fresh());
  }
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> tile_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_tile(context));
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [&](Meaning& m, const Indices& at) {
    Indices from;
    for (std::size_t i = 0; i < at.size(); ++i) from.push_back(floor_mod(at[i], index((*context.shape(0))[i])));
    return m.in(0)(from);
  });
}

// Opset 1: (input, tiles, axis), two scalars; here they must be constants.
Status upgrade_tile(Upgrade& node) {
  if (node.opset() >= 6 || node.inputs().size() < 3) return {};
  InputFact data = node.fact(node.inputs()[0]), tiles = node.fact(node.inputs()[1]), axis = node.fact(node.inputs()[2]);
  if (!tiles.constant || !axis.constant || !data.type || !data.type->has_shape()) return unsupported("Tile of opset 1 needs constant tiles and axis, and a known rank");
  std::vector<std::int64_t> repeats(data.type->rank(), 1);
  IT_TRY(std::size_t at, normalise_axis(axis.constant->as_int(0), repeats.size()));
  repeats[at] = tiles.constant->as_int(0);
  node.inputs().resize(1);
  node.set_input(1, node.constant(Tensor::vector_i64(repeats)));
  return {};
}

constexpr std::array<int, 2> expand_versions = {8, 13};
constexpr std::array<int, 3> tile_versions = {1, 6, 13};
constexpr std::array<Param, 2> expand_inputs = {Param{"input", dtypes::basic, "T"}, Param{"shape", DType::i64}};
constexpr std::array<Param, 2> tile_inputs = {Param{"input", dtypes::basic, "T"}, Param{"repeats", DType::i64}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<int, 1> second = {1};

const std::array table = {
    OpDef{.name = "Expand", .summary = "Broadcast to a shape", .versions = expand_versions, .inputs = expand_inputs, .outputs = outputs,
          .infer = infer_expand, .meaning = expand_meaning, .value_inputs = second},
    OpDef{.name = "Tile", .summary = "Repeat along each axis", .versions = tile_versions, .inputs = tile_inputs, .outputs = outputs, .infer = infer_tile,
          .meaning = tile_meaning, .upgrade = upgrade_tile, .value_inputs = second},
};

}  // namespace

std::span<const OpDef> expand_ops() { return table; }

}  // namespace infini
