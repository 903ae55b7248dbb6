// ScatterElements and ScatterND: data with some of its elements replaced, or combined with updates, at indices that are values.
#include <array>
#include <complex>
#include <cstring>

#include "libcore/base/text.h"
#include "libcore/expr/operations.h"
#include "libcore/ops/op.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using expr::Number;

// ---- putting updates into a copy of the data ----------------------------------------------------------------------------------------------

// The operation of attribute `reduction`; nothing for "none".
Result<std::optional<expr::Op>> reduction_of(const OpContext& context) {
  using Reduction = std::optional<expr::Op>;
  std::string name = context.attributes().text("reduction", "none");
  DType dtype = context.dtype(0);
  if (name == "none") return Reduction();
  if (dtype == DType::str) return bad_input(text("reduction is '", name, "', strings take none"));
  if (name == "add") return Reduction(expr::Op::add);
  if (name == "mul") return Reduction(expr::Op::mul);
  if (name != "max" && name != "min") return bad_input(text("reduction is '", name, "', expected none, add, mul, max or min"));
  if (is_complex(dtype)) return bad_input(text("reduction is '", name, "', complex numbers take none, add or mul"));
  return Reduction(name == "max" ? expr::Op::maximum : expr::Op::minimum);
}

template <class T>
void combine_complex(expr::Op op, std::byte* to, const std::byte* update, std::int64_t count) {
  auto* out = reinterpret_cast<std::complex<T>*>(to);
  auto* in = reinterpret_cast<const std::complex<T>*>(update);
  for (std::int64_t i = 0; i < count; ++i) out[i] = op == expr::Op::add ? out[i] + in[i] : out[i] * in[i];
}

Number element(const Tensor& tensor, std::int64_t i) {
  return is_floating(tensor.dtype()) ? Number{tensor.as_double(i), 0} : Number{0, tensor.as_int(i)};
}

// Elements [from, from + count) of `updates` go to [to, to + count) of `out`.
void put(std::optional<expr::Op> reduction, TensorWriter& out, std::int64_t to, const Tensor& updates, std::int64_t from, std::int64_t count) {
  DType dtype = updates.dtype();
  if (dtype == DType::str) {
    for (std::int64_t i = 0; i < count; ++i) out.strings()[static_cast<std::size_t>(to + i)] = updates.strings()[static_cast<std::size_t>(from + i)];
    return;
  }
  std::int64_t size = info(dtype).bits / 8;
  std::byte* target = out.bytes() + to * size;
  const std::byte* source = updates.bytes().data() + from * size;
  if (!reduction) {
    if (count > 0) std::memcpy(target, source, static_cast<std::size_t>(count * size));
  } else if (dtype == DType::c64) {
    combine_complex<float>(*reduction, target, source, count);
  } else if (dtype == DType::c128) {
    combine_complex<double>(*reduction, target, source, count);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      Number result = expr::apply_binary(*reduction, dtype, element(out.tensor(), to + i), element(updates, from + i));
      if (is_floating(dtype)) {
        out.set_double(to + i, result.real);
      } else {
        out.set_int(to + i, result.integer);
      }
    }
  }
}

Result<TensorWriter> copy_of(const Tensor& data) {
  IT_TRY(TensorWriter out, TensorWriter::make(data.dtype(), data.extents()));
  if (data.dtype() == DType::str) {
    out.strings() = data.strings();
  } else if (!data.bytes().empty()) {
    std::memcpy(out.bytes(), data.bytes().data(), data.bytes().size());
  }
  return out;
}

// An index counted from either end as one in [0, extent).
Result<std::int64_t> position(std::int64_t i, std::int64_t extent, std::size_t axis) {
  if (i < -extent || i >= extent) return run_failed(text("index ", i, " is outside axis ", axis, " of data, which has ", extent, " elements"));
  return i < 0 ? i + extent : i;
}

// The number of elements from one index of each axis to the next.
Extents strides_of(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

// ---- ScatterElements ------------------------------------------------------------------------------------------------------------------------

Result<std::vector<Type>> infer_elements(const OpContext& context) {
  IT_TRY_VOID(reduction_of(context));
  const Shape *data = context.shape(0), *indices = context.shape(1), *updates = context.shape(2);
  auto shapes = [&] { return text("data is ", to_string(context.type(0)), ", indices is ", to_string(context.type(1)), ", updates is ", to_string(context.type(2))); };
  if (indices && updates && indices->size() != updates->size()) return bad_input(text(shapes(), "; indices and updates must have one shape"));
  for (std::size_t i = 0; indices && updates && i < indices->size(); ++i) {
    IT_TRY_VOID(within(shapes(), same_dim((*indices)[i], (*updates)[i], text("axis ", i))));
  }
  if (!data) return infer_same(context);
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data->size()));
  if (indices && indices->size() != data->size()) return bad_input(text(shapes(), "; ranks must be equal"));
  for (std::size_t i = 0; indices && i < data->size(); ++i) {
    std::optional<std::int64_t> have = (*data)[i].constant(), named = (*indices)[i].constant();
    if (i != axis && have && named && *named > *have) return bad_input(text(shapes(), "; axis ", i, " of indices is longer than data's"));
  }
  return infer_same(context);
}

