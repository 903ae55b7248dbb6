// Pools: AveragePool and MaxPool over windows, GlobalAveragePool and GlobalMaxPool over all spatial axes.
#include <array>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/windows.h"

namespace infini {
namespace {

using namespace expr;

Result<std::vector<Window>> geometry(const OpContext& context) {
  const Shape& x = *context.shape(0);
  std::vector<std::int64_t> sizes = context.attributes().integers("kernel_shape");
  if (x.size() < 3 || sizes.size() != x.size() - 2) {
    return bad_input(text("x is ", to_string(x), ", kernel_shape is [", join(sizes, ","), "]; x needs a batch axis, a channel axis and one axis per number"));
  }
  IT_TRY(sizes, spatial_attribute(context, "kernel_shape", sizes.size(), 1, 1));
  return windows(context, Shape(x.begin() + 2, x.end()), Shape(sizes.begin(), sizes.end()));
}

Shape output_shape(const Shape& x, const std::vector<Window>& windows) {
  Shape out = {x[0], x[1]};
  for (const Window& w : windows) out.push_back(w.output);
  return out;
}

Shape kernel_of(const std::vector<Window>& windows) {
  Shape kernel;
  for (const Window& w : windows) kernel.push_back(w.kernel);
  return kernel;
}

Result<std::vector<Type>> infer_average(const OpContext& context) {
  if (!context.shape(0)) return one(fresh_tensor(context, context.dtype(0), context.attributes().integers("kernel_shape").size() + 2));
  IT_TRY(std::vector<Window> windows, geometry(context));
  return one(Type::tensor(context.dtype(0), output_shape(*context.shape(0), windows)));
}

Result<std::vector<Type>> infer_max(const OpContext& context) {
  std::int64_t order = context.attributes().integer("storage_order");
  if (order != 0 && order != 1) return bad_input(text("attribute 'storage_order' is ", order, ", expected 0 or 1"));
  IT_TRY(std::vector<Type> types, infer_average(context));
  types.push_back(Type::tensor(DType::i64, types[0].shape));
  return types;
}

// Where tap `tap` of output `at` reads.
Indices read_at(const std::vector<Window>& windows, const Indices& at, const Indices& tap) {
  Indices out = {at[0], at[1]};
  for (std::size_t i = 0; i < windows.size(); ++i) out.push_back(windows[i].at(at[i + 2], tap[i]));
  return out;
}

Expr within(const Expr& position, const Expr& lowest, const Expr& beyond) { return both(less_equal(lowest, position), less(position, beyond)); }

// Whether spatial position `read` lies in x; a null expression if it always does.
Expr inside(const std::vector<Window>& windows, const Indices& read) {
  Expr all;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].inside) continue;
    Expr here = within(read[i + 2], index(0), index(windows[i].input));
    all = all ? both(all, here) : here;
  }
  return all;
}

// The numbers of taps that count, one vector per axis: those in x, or with count_include_pad those in the padded x (ceil_mode reaches beyond it).
std::vector<TensorRef> tap_counts(Meaning& m, const std::vector<Window>& windows, bool include_pad, DType dtype) {
  std::vector<TensorRef> counts;
  for (const Window& w : windows) {
    Expr lowest = include_pad ? index(Dim(0) - w.begin) : index(0), beyond = index(include_pad ? w.input + w.end : w.input);
    counts.push_back(m.define(dtype, {w.output}, [&](const Indices& o) {
      return m.sum(w.kernel, [&](Expr k) { return select(within(w.at(o[0], k), lowest, beyond), constant(dtype, 1), constant(dtype, 0)); });
    }));
  }
  return counts;
}

Result<Program> average_meaning(const OpContext& context) {
  IT_TRY(std::vector<Window> windows, geometry(context));
  DType dtype = context.dtype(0), computed = compute_type(dtype);
  bool include_pad = context.attributes().integer("count_include_pad") != 0, all_inside = true;
  for (const Window& w : windows) all_inside = all_inside && w.inside;
  Shape kernel = kernel_of(windows);
  Meaning m(context);
  std::vector<TensorRef> counts;
  if (!all_inside) counts = tap_counts(m, windows, include_pad, computed);
  m.output(m.define(dtype, output_shape(*context.shape(0), windows), [&](const Indices& at) {
    Expr sum = m.reduce(Op::sum, kernel, [&](const Indices& tap) { return wide(m.in(0)(read_at(windows, at, tap))); });
    Expr count = cast(computed, index(element_count(kernel)));
    for (std::size_t i = 0; i < counts.size(); ++i) count = i == 0 ? counts[i]({at[2]}) : count * counts[i]({at[i + 2]});
    return cast(dtype, sum / count);
  }));
  return std::move(m).finish();
}

// The number of an element of x in row-major (0) or column-major (1) order of the spatial axes.
Expr element_number(const Shape& x, const Indices& read, std::int64_t storage_order) {
  if (storage_order == 0) return flat_index(read, x);
  Shape spatial(x.rbegin(), x.rend() - 2);
  Indices positions(read.rbegin(), read.rend() - 2);
  return (read[0] * index(x[1]) + read[1]) * index(element_count(spatial)) + flat_index(positions, spatial);
}

