// Pad: more elements at the borders (fewer where a pad is negative), constant, reflected, repeated or wrapped around.
#include <array>
#include <numeric>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// Before and after each axis of the input; nothing where not known.
struct Pads {
  std::vector<std::optional<Dim>> before, after;
};

Result<std::optional<Pads>> pads_of(const OpContext& context) {
  std::size_t rank = context.shape(0)->size();
  auto given = context.dims(1);
  if (!given) return std::optional<Pads>();
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (context.has(3)) {
    auto listed = context.ints(3);
    if (!listed) return std::optional<Pads>();
    axes = *listed;
  }
  if (given->size() != 2 * axes.size()) return bad_input(text("pads has ", given->size(), " entries, ", 2 * axes.size(), " are expected for ", axes.size(), " axes"));
  IT_TRY(std::vector<std::size_t> distinct, normalise_axes(axes, rank));
  Pads out{std::vector<std::optional<Dim>>(rank, Dim(0)), std::vector<std::optional<Dim>>(rank, Dim(0))};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    IT_TRY(std::size_t axis, normalise_axis(axes[i], rank));
    out.before[axis] = (*given)[i];
    out.after[axis] = (*given)[i + axes.size()];
  }
  return std::optional<Pads>(std::move(out));
}

// An axis after its negative pads: elements are taken away first, what is left is padded.
struct Cropped {
  Dim begin, extent;
};

Cropped cropped(const Dim& extent, const Dim& before, const Dim& after) {
  Dim begin = Dim(0) - min(before, Dim(0));
  return {begin, extent - begin + min(after, Dim(0))};
}

// Copies of elements need an element.
Status check_copies(const Shape& shape, const Pads& pads) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!pads.before[i] || !pads.after[i]) continue;
    const Dim &before = *pads.before[i], &after = *pads.after[i];
    bool grows = before.constant().value_or(0) > 0 || after.constant().value_or(0) > 0;
    Dim left = cropped(shape[i], before, after).extent;
    if (grows && left.constant().value_or(1) < 1) {
      return bad_input(text("axis ", i, " of ", to_string(shape), " is padded by ", before.to_string(), " and ", after.to_string(), ", but has no element to copy"));
    }
  }
  return {};
}

Result<std::vector<Type>> infer(const OpContext& context) {
  std::string mode = context.attributes().text("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") return bad_input(text("mode is '", mode, "', expected constant, reflect, edge or wrap"));
  const Shape* shape = context.shape(0);
  if (!shape) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::optional<Pads> pads, pads_of(context));
  if (!pads) return one(fresh_tensor(context, context.dtype(0), shape->size()));
  if (mode != "constant") IT_TRY_VOID(check_copies(*shape, *pads));
  Shape out;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    out.push_back(pads->before[i] && pads->after[i] ? (*shape)[i] + *pads->before[i] + *pads->after[i] : context.fresh());
    if (out[i].constant() && *out[i].constant() < 0) return bad_input(text("axis ", i, " of ", to_string(*shape), " would have ", *out[i].constant(), " elements"));
  }
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

// The position inside the axis that position i (perhaps outside) stands for.
Expr source(const std::string& mode, Expr i, const Dim& extent) {
  Expr size = index(extent), zero = index(std::int64_t{0}), one_more = index(std::int64_t{1});
  if (mode == "edge") return minimum(maximum(i, zero), size - one_more);
  if (mode == "wrap") return floor_mod(i, size);
  Expr period = maximum((size - one_more) + (size - one_more), one_more);  // reflect: 0 1 2 1 0 1 ...
  Expr phase = floor_mod(i, period);
  return minimum(phase, period - phase);
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer(context));
  IT_TRY(std::optional<Pads> pads, pads_of(context));
  if (!pads) return unsupported("pads or axes are not known");
  std::string mode = context.attributes().text("mode", "constant");
  for (std::size_t i = 0; i < pads->before.size(); ++i) {
    if (!pads->before[i] || (mode != "constant" && !pads->after[i])) return unsupported("pads are not known");
  }
  const Shape& shape = *context.shape(0);
  return elementwise_meaning(context, context.dtype(0), *types[0].shape, [&](Meaning& m, const Indices& at) {
    Indices from;
    if (mode != "constant") {
      for (std::size_t i = 0; i < at.size(); ++i) {
        Cropped axis = cropped(shape[i], *pads->before[i], *pads->after[i]);
        from.push_back(source(mode, at[i] - index(max(*pads->before[i], Dim(0))), axis.extent) + index(axis.begin));
      }
      return m.in(0)(from);
    }
    for (std::size_t i = 0; i < at.size(); ++i) from.push_back(at[i] - index(*pads->before[i]));
    if (!context.has(2)) return m.in(0)(from);  // outside reads as zero
    Expr inside = constant_int(DType::boolean, 1);
    for (std::size_t i = 0; i < at.size(); ++i) {
      inside = both(inside, both(less_equal(index(std::int64_t{0}), from[i]), less(from[i], index(shape[i]))));
    }
    return select(inside, m.in(0)(from), m.in(2)(Indices(m.in(2).rank(), index(std::int64_t{0}))));
  });
}

Status upgrade(Upgrade& node) {
  if (node.opset() < 2) {
    if (auto paddings = node.attributes().take("paddings")) node.attributes().set("pads", std::move(*paddings));
  }
  if (node.opset() >= 11) return {};
  node.attribute_to_input("pads", 1, DType::i64);
  InputFact data = node.fact(node.inputs()[0]);
  node.attribute_to_input("value", 2, data.type && data.type->is_tensor() ? data.type->dtype : DType::f32, true);
  return {};
}

constexpr std::array<int, 10> versions = {1, 2, 11, 13, 18, 19, 21, 23, 24, 25};
constexpr std::array<Param, 4> inputs = {Param{"data", dtypes::any, "T"}, Param{"pads", DType::i64}, Param{"constant_value", dtypes::any, "T", Arity::optional},
                                         Param{"axes", dtypes::index_types, "Tind", Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::any, "T"}};
constexpr std::array<AttributeDef, 1> attributes = {text_attribute("mode", "constant")};
constexpr std::array<int, 2> bounds = {1, 3};

const std::array table = {OpDef{.name = "Pad", .summary = "More elements at the borders", .versions = versions, .inputs = inputs, .outputs = outputs,
                                .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade, .value_inputs = bounds}};

}  // namespace

std::span<const OpDef> pad_ops() { return table; }

}  // namespace infini
