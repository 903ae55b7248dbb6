#include "libcore/ops/shape_rules.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini {
namespace {

Result<Dim> broadcast_dim(const Dim& a, const Dim& b) {
  std::optional<std::int64_t> x = a.constant(), y = b.constant();
  if (a == b || y == 1) return a;
  if (x == 1) return b;
  if (x && y) return bad_input("");
  if (x) return a;
  if (y) return b;
  return max(a, b);
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    Result<Dim> dim = broadcast_dim(longer[offset + i], shorter[i]);
    if (!dim) return bad_input(text("shapes ", to_string(a), " and ", to_string(b), " do not broadcast: each pair of last dimensions must be equal or hold a 1"));
    out[offset + i] = *dim;
  }
  return out;
}

Result<std::optional<Shape>> broadcast_inputs(const OpContext& context) {
  Shape out;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    const Shape* shape = context.shape(i);
    if (!shape) return std::optional<Shape>();
    IT_TRY(out, broadcast(out, *shape));
  }
  return std::optional<Shape>(std::move(out));
}

Status check_broadcasts_to(const Shape& from, const Shape& to, std::string_view what) {
  bool fits = from.size() <= to.size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    const Dim &a = from[i], &b = to[to.size() - from.size() + i];
    fits = a == b || a == Dim(1) || !a.is_constant() || !b.is_constant();
  }
  if (!fits) return bad_input(text("input '", what, "' is ", to_string(from), ", which does not broadcast to ", to_string(to)));
  return {};
}

Result<std::size_t> normalise_axis(std::int64_t axis, std::size_t rank) {
  auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return bad_input(text("axis ", axis, " is outside [", -r, ", ", r - 1, "] of a tensor of rank ", r));
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Result<std::vector<std::size_t>> normalise_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  std::vector<std::size_t> out;
  for (std::int64_t axis : axes) {
    IT_TRY(std::size_t position, normalise_axis(axis, rank));
    out.push_back(position);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) return bad_input(text("axes [", join(axes, ","), "] name an axis twice"));
  return out;
}

Type fresh_tensor(const OpContext& context, DType dtype, std::size_t rank) { return Type::tensor(dtype, context.fresh(rank)); }

Result<std::vector<Type>> infer_same(const OpContext& context) { return one(tensor_like(context.type(0))); }

Result<std::vector<Type>> infer_broadcast(const OpContext& context) {
  IT_TRY(auto shape, broadcast_inputs(context));
  return one(Type::tensor(context.dtype(0), std::move(shape)));
}

Result<std::vector<Type>> infer_broadcast_bool(const OpContext& context) {
  IT_TRY(auto shape, broadcast_inputs(context));
  return one(Type::tensor(DType::boolean, std::move(shape)));
}

Result<Dim> same_dim(const Dim& a, const Dim& b, std::string_view what) {
  if (a == b || a.is_constant()) {
    if (b.is_constant() && !(a == b)) return bad_input(text(what, ": ", a.to_string(), " and ", b.to_string(), " must be equal"));
    return a;
  }
  return b.is_constant() ? b : a;
}

}  // namespace infini
