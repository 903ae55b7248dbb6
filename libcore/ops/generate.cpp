// Tensors made from few numbers: ConstantOfShape, Range, OneHot, and Trilu, which keeps a triangle.
#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

constexpr DTypeSet constant_types = dtypes::any - DType::str - dtypes::complexes;

// A literal of any element type that holds numbers.
Expr literal(const Tensor& tensor) {
  if (is_floating(tensor.dtype())) return constant(tensor.dtype(), tensor.as_double(0));
  return constant_int(tensor.dtype(), tensor.as_int(0));
}

// ---- ConstantOfShape ----------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_constant_of_shape(const OpContext& context) {
  const Tensor* value = context.attributes().get<Tensor>("value");
  if (value && value->count() != 1) return bad_input(text("value has ", value->count(), " elements, one is expected"));
  DType dtype = value ? value->dtype() : DType::f32;
  if (!constant_types.contains(dtype)) return bad_input(text("value is ", name(dtype), ", a number or bool is expected"));
  auto operand = context.dims(0);
  if (!operand) return one(Type::tensor(dtype));
  Shape out;
  for (const std::optional<Dim>& dim : *operand) {
    if (dim && dim->constant() && *dim->constant() < 0) return bad_input(text("the shape holds ", *dim->constant()));
    out.push_back(dim ? *dim : context.fresh());
  }
  return one(Type::tensor(dtype, std::move(out)));
}

Result<Program> constant_of_shape_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_constant_of_shape(context));
  if (!types[0].has_shape()) return unsupported("the shape is not known");
  const Tensor* value = context.attributes().get<Tensor>("value");
  Expr element = value ? literal(*value) : constant(DType::f32, 0);
  return elementwise_meaning(context, types[0].dtype, *types[0].shape, [&](Meaning&, const Indices&) { return element; });
}

// ---- Range --------------------------------------------------------------------------------------------------------------------------------

// The count for integers of any size; the last fits into an index if it is one that memory can hold.
std::int64_t whole_count(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  auto low = static_cast<std::uint64_t>(delta > 0 ? start : limit), high = static_cast<std::uint64_t>(delta > 0 ? limit : start);
  std::uint64_t step = delta > 0 ? static_cast<std::uint64_t>(delta) : std::uint64_t{0} - static_cast<std::uint64_t>(delta);
  return static_cast<std::int64_t>(std::min<std::uint64_t>((high - low - 1) / step + 1, INT64_MAX));
}

// max(ceil((limit - start) / delta), 0), known for numbers, and for symbols where delta is a number above 0.
Result<std::optional<Dim>> range_count(const OpContext& context) {
  using Count = std::optional<Dim>;
  auto start = context.reals(0), limit = context.reals(1), delta = context.reals(2);
  if (delta && delta->size() == 1 && (*delta)[0] == 0) return bad_input("delta is 0");
  if (start && limit && delta && is_floating(context.dtype(0))) {
    double count = std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]);
    if (!(count < 9e15)) return bad_input(text("a range of ", count, " elements"));
    return Count(Dim(static_cast<std::int64_t>(std::max(count, 0.0))));
  }
  auto first = context.ints(0), beyond = context.ints(1), step = context.ints(2);
  auto from = context.dims(0), to = context.dims(1);
  if (!from || !to || !step || !is_integer(context.dtype(0)) || from->size() != 1 || to->size() != 1 || step->size() != 1) return Count();
  if (first && beyond) return Count(Dim(whole_count(first->front(), beyond->front(), step->front())));
  if (!(*from)[0] || !(*to)[0]) return Count();
  Dim span = (*step)[0] > 0 ? *(*to)[0] - *(*from)[0] : *(*from)[0] - *(*to)[0];
  return Count(max(ceil_div(span, Dim(std::abs((*step)[0]))), Dim(0)));
}

