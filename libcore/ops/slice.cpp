// Slice: y[i] = x[start + step i] per axis.
#include <algorithm>
#include <array>
#include <numeric>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

constexpr std::int64_t longest_step = std::int64_t{1} << 60;  // as good as any longer one: only the first element is taken

// Where one axis starts and how far apart its elements are; the count of elements stands in the result's shape.
struct AxisSlice {
  Dim start = 0, count = 0;
  std::int64_t step = 1;
  bool known = true;
};

// A bound counted from the end where negative, then clamped to [lowest, highest]. A symbol is taken to be at least 0 and is clamped by min.
Dim clamped(const Dim& bound, const Dim& extent, const Dim& lowest, const Dim& highest) {
  std::optional<std::int64_t> number = bound.constant();
  Dim at = number && *number < 0 ? bound + extent : bound;
  if (number && *number == INT64_MIN) return lowest;
  if (number && *number > (std::int64_t{1} << 60)) return highest;
  return max(min(at, highest), lowest);
}

AxisSlice slice_of(const Dim& extent, const Dim& start, const Dim& end, std::int64_t step) {
  AxisSlice out;
  out.step = step;
  Dim from = start.constant() && *start.constant() < -(std::int64_t{1} << 60) ? Dim(INT64_MIN) : start;
  Dim to = end.constant() && *end.constant() < -(std::int64_t{1} << 60) ? Dim(INT64_MIN) : end;
  if (step > 0) {
    out.start = clamped(from, extent, 0, extent);
    out.count = max(ceil_div(clamped(to, extent, 0, extent) - out.start, Dim(step)), Dim(0));
  } else {
    out.start = clamped(from, extent, -1, extent - 1);
    out.count = max(ceil_div(out.start - clamped(to, extent, -1, extent - 1), Dim(-step)), Dim(0));
  }
  return out;
}

// Per axis of the input; nothing if the axes themselves are not known.
Result<std::optional<std::vector<AxisSlice>>> slices(const OpContext& context) {
  using Slices = std::optional<std::vector<AxisSlice>>;
  const Shape& shape = *context.shape(0);
  std::vector<AxisSlice> out;
  for (const Dim& extent : shape) out.push_back({0, extent, 1, true});
  auto starts = context.dims(1), ends = context.dims(2);
  if (!starts || !ends) return Slices();
  if (starts->size() != ends->size()) return bad_input(text("starts has ", starts->size(), " entries, ends has ", ends->size()));
  std::vector<std::int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (context.has(3)) {
    auto given = context.ints(3);
    if (!given) return Slices();
    axes = *given;
  }
  if (axes.size() != starts->size()) return bad_input(text("axes has ", axes.size(), " entries, starts has ", starts->size()));
  IT_TRY(std::vector<std::size_t> distinct, normalise_axes(axes, shape.size()));
  std::optional<std::vector<std::int64_t>> steps = context.has(4) ? context.ints(4) : std::vector<std::int64_t>(axes.size(), 1);
  if (steps && steps->size() != axes.size()) return bad_input(text("steps has ", steps->size(), " entries, starts has ", starts->size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    IT_TRY(std::size_t axis, normalise_axis(axes[i], shape.size()));
    if (steps && (*steps)[i] == 0) return bad_input("a step is 0");
    if (!(*starts)[i] || !(*ends)[i] || !steps) {
      out[axis].known = false;
    } else {
      out[axis] = slice_of(shape[axis], *(*starts)[i], *(*ends)[i], std::clamp((*steps)[i], -longest_step, longest_step));
    }
  }
  return Slices(std::move(out));
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0)) return one(Type::tensor(context.dtype(0)));
  IT_TRY(auto found, slices(context));
  if (!found) return one(fresh_tensor(context, context.dtype(0), context.shape(0)->size()));
  Shape out;
  for (const AxisSlice& axis : *found) out.push_back(axis.known ? axis.count : context.fresh());
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(auto found, slices(context));
  bool known = found && std::all_of(found->begin(), found->end(), [](const AxisSlice& axis) { return axis.known; });
  if (!known) return unsupported("starts, ends, axes or steps are not known");
  Shape out;
  for (const AxisSlice& axis : *found) out.push_back(axis.count);
  return elementwise_meaning(context, context.dtype(0), out, [&](Meaning& m, const Indices& at) {
    Indices from;
    for (std::size_t i = 0; i < at.size(); ++i) from.push_back(index((*found)[i].start) + at[i] * index((*found)[i].step));
    return m.in(0)(from);
  });
}

Status upgrade(Upgrade& node) {
  if (node.opset() >= 10) return {};
  node.attribute_to_input("starts", 1, DType::i64);
  node.attribute_to_input("ends", 2, DType::i64);
  node.attribute_to_input("axes", 3, DType::i64);
  return {};
}

constexpr std::array<int, 4> versions = {1, 10, 11, 13};
constexpr std::array<Param, 5> inputs = {Param{"data", dtypes::basic, "T"}, Param{"starts", dtypes::index_types, "Tind"}, Param{"ends", dtypes::index_types, "Tind"},
                                         Param{"axes", dtypes::index_types, "Tind", Arity::optional},
                                         Param{"steps", dtypes::index_types, "Tind", Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<int, 4> bounds = {1, 2, 3, 4};

const std::array table = {OpDef{.name = "Slice", .summary = "Every step-th element from start to end, per axis", .versions = versions, .inputs = inputs,
                                .outputs = outputs, .infer = infer, .meaning = meaning, .upgrade = upgrade, .value_inputs = bounds}};

}  // namespace

std::span<const OpDef> slice_ops() { return table; }

}  // namespace infini
