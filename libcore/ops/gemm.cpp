// Gemm: y[i, j] = alpha sum(k) a[i, k] b[k, j] + beta c[i, j], with a and b perhaps transposed and c broadcast.
#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

Result<Dim> sizes(const OpContext& context, Shape& out) {
  const Shape &a = *context.shape(0), &b = *context.shape(1);
  bool trans_a = context.attributes().integer("transA") != 0, trans_b = context.attributes().integer("transB") != 0;
  std::string found = text("a is ", to_string(a), trans_a ? " (transposed)" : "", ", b is ", to_string(b), trans_b ? " (transposed)" : "");
  if (a.size() != 2 || b.size() != 2) return bad_input(text(found, "; both must be matrices"));
  out = {a[trans_a ? 1 : 0], b[trans_b ? 0 : 1]};
  IT_TRY(Dim inner, same_dim(a[trans_a ? 0 : 1], b[trans_b ? 1 : 0], text(found, "; inner dimensions")));
  if (context.shape(2)) IT_TRY_VOID(check_broadcasts_to(*context.shape(2), out, "C"));
  return inner;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0) || !context.shape(1)) return one(fresh_tensor(context, context.dtype(0), 2));
  Shape out;
  IT_TRY_VOID(sizes(context, out));
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

// x times a factor that is stated as a float; whole numbers by a fraction are multiplied in f64 and truncated.
Expr scaled(Expr x, double factor) {
  DType dtype = x.dtype();
  if (factor == 1) return x;
  if (is_floating(dtype)) return constant(dtype, factor) * x;
  if (std::trunc(factor) == factor && std::fabs(factor) < 0x1p53) return constant_int(dtype, static_cast<std::int64_t>(factor)) * x;
  return cast(dtype, constant(DType::f64, factor) * cast(DType::f64, x));
}

Result<Program> meaning(const OpContext& context) {
  Shape out;
  IT_TRY(Dim inner, sizes(context, out));
  bool trans_a = context.attributes().integer("transA") != 0, trans_b = context.attributes().integer("transB") != 0;
  double alpha = static_cast<double>(context.attributes().real("alpha", 1)), beta = static_cast<double>(context.attributes().real("beta", 1));
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, out, [&](Meaning& m, const Indices& at) {
    Expr y = scaled(m.sum(inner, [&](Expr k) {
      Indices left = {at[0], k}, right = {k, at[1]};
      if (trans_a) std::swap(left[0], left[1]);
      if (trans_b) std::swap(right[0], right[1]);
      return wide(m.in(0)(left)) * wide(m.in(1)(right));
    }), alpha);
    if (context.has(2) && beta != 0) y = y + scaled(wide(m.in(2).broadcast(at)), beta);
    return cast(dtype, y);
  });
}

// Below opset 7, `broadcast` allowed what is now always allowed.
Status upgrade(Upgrade& node) {
  if (node.opset() < 7) node.attributes().erase("broadcast");
  return {};
}

constexpr DTypeSet types = dtypes::floats | DType::i32 | DType::i64 | DType::u32 | DType::u64;
constexpr std::array<int, 6> versions = {1, 6, 7, 9, 11, 13};
constexpr std::array<Param, 3> inputs = {Param{"A", types, "T"}, Param{"B", types, "T"}, Param{"C", types, "T", Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"Y", types, "T"}};
constexpr std::array<AttributeDef, 4> attributes = {real_attribute("alpha", 1), real_attribute("beta", 1), int_attribute("transA", 0),
                                                    int_attribute("transB", 0)};

const std::array table = {OpDef{.name = "Gemm", .summary = "alpha A B + beta C", .versions = versions, .inputs = inputs, .outputs = outputs,
                                .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade}};

}  // namespace

std::span<const OpDef> gemm_ops() { return table; }

}  // namespace infini
