// Blocks of pixels to channels and back: DepthToSpace and SpaceToDepth.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<Dim> divided(const Dim& dim, std::int64_t by, std::string_view what) {
  std::optional<std::int64_t> number = dim.constant();
  if (number && *number % by != 0) return bad_input(text(what, " is ", *number, ", which ", by, " does not divide"));
  return floor_div(dim, Dim(by));
}

Result<std::int64_t> block_size(const OpContext& context) {
  std::int64_t block = context.attributes().integer("blocksize");
  if (block < 1 || block > 32768) return bad_input(text("blocksize is ", block));
  if (context.shape(0) && context.shape(0)->size() != 4) return bad_input(text("the input is ", to_string(*context.shape(0)), ", [n,c,h,w] is expected"));
  std::string mode = context.attributes().text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return bad_input(text("mode is '", mode, "', DCR or CRD is expected"));
  return block;
}

Result<std::vector<Type>> infer_depth_to_space(const OpContext& context) {
  IT_TRY(std::int64_t block, block_size(context));
  if (!context.shape(0)) return one(fresh_tensor(context, context.dtype(0), 4));
  const Shape& x = *context.shape(0);
  IT_TRY(Dim channels, divided(x[1], block * block, "the channel count"));
  return one(Type::tensor(context.dtype(0), Shape{x[0], channels, x[2] * Dim(block), x[3] * Dim(block)}));
}

// y[n, c, h b + i, w b + j] = x[n, (i b + j) C + c, h, w] (DCR) or x[n, c b b + i b + j, h, w] (CRD).
Result<Program> depth_to_space_meaning(const OpContext& context) {
  IT_TRY(std::int64_t block, block_size(context));
  IT_TRY(std::vector<Type> types, infer_depth_to_space(context));
  const Shape& out = *types[0].shape;
  bool by_column = context.attributes().text("mode", "DCR") == "CRD";
  return elementwise_meaning(context, context.dtype(0), out, [&](Meaning& m, const Indices& at) {
    Expr b = index(block);
    Expr within = floor_mod(at[2], b) * b + floor_mod(at[3], b);
    Expr channel = by_column ? at[1] * index(block * block) + within : within * index(out[1]) + at[1];
    return m.in(0)({at[0], channel, floor_div(at[2], b), floor_div(at[3], b)});
  });
}

Result<std::vector<Type>> infer_space_to_depth(const OpContext& context) {
  IT_TRY(std::int64_t block, block_size(context));
  if (!context.shape(0)) return one(fresh_tensor(context, context.dtype(0), 4));
  const Shape& x = *context.shape(0);
  IT_TRY(Dim height, divided(x[2], block, "the height"));
  IT_TRY(Dim width, divided(x[3], block, "the width"));
  return one(Type::tensor(context.dtype(0), Shape{x[0], x[1] * Dim(block * block), height, width}));
}

// The inverse of DepthToSpace in the same mode.
Result<Program> space_to_depth_meaning(const OpContext& context) {
  IT_TRY(std::int64_t block, block_size(context));
  IT_TRY(std::vector<Type> types, infer_space_to_depth(context));
  const Dim& channels = (*context.shape(0))[1];
  bool by_column = context.attributes().text("mode", "DCR") == "CRD";
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [&](Meaning& m, const Indices& at) {
    Expr b = index(block), area = index(block * block);
    Expr within = by_column ? floor_mod(at[1], area) : floor_div(at[1], index(channels));
    Expr channel = by_column ? floor_div(at[1], area) : floor_mod(at[1], index(channels));
    return m.in(0)({at[0], channel, at[2] * b + floor_div(within, b), at[3] * b + floor_mod(within, b)});
  });
}

constexpr std::array<int, 4> depth_versions = {1, 11, 13, 28};
constexpr std::array<int, 3> space_versions = {1, 13, 28};
constexpr std::array<Param, 1> inputs = {Param{"input", dtypes::basic, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<AttributeDef, 2> attributes = {required_attribute("blocksize", AttributeKind::integer), text_attribute("mode", "DCR")};

const std::array table = {
    OpDef{"DepthToSpace", "Channels to blocks of pixels", depth_versions, inputs, outputs, attributes, infer_depth_to_space, depth_to_space_meaning},
    OpDef{"SpaceToDepth", "Blocks of pixels to channels", space_versions, inputs, outputs, attributes, infer_space_to_depth, space_to_depth_meaning},
};

}  // namespace

std::span<const OpDef> depth_space_ops() { return table; }

}  // namespace infini
