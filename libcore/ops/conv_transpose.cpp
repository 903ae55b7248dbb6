// ConvTranspose: the gradient of Conv with respect to its input. Tap k of input i goes to output i stride + k dilation - pad; read from
// the output's side, output o takes tap k of input (o + pad - k dilation) / stride where that is a whole number.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/windows.h"

namespace infini {
namespace {

using namespace expr;

struct Axis {
  Dim kernel, output, begin;
  std::int64_t stride = 1, dilation = 1;
};

std::string shapes(const OpContext& context) {
  return text("x is ", to_string(*context.shape(0)), ", w is ", to_string(*context.shape(1)), ", group is ", context.attributes().integer("group", 1));
}

Status check(const OpContext& context) {
  const Shape &x = *context.shape(0), &w = *context.shape(1);
  std::int64_t group = context.attributes().integer("group", 1);
  if (x.size() < 3 || x.size() != w.size()) return bad_input(text(shapes(context), "; both need the same rank of at least 3"));
  if (group < 1) return bad_input(text("group is ", group, ", expected at least 1"));
  if (x[1].is_constant() && w[0].is_constant() && !(x[1] == w[0])) return bad_input(text(shapes(context), "; x's channels must be w's first dimension"));
  if (w[0].is_constant() && *w[0].constant() % group != 0) return bad_input(text(shapes(context), "; w's first dimension must be a multiple of group"));
  Dim channels = w[1] * Dim(group);
  if (const Shape* b = context.shape(2); b && (b->size() != 1 || ((*b)[0].is_constant() && channels.is_constant() && !((*b)[0] == channels)))) {
    return bad_input(text("b is ", to_string(*b), ", expected ", to_string(Shape{channels})));
  }
  return {};
}

// The requested sizes, of which some exporters state batch and channels too; empty if none.
Result<std::vector<std::int64_t>> requested(const OpContext& context, std::size_t rank) {
  std::vector<std::int64_t> sizes = context.attributes().integers("output_shape");
  if (sizes.size() == rank + 2) sizes.erase(sizes.begin(), sizes.begin() + 2);
  if (!sizes.empty() && sizes.size() != rank) return bad_input(text("attribute 'output_shape' has ", sizes.size(), " numbers, expected ", rank));
  for (std::int64_t size : sizes) {
    if (size < 0) return bad_input(text("attribute 'output_shape' is [", join(sizes, ","), "], sizes cannot be negative"));
  }
  return sizes;
}

Result<std::vector<Axis>> geometry(const OpContext& context) {
  IT_TRY_VOID(check(context));
  const Shape &x = *context.shape(0), &w = *context.shape(1);
  std::size_t rank = x.size() - 2;
  IT_TRY(std::vector<std::int64_t> strides, spatial_attribute(context, "strides", rank, 1, 1));
  IT_TRY(std::vector<std::int64_t> dilations, spatial_attribute(context, "dilations", rank, 1, 1));
  IT_TRY(std::vector<std::int64_t> pads, spatial_attribute(context, "pads", 2 * rank, 0, 0));
  IT_TRY(std::vector<std::int64_t> extra, spatial_attribute(context, "output_padding", rank, 0, 0));
  IT_TRY(std::vector<std::int64_t> sizes, requested(context, rank));
  std::vector<std::int64_t> kernel = context.attributes().integers("kernel_shape");
  std::string mode = context.attributes().text("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "NOTSET" && mode != "VALID") return bad_input(text("auto_pad is '", mode, "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  if (!kernel.empty() && kernel.size() != rank) return bad_input(text("attribute 'kernel_shape' has ", kernel.size(), " numbers, expected ", rank));
  std::vector<Axis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    Axis& a = axes[i];
    a.stride = strides[i];
    a.dilation = dilations[i];
    a.kernel = w[i + 2];
    if (!kernel.empty()) {
      IT_TRY(a.kernel, same_dim(w[i + 2], Dim(kernel[i]), text("kernel_shape is [", join(kernel, ","), "], w is ", to_string(w))));
    }
    Dim whole = Dim(a.stride) * (x[i + 2] - Dim(1)) + Dim(extra[i]) + (a.kernel - Dim(1)) * Dim(a.dilation) + Dim(1);
    if (sizes.empty() && !same) {
      std::int64_t begin = mode == "NOTSET" ? pads[i] : 0, end = mode == "NOTSET" ? pads[rank + i] : 0;
      a.begin = Dim(begin);
      a.output = whole - Dim(begin) - Dim(end);
    } else {
      a.output = sizes.empty() ? x[i + 2] * Dim(a.stride) : Dim(sizes[i]);
      Dim total = max(Dim(0), whole - a.output), half = floor_div(total, Dim(2));
      a.begin = mode == "SAME_UPPER" ? half : total - half;
    }
    if (a.output.is_constant() && *a.output.constant() < 0) return bad_input(text(shapes(context), "; the padding leaves an output of ", a.output.to_string()));
  }
  return axes;
}

Shape output_shape(const OpContext& context, const std::vector<Axis>& axes) {
  Shape out = {(*context.shape(0))[0], (*context.shape(1))[1] * Dim(context.attributes().integer("group", 1))};
  for (const Axis& axis : axes) out.push_back(axis.output);
  return out;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0) || !context.shape(1)) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::vector<Axis> axes, geometry(context));
  return one(Type::tensor(context.dtype(0), output_shape(context, axes)));
}

