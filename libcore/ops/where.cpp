// Where: x where the condition holds, else y. Clip: x kept inside [min, max].
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/upgrades.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Type>> infer_where(const OpContext& context) {
  IT_TRY(std::optional<Shape> shape, broadcast_inputs(context));
  return one(Type::tensor(context.dtype(1), std::move(shape)));
}

Result<Program> where_meaning(const OpContext& context) {
  IT_TRY(std::optional<Shape> shape, broadcast_inputs(context));
  return elementwise_meaning(context, context.dtype(1), *shape, [](Meaning& m, const Indices& at) {
    return select(m.in(0).broadcast(at), m.in(1).broadcast(at), m.in(2).broadcast(at));
  });
}

Result<std::vector<Type>> infer_clip(const OpContext& context) {
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const Shape* shape = context.shape(i);
    if (!shape) continue;
    std::optional<std::int64_t> count = element_count(*shape).constant();
    if (shape->size() > 1 || (count && *count != 1)) {
      return bad_input(text("input '", context.op().inputs[i].name, "' is ", to_string(*shape), ", expected a single number"));
    }
  }
  return infer_same(context);
}

// min above max gives max everywhere.
Result<Program> clip_meaning(const OpContext& context) {
  return elementwise_meaning(context, context.dtype(0), *context.shape(0), [&](Meaning& m, const Indices& at) {
    auto bound = [&m](std::size_t i) { return m.in(i)(Indices(m.in(i).rank(), index(0))); };
    Expr x = m.in(0)(at);
    if (context.has(1)) x = maximum(x, bound(1));
    if (context.has(2)) x = minimum(x, bound(2));
    return x;
  });
}

// Below opset 11 the bounds were attributes; from opset 6 on with the largest finite numbers as defaults.
Status upgrade_clip(Upgrade& node) {
  if (node.opset() >= 11 || node.inputs().empty()) return {};
  int x = node.inputs()[0];
  std::size_t position = 1;
  for (auto [name, standard] : {std::pair("min", -3.4028234663852886e+38f), std::pair("max", 3.4028234663852886e+38f)}) {
    std::optional<AttributeValue> value = node.attributes().take(name);
    const float* given = value ? std::get_if<float>(&*value) : nullptr;
    if (value && !given) return bad_input(text("attribute '", name, "' is ", infini::name(kind(*value)), ", expected a real"));
    if (given || node.opset() >= 6) node.set_input(position, constant_like(node, x, given ? *given : standard));
    ++position;
  }
  return {};
}

constexpr std::array<Param, 3> where_in = {Param{"condition", DType::boolean}, Param{"X", dtypes::basic, "T"}, Param{"Y", dtypes::basic, "T"}};
constexpr std::array<Param, 1> where_out = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<Param, 3> clip_in = {Param{"input", dtypes::numeric, "T"}, Param{"min", dtypes::numeric, "T", Arity::optional},
                                          Param{"max", dtypes::numeric, "T", Arity::optional}};
constexpr std::array<Param, 1> clip_out = {Param{"output", dtypes::numeric, "T"}};
constexpr std::array<int, 2> v_9_16 = {9, 16};
constexpr std::array<int, 5> v_1_6_11_12_13 = {1, 6, 11, 12, 13};

const std::array table = {
    OpDef{.name = "Clip", .summary = "x kept inside [min, max]", .versions = v_1_6_11_12_13, .inputs = clip_in, .outputs = clip_out,
          .infer = infer_clip, .meaning = clip_meaning, .upgrade = upgrade_clip},
    OpDef{"Where", "x where the condition holds, else y", v_9_16, where_in, where_out, {}, infer_where, where_meaning},
};

}  // namespace

std::span<const OpDef> where_ops() { return table; }

}  // namespace infini