// What never wins a maximum.
Expr lowest_of(DType dtype) {
  if (is_floating(dtype)) return constant(dtype, -std::numeric_limits<double>::infinity());
  return constant_int(dtype, is_signed_int(dtype) ? -(std::int64_t{1} << (info(dtype).bits - 1)) : 0);
}

Result<Program> max_meaning(const OpContext& context) {
  IT_TRY(std::vector<Window> windows, geometry(context));
  const Shape& x = *context.shape(0);
  DType dtype = context.dtype(0);
  Shape kernel = kernel_of(windows), out = output_shape(x, windows);
  Meaning m(context);
  Expr lowest = lowest_of(dtype);
  TensorRef y = m.define(dtype, out, [&](const Indices& at) {
    return m.reduce(Op::max, kernel, [&](const Indices& tap) {
      Indices read = read_at(windows, at, tap);
      Expr element = m.in(0)(read), exists = inside(windows, read);
      return exists ? select(exists, element, lowest) : element;
    });
  });
  m.output(y);
  if (context.output_count() < 2) return std::move(m).finish();
  Dim taps = element_count(kernel);
  TensorRef chosen = m.define(DType::i64, out, [&](const Indices& at) {  // the first tap that holds the maximum
    return m.reduce(Op::min, kernel, [&](const Indices& tap) {
      Indices read = read_at(windows, at, tap);
      Expr element = m.in(0)(read), exists = inside(windows, read), found = equal(element, y(at));
      if (is_floating(dtype)) found = either(found, unary(Op::is_nan, element));
      return select(exists ? both(exists, found) : found, flat_index(tap, kernel), index(taps));
    });
  });
  m.output(m.define(DType::i64, out, [&](const Indices& at) {
    return element_number(x, read_at(windows, at, unflatten(chosen(at), kernel)), context.attributes().integer("storage_order"));
  }));
  return std::move(m).finish();
}

Result<std::vector<Type>> infer_global(const OpContext& context) {
  if (!context.shape(0)) return infer_same(context);
  Shape out = *context.shape(0);
  if (out.size() < 2) return bad_input(text("x is ", to_string(out), ", expected a batch axis and a channel axis"));
  std::fill(out.begin() + 2, out.end(), Dim(1));
  return one(Type::tensor(context.dtype(0), std::move(out)));
}

template <Op op>
Result<Program> global_meaning(const OpContext& context) {
  IT_TRY(std::vector<Type> types, infer_global(context));
  const Shape& x = *context.shape(0);
  Shape spatial(x.begin() + 2, x.end());
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, *types[0].shape, [&](Meaning& m, const Indices& at) {
    Expr all = m.reduce(op, spatial, [&](const Indices& position) {
      Indices read = {at[0], at[1]};
      read.insert(read.end(), position.begin(), position.end());
      return wide(m.in(0)(read));
    });
    return cast(dtype, op == Op::sum ? all / cast(all.dtype(), index(element_count(spatial))) : all);
  });
}

constexpr DTypeSet max_types = dtypes::floats | DType::i8 | DType::u8;
constexpr std::array<Param, 1> float_in = {Param{"X", dtypes::floats, "T"}};
constexpr std::array<Param, 1> float_out = {Param{"Y", dtypes::floats, "T"}};
constexpr std::array<Param, 1> max_in = {Param{"X", max_types, "T"}};
constexpr std::array<Param, 2> max_out = {Param{"Y", max_types, "T"}, Param{"Indices", DType::i64, {}, Arity::optional}};
constexpr std::array<int, 6> average_versions = {1, 7, 10, 11, 19, 22};
constexpr std::array<int, 6> max_versions = {1, 8, 10, 11, 12, 22};
constexpr std::array<int, 2> v_1_22 = {1, 22};
constexpr std::array<AttributeDef, 7> average_attributes = {
    text_attribute("auto_pad", "NOTSET"),
    int_attribute("ceil_mode", 0),
    int_attribute("count_include_pad", 0),
    optional_attribute("dilations", AttributeKind::integers),
    required_attribute("kernel_shape", AttributeKind::integers),
    optional_attribute("pads", AttributeKind::integers),
    optional_attribute("strides", AttributeKind::integers),
};
constexpr std::array<AttributeDef, 7> max_attributes = {
    text_attribute("auto_pad", "NOTSET"),
    int_attribute("ceil_mode", 0),
    optional_attribute("dilations", AttributeKind::integers),
    required_attribute("kernel_shape", AttributeKind::integers),
    optional_attribute("pads", AttributeKind::integers),
    int_attribute("storage_order", 0),
    optional_attribute("strides", AttributeKind::integers),
};

const std::array table = {
    OpDef{"AveragePool", "Mean over windows", average_versions, float_in, float_out, average_attributes, infer_average, average_meaning},
    OpDef{"GlobalAveragePool", "Mean over all spatial axes", v_1_22, float_in, float_out, {}, infer_global, global_meaning<Op::sum>},
    OpDef{"GlobalMaxPool", "Maximum over all spatial axes", v_1_22, float_in, float_out, {}, infer_global, global_meaning<Op::max>},
    OpDef{"MaxPool", "Maximum over windows, and where it stood", max_versions, max_in, max_out, max_attributes, infer_max, max_meaning},
};

}  // namespace

std::span<const OpDef> pool_ops() { return table; }

}  // namespace infini