// Where output o reads along one axis for number `step` of its taps, and whether that tap exists (null: always). Undilated, only the taps
// congruent to o + pad modulo the stride are visited: step j is tap (o + pad) mod stride + j stride.
struct Tap {
  Expr x, w, exists;
};

Dim steps(const Axis& axis) { return axis.dilation == 1 ? ceil_div(axis.kernel, Dim(axis.stride)) : axis.kernel; }

Tap tap(const Axis& axis, const Expr& o, const Expr& step) {
  Expr from = o + index(axis.begin), stride = index(axis.stride);
  if (axis.dilation == 1) {
    Tap t{floor_div(from, stride) - step, floor_mod(from, stride) + step * stride, {}};
    if (!exact_div(axis.kernel, Dim(axis.stride))) t.exists = less(t.w, index(axis.kernel));
    return t;
  }
  Expr reached = from - step * index(axis.dilation);
  Tap t{floor_div(reached, stride), step, {}};
  if (axis.stride != 1) t.exists = equal(floor_mod(reached, stride), index(0));
  return t;
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<Axis> axes, geometry(context));
  const Shape& w = *context.shape(1);
  std::int64_t group = context.attributes().integer("group", 1);
  Dim per_group = floor_div(w[0], Dim(group));
  Shape extents = {per_group};
  for (const Axis& axis : axes) extents.push_back(steps(axis));
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, output_shape(context, axes), [&](Meaning& m, const Indices& at) {
    Expr first = group == 1 ? index(0) : floor_div(at[1], index(w[1])) * index(per_group);
    Expr sum = m.reduce(Op::sum, extents, [&](const Indices& step) {
      Expr channel = first + step[0], exists;
      Indices in_x = {at[0], channel}, in_w = {channel, group == 1 ? at[1] : floor_mod(at[1], index(w[1]))};
      for (std::size_t i = 0; i < axes.size(); ++i) {
        Tap t = tap(axes[i], at[i + 2], step[i + 1]);
        in_x.push_back(t.x);
        in_w.push_back(t.w);
        if (t.exists) exists = exists ? both(exists, t.exists) : t.exists;
      }
      Expr product = wide(m.in(0)(in_x)) * wide(m.in(1)(in_w));
      return exists ? select(exists, product, constant(product.dtype(), 0)) : product;
    });
    if (context.has(2)) sum = sum + wide(m.in(2)({at[1]}));
    return cast(dtype, sum);
  });
}

// The text of opset 1 had the two halves of the padding the other way round.
Status upgrade(Upgrade& node) {
  if (node.opset() >= 11) return {};
  std::string mode = node.attributes().text("auto_pad", "NOTSET");
  bool split = mode == "SAME_UPPER" || mode == "SAME_LOWER" || !node.attributes().integers("output_shape").empty();
  if (split) node.attributes().set("auto_pad", std::string(mode == "SAME_UPPER" ? "SAME_LOWER" : "SAME_UPPER"));
  return {};
}

constexpr std::array<int, 3> versions = {1, 11, 22};
constexpr std::array<Param, 3> inputs = {Param{"X", dtypes::floats, "T"}, Param{"W", dtypes::floats, "T"},
                                         Param{"B", dtypes::floats, "T", Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"Y", dtypes::floats, "T"}};
constexpr std::array<AttributeDef, 8> attributes = {
    text_attribute("auto_pad", "NOTSET"),
    optional_attribute("dilations", AttributeKind::integers),
    int_attribute("group", 1),
    optional_attribute("kernel_shape", AttributeKind::integers),
    optional_attribute("output_padding", AttributeKind::integers),
    optional_attribute("output_shape", AttributeKind::integers),
    optional_attribute("pads", AttributeKind::integers),
    optional_attribute("strides", AttributeKind::integers),
};

const std::array table = {OpDef{.name = "ConvTranspose", .summary = "Transposed convolution over any number of spatial axes", .versions = versions,
                                .inputs = inputs, .outputs = outputs, .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade}};

}  // namespace

std::span<const OpDef> conv_transpose_ops() { return table; }

}  // namespace infini