Result<std::vector<Type>> infer_range(const OpContext& context) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (context.shape(i) && element_count(*context.shape(i)).constant().value_or(1) != 1) return bad_input(text("start, limit and delta are scalars, one is ", to_string(context.type(i))));
  }
  IT_TRY(std::optional<Dim> count, range_count(context));
  return one(Type::tensor(context.dtype(0), Shape{count ? *count : context.fresh()}));
}

Result<Program> range_meaning(const OpContext& context) {
  IT_TRY(std::optional<Dim> count, range_count(context));
  if (!count) return unsupported("start, limit or delta is not known");
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, {*count}, [&](Meaning& m, const Indices& at) {
    auto scalar = [&](std::size_t i) { return wide(m.in(i)(Indices(m.in(i).rank(), index(std::int64_t{0})))); };
    return cast(dtype, scalar(0) + cast(compute_type(dtype), at[0]) * scalar(2));
  });
}

// ---- OneHot -------------------------------------------------------------------------------------------------------------------------------

Result<std::size_t> one_hot_axis(const OpContext& context) {
  return normalise_axis(context.attributes().integer("axis", -1), context.shape(0)->size() + 1);
}

// Nothing: not known.
Result<std::optional<Dim>> one_hot_depth(const OpContext& context) {
  if (auto given = context.reals(1); given && given->size() == 1) {
    double depth = given->front();
    if (!(depth >= 0 && depth < static_cast<double>(dim_limit))) return bad_input(text("depth is ", depth, ", a size is expected"));
    return std::optional(Dim(static_cast<std::int64_t>(depth)));
  }
  auto depth = context.dims(1);
  return depth && depth->size() == 1 ? depth->front() : std::nullopt;
}

Status check_one_hot_shapes(const OpContext& context) {
  const Shape *depth = context.shape(1), *values = context.shape(2);
  if (depth && element_count(*depth).constant().value_or(1) != 1) return bad_input(text("depth is ", to_string(context.type(1)), ", one number is expected"));
  if (values && (values->size() != 1 || values->front().constant().value_or(2) != 2)) {
    return bad_input(text("values is ", to_string(context.type(2)), ", [off, on] is expected"));
  }
  return {};
}

Result<std::vector<Type>> infer_one_hot(const OpContext& context) {
  IT_TRY_VOID(check_one_hot_shapes(context));
  if (!context.shape(0)) return one(Type::tensor(context.dtype(2)));
  IT_TRY(std::size_t axis, one_hot_axis(context));
  IT_TRY(std::optional<Dim> depth, one_hot_depth(context));
  Shape out = *context.shape(0);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), depth ? *depth : context.fresh());
  return one(Type::tensor(context.dtype(2), std::move(out)));
}

Result<Program> one_hot_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_one_hot(context));
  IT_TRY(std::size_t axis, one_hot_axis(context));
  const Dim& depth = (*types[0].shape)[axis];
  return elementwise_meaning(context, context.dtype(2), *types[0].shape, [&](Meaning& m, const Indices& at) {
    Indices where = at;
    where.erase(where.begin() + static_cast<std::ptrdiff_t>(axis));
    Expr hot = cast(DType::i64, m.in(0)(where));
    // What is below 0 as i64 was beyond it as u64, and so beyond any depth.
    Expr from_back = context.dtype(0) == DType::u64 ? hot : select(less(hot, index(std::int64_t{0})), hot + index(depth), hot);
    return select(equal(from_back, at[axis]), m.in(2)({index(std::int64_t{1})}), m.in(2)({index(std::int64_t{0})}));
  });
}

// ---- Trilu --------------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_trilu(const OpContext& context) {
  if (context.shape(0) && context.shape(0)->size() < 2) return bad_input(text("the input is ", to_string(*context.shape(0)), ", at least two axes are expected"));
  return infer_same(context);
}

