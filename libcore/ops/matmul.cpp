// MatMul: y[..., m, n] = sum(k) a[..., m, k] b[..., k, n], NumPy's matmul.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

constexpr DTypeSet matmul_types = dtypes::floats | DType::i32 | DType::i64 | DType::u32 | DType::u64;

// A vector counts as a row on the left and as a column on the right; that axis is dropped from the result.
struct Sizes {
  Shape a, b, batch;
};

Result<Sizes> sizes(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return bad_input(text("a is ", to_string(a), ", b is ", to_string(b), "; MatMul takes no scalars"));
  Sizes s{a, b, {}};
  if (a.size() == 1) s.a.insert(s.a.begin(), Dim(1));
  if (b.size() == 1) s.b.push_back(Dim(1));
  const Dim &inner = s.a.back(), &first = s.b[s.b.size() - 2];
  if (inner.is_constant() && first.is_constant() && !(inner == first)) {
    return bad_input(text("a is ", to_string(a), ", b is ", to_string(b), "; a's last dimension must equal b's last but one"));
  }
  IT_TRY(s.batch, broadcast(Shape(s.a.begin(), s.a.end() - 2), Shape(s.b.begin(), s.b.end() - 2)));
  return s;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0) || !context.shape(1)) return one(Type::tensor(context.dtype(0)));
  IT_TRY(Sizes s, sizes(*context.shape(0), *context.shape(1)));
  Shape out = s.batch;
  if (context.shape(0)->size() > 1) out.push_back(s.a[s.a.size() - 2]);
  if (context.shape(1)->size() > 1) out.push_back(s.b.back());
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(Sizes s, sizes(*context.shape(0), *context.shape(1)));
  IT_TRY(std::vector<Type> types, infer(context));
  bool row = context.shape(0)->size() > 1, column = context.shape(1)->size() > 1;
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, *types[0].shape, [&](Meaning& m, const Indices& at) {
    Indices batch(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(s.batch.size()));
    return cast(dtype, m.sum(s.a.back(), [&](Expr k) {
      Indices left = batch, right = batch;
      if (row) left.push_back(at[s.batch.size()]);
      left.push_back(k);
      right.push_back(k);
      if (column) right.push_back(at.back());
      return wide(m.in(0).broadcast(left)) * wide(m.in(1).broadcast(right));
    }));
  });
}

constexpr std::array<int, 3> versions = {1, 9, 13};
constexpr std::array<Param, 2> inputs = {Param{"A", matmul_types, "T"}, Param{"B", matmul_types, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"Y", matmul_types, "T"}};

const std::array table = {OpDef{"MatMul", "Matrix product over the last two axes", versions, inputs, outputs, {}, infer, meaning}};

}  // namespace

std::span<const OpDef> matmul_ops() { return table; }

}  // namespace infini