Result<std::vector<Value>> scatter_elements(const OpContext& context, std::span<const Value* const> inputs) {
  IT_TRY_VOID(infer_elements(context));
  IT_TRY(std::optional<expr::Op> reduction, reduction_of(context));
  const Tensor &data = *inputs[0]->tensor(), &indices = *inputs[1]->tensor(), &updates = *inputs[2]->tensor();
  IT_TRY(std::size_t axis, normalise_axis(context.attributes().integer("axis"), data.rank()));
  IT_TRY(TensorWriter out, copy_of(data));
  Extents strides = strides_of(data.extents()), at(data.rank(), 0);
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    IT_TRY(std::int64_t own, position(indices.as_int(i), data.extents()[axis], axis));
    std::int64_t target = 0;
    for (std::size_t a = 0; a < at.size(); ++a) target += (a == axis ? own : at[a]) * strides[a];
    put(reduction, out, target, updates, i, 1);
    for (std::size_t a = at.size(); a-- > 0 && ++at[a] == indices.extents()[a];) at[a] = 0;
  }
  return std::vector<Value>{std::move(out).finish()};
}

// ---- ScatterND ------------------------------------------------------------------------------------------------------------------------------

// data[d...], indices[p..., n], updates[p..., rest of d after n axes].
Result<std::vector<Type>> infer_nd(const OpContext& context) {
  IT_TRY_VOID(reduction_of(context));
  const Shape *data = context.shape(0), *indices = context.shape(1), *updates = context.shape(2);
  if (!data || !indices || !updates) return infer_same(context);
  std::string shapes = text("data is ", to_string(*data), ", indices is ", to_string(*indices), ", updates is ", to_string(*updates));
  if (indices->empty() || data->empty()) return bad_input(text(shapes, "; data and indices need an axis each"));
  std::optional<std::int64_t> width = indices->back().constant();
  if (!width) return infer_same(context);
  if (*width < 0 || *width > static_cast<std::int64_t>(data->size())) return bad_input(text(shapes, "; the last axis of indices counts axes of data"));
  Shape expected(indices->begin(), indices->end() - 1);
  expected.insert(expected.end(), data->begin() + *width, data->end());
  if (updates->size() != expected.size()) return bad_input(text(shapes, "; updates must be ", to_string(expected)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    IT_TRY_VOID(within(text(shapes, "; updates must be ", to_string(expected)), same_dim(expected[i], (*updates)[i], text("axis ", i))));
  }
  return infer_same(context);
}

Result<std::vector<Value>> scatter_nd(const OpContext& context, std::span<const Value* const> inputs) {
  IT_TRY_VOID(infer_nd(context));
  IT_TRY(std::optional<expr::Op> reduction, reduction_of(context));
  const Tensor &data = *inputs[0]->tensor(), &indices = *inputs[1]->tensor(), &updates = *inputs[2]->tensor();
  IT_TRY(TensorWriter out, copy_of(data));
  std::int64_t width = indices.extents().back();
  Extents strides = strides_of(data.extents());
  std::int64_t slice = 1, vectors = 1;
  for (auto a = static_cast<std::size_t>(width); a < data.rank(); ++a) slice *= data.extents()[a];
  for (std::size_t a = 0; a + 1 < indices.rank(); ++a) vectors *= indices.extents()[a];
  for (std::int64_t v = 0; v < vectors; ++v) {
    std::int64_t target = 0;
    for (std::int64_t k = 0; k < width; ++k) {
      auto axis = static_cast<std::size_t>(k);
      IT_TRY(std::int64_t own, position(indices.as_int(v * width + k), data.extents()[axis], axis));
      target += own * strides[axis];
    }
    put(reduction, out, target, updates, v * slice, slice);
  }
  return std::vector<Value>{std::move(out).finish()};
}

constexpr std::array<int, 4> versions = {11, 13, 16, 18};
constexpr std::array<Param, 3> elements_inputs = {Param{"data", dtypes::basic, "T"}, Param{"indices", dtypes::index_types, "Tind"},
                                                  Param{"updates", dtypes::basic, "T"}};
constexpr std::array<Param, 3> nd_inputs = {Param{"data", dtypes::basic, "T"}, Param{"indices", DType::i64}, Param{"updates", dtypes::basic, "T"}};
constexpr std::array<Param, 1> outputs = {Param{"output", dtypes::basic, "T"}};
constexpr std::array<AttributeDef, 2> elements_attributes = {int_attribute("axis", 0), text_attribute("reduction", "none")};
constexpr std::array<AttributeDef, 1> nd_attributes = {text_attribute("reduction", "none")};
constexpr std::string_view reason = "Which updates reach an element depends on all indices; in index notation each element would ask every update.";

const std::array table = {
    OpDef{.name = "ScatterElements", .summary = "Data with updates at indices along one axis", .versions = versions, .inputs = elements_inputs,
          .outputs = outputs, .attributes = elements_attributes, .infer = infer_elements, .reference = scatter_elements, .reference_reason = reason},
    OpDef{.name = "ScatterND", .summary = "Data with slices of updates at index vectors", .versions = versions, .inputs = nd_inputs,
          .outputs = outputs, .attributes = nd_attributes, .infer = infer_nd, .reference = scatter_nd, .reference_reason = reason},
};

}  // namespace

std::span<const OpDef> scatter_ops() { return table; }

}  // namespace infini