Result<Program> trilu_meaning(const OpContext& context) {
  bool upper = context.attributes().integer("upper", 1) != 0;
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, *context.shape(0), [&](Meaning& m, const Indices& at) {
    Expr k = context.has(1) ? m.in(1)(Indices(m.in(1).rank(), index(std::int64_t{0}))) : index(std::int64_t{0});
    // Diagonals beyond the corners are as good as those outside the matrix.
    const Dim &rows = (*context.shape(0))[at.size() - 2], &columns = (*context.shape(0))[at.size() - 1];
    if (context.has(1)) k = minimum(maximum(k, -index(rows)), index(columns));
    Expr row = at[at.size() - 2] + k, column = at.back();
    Indices outside = at;
    outside.back() = index(-1);
    Expr nothing = dtype == DType::str || is_complex(dtype) ? m.in(0)(outside) : constant(dtype, 0);
    return select(upper ? less_equal(row, column) : less_equal(column, row), m.in(0)(at), nothing);
  });
}

constexpr std::array<int, 6> constant_versions = {9, 20, 21, 23, 24, 25};
constexpr std::array<int, 2> range_versions = {11, 27};
constexpr std::array<int, 3> one_hot_versions = {9, 11, 28};
constexpr std::array<int, 1> trilu_versions = {14};
constexpr DTypeSet range_types = dtypes::floats | DType::i16 | DType::i32 | DType::i64;
constexpr std::array<Param, 1> constant_inputs = {Param{"input", DType::i64}};
constexpr std::array<Param, 1> constant_outputs = {Param{"output", constant_types}};
constexpr std::array<AttributeDef, 1> constant_attributes = {optional_attribute("value", AttributeKind::tensor)};
constexpr std::array<Param, 3> range_inputs = {Param{"start", range_types, "T"}, Param{"limit", range_types, "T"}, Param{"delta", range_types, "T"}};
constexpr std::array<Param, 1> range_outputs = {Param{"output", range_types, "T"}};
constexpr std::array<AttributeDef, 1> range_attributes = {int_attribute("stash_type", 1)};
constexpr DTypeSet one_hot_numbers = dtypes::ints | dtypes::ieee;
constexpr std::array<Param, 3> one_hot_inputs = {Param{"indices", one_hot_numbers}, Param{"depth", one_hot_numbers}, Param{"values", dtypes::basic}};
constexpr std::array<Param, 1> one_hot_outputs = {Param{"output", dtypes::basic}};
constexpr std::array<AttributeDef, 1> one_hot_attributes = {int_attribute("axis", -1)};
constexpr std::array<Param, 2> trilu_inputs = {Param{"input", dtypes::basic, "T"}, Param{"k", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 1> trilu_outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<AttributeDef, 1> trilu_attributes = {int_attribute("upper", 1)};
constexpr std::array<int, 1> first = {0}, second = {1};
constexpr std::array<int, 3> first_three = {0, 1, 2};

const std::array table = {
    OpDef{.name = "ConstantOfShape", .summary = "One value everywhere", .versions = constant_versions, .inputs = constant_inputs, .outputs = constant_outputs,
          .attributes = constant_attributes, .infer = infer_constant_of_shape, .meaning = constant_of_shape_meaning, .value_inputs = first},
    OpDef{.name = "OneHot", .summary = "on-value at the index, off-value elsewhere, along a new axis", .versions = one_hot_versions, .inputs = one_hot_inputs,
          .outputs = one_hot_outputs, .attributes = one_hot_attributes, .infer = infer_one_hot, .meaning = one_hot_meaning, .value_inputs = second},
    OpDef{.name = "Range", .summary = "start, start + delta, ... before limit", .versions = range_versions, .inputs = range_inputs, .outputs = range_outputs,
          .attributes = range_attributes, .infer = infer_range, .meaning = range_meaning, .value_inputs = first_three},
    OpDef{"Trilu", "The upper or lower triangle, zeros elsewhere", trilu_versions, trilu_inputs, trilu_outputs, trilu_attributes, infer_trilu, trilu_meaning},
};

}  // namespace

std::span<const OpDef> generate_ops() { return table; }

}  // namespace infini
