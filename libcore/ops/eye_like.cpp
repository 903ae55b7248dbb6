// EyeLike: ones on a diagonal, zeros elsewhere, of the input's shape.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer(const OpContext& context) {
  if (context.shape(0) && context.shape(0)->size() != 2) return bad_input(text("the input is ", to_string(*context.shape(0)), ", a matrix is expected"));
  const std::int64_t* number = context.attributes().get<std::int64_t>("dtype");
  std::optional<DType> dtype = number ? dtype_from_onnx(*number) : context.dtype(0);
  if (!dtype || !context.op().outputs[0].dtypes.contains(*dtype)) return bad_input(text("dtype is ", *number, ", which is no number or bool"));
  return one(Type::tensor(*dtype, context.type(0).shape));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer(context));
  DType dtype = types[0].dtype;
  std::int64_t k = context.attributes().integer("k", 0);
  return elementwise_meaning(context, dtype, *context.shape(0), [&](Meaning&, const Indices& at) {
    return select(equal(at[1] - at[0], index(k)), constant(dtype, 1), constant(dtype, 0));
  });
}

constexpr DTypeSet types = dtypes::numeric | DType::boolean;
constexpr std::array<int, 2> versions = {9, 22};
constexpr std::array<Param, 1> inputs = {Param{"input", types, "T1"}};
constexpr std::array<Param, 1> outputs = {Param{"output", types, "T2"}};
constexpr std::array<AttributeDef, 2> attributes = {optional_attribute("dtype", AttributeKind::integer), int_attribute("k", 0)};

const std::array table = {
    OpDef{"EyeLike", "Ones on a diagonal, zeros elsewhere", versions, inputs, outputs, attributes, infer, meaning},
};

}  // namespace

std::span<const OpDef> eye_like_ops() { return table; }

}  // namespace infini
