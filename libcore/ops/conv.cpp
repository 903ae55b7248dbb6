// Conv: y[n, m, o...] = b[m] + sum(c, k...) x[n, c of m's group, o stride + k dilation - pad ...] w[m, c, k...].
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/ops/windows.h"

namespace infini {
namespace {

using namespace expr;

std::string shapes(const OpContext& context) {
  return text("x is ", to_string(*context.shape(0)), ", w is ", to_string(*context.shape(1)), ", group is ", context.attributes().integer("group", 1));
}

Status check(const OpContext& context) {
  const Shape &x = *context.shape(0), &w = *context.shape(1);
  std::int64_t group = context.attributes().integer("group", 1);
  if (x.size() < 3 || x.size() != w.size()) return bad_input(text(shapes(context), "; both need the same rank of at least 3"));
  if (group < 1) return bad_input(text("group is ", group, ", expected at least 1"));
  if (x[1].is_constant() && w[1].is_constant() && !(x[1] == w[1] * Dim(group))) {
    return bad_input(text(shapes(context), "; x's channels must be w's second dimension times group"));
  }
  if (w[0].is_constant() && *w[0].constant() % group != 0) return bad_input(text(shapes(context), "; w's first dimension must be a multiple of group"));
  if (const Shape* b = context.shape(2); b && (b->size() != 1 || ((*b)[0].is_constant() && w[0].is_constant() && !((*b)[0] == w[0])))) {
    return bad_input(text("b is ", to_string(*b), ", expected ", to_string(Shape{w[0]})));
  }
  return {};
}

Result<std::vector<Window>> geometry(const OpContext& context) {
  IT_TRY_VOID(check(context));
  const Shape &x = *context.shape(0), &w = *context.shape(1);
  Shape kernel(w.begin() + 2, w.end());
  if (context.attributes().has("kernel_shape")) {
    IT_TRY(std::vector<std::int64_t> given, spatial_attribute(context, "kernel_shape", kernel.size(), 1, 1));
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      IT_TRY(kernel[i], same_dim(kernel[i], Dim(given[i]), text("kernel_shape is [", join(given, ","), "], w is ", to_string(w))));
    }
  }
  return windows(context, Shape(x.begin() + 2, x.end()), kernel);
}

Shape output_shape(const OpContext& context, const std::vector<Window>& windows) {
  Shape out = {(*context.shape(0))[0], (*context.shape(1))[0]};
  for (const Window& w : windows) out.push_back(w.output);
  return out;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0) || !context.shape(1)) return one(Type::tensor(context.dtype(0)));
  IT_TRY(std::vector<Window> windows, geometry(context));
  return one(Type::tensor(context.dtype(0), output_shape(context, windows)));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<Window> windows, geometry(context));
  const Shape& w = *context.shape(1);
  std::int64_t group = context.attributes().integer("group", 1);
  Dim per_group = floor_div(w[0], Dim(group));
  Shape taps = {w[1]};
  for (const Window& window : windows) taps.push_back(window.kernel);
  DType dtype = context.dtype(0);
  return elementwise_meaning(context, dtype, output_shape(context, windows), [&](Meaning& m, const Indices& at) {
    Expr first = group == 1 ? index(0) : floor_div(at[1], index(per_group)) * index(w[1]);
    Expr sum = m.reduce(Op::sum, taps, [&](const Indices& tap) {
      Indices in_x = {at[0], first + tap[0]}, in_w = {at[1]};
      for (std::size_t i = 0; i < windows.size(); ++i) in_x.push_back(windows[i].at(at[i + 2], tap[i + 1]));
      in_w.insert(in_w.end(), tap.begin(), tap.end());
      return wide(m.in(0)(in_x)) * wide(m.in(1)(in_w));
    });
    if (context.has(2)) sum = sum + wide(m.in(2)({at[1]}));
    return cast(dtype, sum);
  });
}

constexpr std::array<int, 3> versions = {1, 11, 22};
constexpr std::array<Param, 3> inputs = {Param{"X", dtypes::floats, "T"}, Param{"W", dtypes::floats, "T"},
                                         Param{"B", dtypes::floats, "T", Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"Y", dtypes::floats, "T"}};
constexpr std::array<AttributeDef, 6> attributes = {
    text_attribute("auto_pad", "NOTSET"),
    optional_attribute("dilations", AttributeKind::integers),
    int_attribute("group", 1),
    optional_attribute("kernel_shape", AttributeKind::integers),
    optional_attribute("pads", AttributeKind::integers),
    optional_attribute("strides", AttributeKind::integers),
};

const std::array table = {OpDef{"Conv", "Convolution over any number of spatial axes", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> conv_ops() { return table; }

}  // namespace infini
