// Shape rules that many operators share. Errors are bad_input and show the shapes.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/ops/op.h"

namespace infini {

// NumPy broadcasting. Two different symbols give their maximum (one of them must turn out to be 1 or equal); a number above 1 wins over a symbol.
Result<Shape> broadcast(const Shape& a, const Shape& b);
// Of all inputs; nothing if one has no known rank.
Result<std::optional<Shape>> broadcast_inputs(const OpContext& context);

// An error unless `from` broadcasts to `to` without changing it; `what` names the input.
Status check_broadcasts_to(const Shape& from, const Shape& to, std::string_view what);

// An axis in [-rank, rank) as one in [0, rank).
Result<std::size_t> normalise_axis(std::int64_t axis, std::size_t rank);
// Sorted, each once; an axis named twice is an error.
Result<std::vector<std::size_t>> normalise_axes(std::span<const std::int64_t> axes, std::size_t rank);

// The common results of infer.
inline std::vector<Type> one(Type type) { return {std::move(type)}; }
inline Type tensor_like(const Type& type) { return Type::tensor(type.dtype, type.shape); }
// A tensor of `rank` fresh dimensions.
Type fresh_tensor(const OpContext& context, DType dtype, std::size_t rank);

// infer for: the output is the first input's type; all inputs broadcast to the output, first input's dtype; the same with bool.
Result<std::vector<Type>> infer_same(const OpContext& context);
Result<std::vector<Type>> infer_broadcast(const OpContext& context);
Result<std::vector<Type>> infer_broadcast_bool(const OpContext& context);

// A dimension that must equal another: equal or open ones give the more precise of the two; different numbers an error "what: a is .., b is ..".
Result<Dim> same_dim(const Dim& a, const Dim& b, std::string_view what);

}  // namespace infini
