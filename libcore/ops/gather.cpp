// Reading at indices that are values: Gather, GatherElements, GatherND.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// ---- Gather -----------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_gather(const OpContext& context) {
  const Shape *data = context.shape(0), *indices = context.shape(1);
  if (!data || !indices) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data->size()));
  Shape out(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), data->begin() + static_cast<std::ptrdiff_t>(axis) + 1, data->end());
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> gather_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_gather(context));
  const Shape& data = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data.size()));
  std::size_t width = context.shape(1)->size();
  Meaning m(context);
  require_in_range(m, m.in(1), [&](const Indices&) { return data[axis]; });
  m.output(m.define(context.dtype(0), *types[0].shape, [&](const Indices& at) {
    auto a = static_cast<std::ptrdiff_t>(axis), w = static_cast<std::ptrdiff_t>(width);
    Indices from(at.begin(), at.begin() + a);
    from.push_back(from_either_end(m.in(1)(Indices(at.begin() + a, at.begin() + a + w)), data[axis]));
    from.insert(from.end(), at.begin() + a + w, at.end());
    return m.in(0)(from);
  }));
  return std::move(m).finish();
}

// ---- GatherElements -----------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_gather_elements(const OpContext& context) {
  const Shape *data = context.shape(0), *indices = context.shape(1);
  if (data && indices) {
    if (data->size() != indices->size()) return bad_input(text("data is ", to_string(*data), ", indices is ", to_string(*indices), "; ranks must be equal"));
    IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data->size()));
    for (std::size_t i = 0; i < data->size(); ++i) {
      std::optional<std::int64_t> have = (*data)[i].constant(), named = (*indices)[i].constant();
      if (i != axis && have && named && *named > *have) {
        return bad_input(text("data is ", to_string(*data), ", indices is ", to_string(*indices), "; axis ", i, " of indices is longer than data's"));
      }
    }
  }
  return one(Type::tensor(context.dtype(0), context.type(1).shape));
}

Result<Program> gather_elements_meaning(const OpContext& context) {
  const Shape& data = *context.shape(0);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data.size()));
  Meaning m(context);
  require_in_range(m, m.in(1), [&](const Indices&) { return data[axis]; });
  m.output(m.define(context.dtype(0), *context.shape(1), [&](const Indices& at) {
    Indices from = at;
    from[axis] = from_either_end(m.in(1)(at), data[axis]);
    return m.in(0)(from);
  }));
  return std::move(m).finish();
}

// ---- GatherND -----------------------------------------------------------------------------------------------------------------------------

// data[b..., d...], indices[b..., p..., n] -> y[b..., p..., rest of d after n axes].
Result<std::vector<Type>> infer_gather_nd(const OpContext& context) {
  const Shape *data = context.shape(0), *indices = context.shape(1);
  if (!data || !indices) return one(Type::tensor(context.dtype(0)));
  std::int64_t batch = context.attributes().integer("batch_dims");
  std::optional<std::int64_t> width = indices->empty() ? std::nullopt : indices->back().constant();
  auto shapes = [&] { return text("data is ", to_string(*data), ", indices is ", to_string(*indices), ", batch_dims is ", batch); };
  if (indices->empty() || data->empty() || batch < 0 || batch >= static_cast<std::int64_t>(std::min(data->size(), indices->size()))) return bad_input(shapes());
  if (!width) return one(Type::tensor(context.dtype(0)));
  if (*width < 1 || batch + *width > static_cast<std::int64_t>(data->size())) return bad_input(text(shapes(), "; the last axis of indices counts axes of data"));
  Shape out(indices->begin(), indices->end() - 1);
  for (std::int64_t i = 0; i < batch; ++i) {
    auto at = static_cast<std::size_t>(i);
    IT_TRY(out[at], within(shapes(), same_dim((*data)[at], out[at], text("batch axis ", i))));
  }
  out.insert(out.end(), data->begin() + batch + *width, data->end());
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

Result<Program> gather_nd_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_gather_nd(context));
  if (!types[0].has_shape()) return unsupported("the width of indices is not known");
  const Shape &data = *context.shape(0), &indices = *context.shape(1);
  std::int64_t batch = context.attributes().integer("batch_dims"), width = *indices.back().constant();
  Meaning m(context);
  m.require(indices, [&](const Indices& at) {
    Expr size = index(data[static_cast<std::size_t>(batch)]);
    for (std::int64_t i = 1; i < width; ++i) size = select(equal(at.back(), index(i)), index(data[static_cast<std::size_t>(batch + i)]), size);
    Expr i = m.in(1)(at);
    return both(less(i, size), less_equal(-size, i));
  }, "an index is outside the axis that it counts");
  m.output(m.define(context.dtype(0), *types[0].shape, [&](const Indices& at) {
    auto prefix = static_cast<std::ptrdiff_t>(indices.size() - 1);
    Indices from(at.begin(), at.begin() + batch);
    for (std::int64_t i = 0; i < width; ++i) {
      Indices where(at.begin(), at.begin() + prefix);
      where.push_back(index(i));
      from.push_back(from_either_end(m.in(1)(where), data[static_cast<std::size_t>(batch + i)]));
    }
    from.insert(from.end(), at.begin() + prefix, at.end());
    return m.in(0)(from);
  }));
  return std::move(m).finish();
}

constexpr std::array<int, 3> gather_versions = {1, 11, 13};
constexpr std::array<int, 2> elements_versions = {11, 13};
constexpr std::array<int, 3> nd_versions = {11, 12, 13};
constexpr std::array<Param, 2> inputs = {Param{"data", dtypes::basic, "T"}, Param{"indices", dtypes::index_types, "Tind"}};
constexpr std::array<Param, 2> nd_inputs = {Param{"data", dtypes::basic, "T"}, Param{"indices", DType::i64}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<AttributeDef, 1> axis_0 = {int_attribute("axis", 0)};
constexpr std::array<AttributeDef, 1> batch_dims = {int_attribute("batch_dims", 0)};

const std::array table = {
    OpDef{"Gather", "Slices of data along an axis, by index", gather_versions, inputs, outputs, axis_0, infer_gather, gather_meaning},
    OpDef{"GatherElements", "Elements of data, the index along one axis given for each", elements_versions, inputs, outputs, axis_0, infer_gather_elements,
          gather_elements_meaning},
    OpDef{"GatherND", "Slices of data by index vectors", nd_versions, nd_inputs, outputs, batch_dims, infer_gather_nd, gather_nd_meaning},
};

}  // namespace

std::span<const OpDef> gather_ops() { return table; }

}  // namespace infini
