// Resize: each axis resampled by itself, from the nearest element or as a weighted sum of those around; and Upsample, its older name.
#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/resize_axes.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

using resize::Axis;
using resize::geometry;
using resize::output_shape;
using resize::roi_input;
using resize::scales_input;
using resize::sizes_input;

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0)) {
    IT_TRY_VOID(resize::check_attributes(context));
    return infer_same(context);
  }
  IT_TRY(std::vector<Axis> axes, geometry(context));
  return one(Type::tensor(context.dtype(0), output_shape(*context.shape(0), axes, context)));
}

// ---- positions ------------------------------------------------------------------------------------------------------------------------------

constexpr DType real = DType::f64;
Expr number(double value) { return constant(real, value); }
Expr number(const Dim& value) { return cast(real, index(value)); }

// What the meaning of one axis is made of; all in f64.
struct Sampling {
  const OpContext& context;
  Meaning& m;
  std::string transformation;

  // Output per input, and the extent of the output before it was rounded to a whole number.
  Expr scale(const Axis& a) const { return a.scale ? number(*a.scale) : number(a.output) / number(a.input); }
  Expr exact_output(const Axis& a) const { return a.scale ? number(*a.scale) * number(a.input) : number(a.output); }

  bool crops() const { return transformation == "tf_crop_and_resize"; }
  Expr roi(const Axis& a, bool end) const {
    Dim half = floor_div((*context.shape(roi_input))[0], Dim(2));
    Expr at = index(static_cast<std::int64_t>(a.operand));
    return cast(real, m.in(roi_input)({end ? at + index(half) : at}));
  }

  // The axis may be left as it is.
  bool idle(const Axis& a) const { return a.input == a.output && a.scale.value_or(1) == 1 && !crops(); }

  // Where output `o` lies in the input.
  Expr position(const Axis& a, const Expr& o) const {
    Expr x = cast(real, o), one_less = number(a.input) - number(1), out = exact_output(a), single = equal(out, number(1));
    Expr half_pixel = (x + number(0.5)) / scale(a) - number(0.5);
    if (transformation == "asymmetric") return x / scale(a);
    if (transformation == "pytorch_half_pixel") return select(less(index(1), index(a.output)), half_pixel, number(0));
    if (transformation == "align_corners") return select(single, number(0), x * one_less / (out - number(1)));
    if (transformation == "half_pixel_symmetric") return number(a.input) / number(2) * (number(1) - number(a.output) / out) + half_pixel;
    if (!crops()) return half_pixel;
    Expr length = (roi(a, true) - roi(a, false)) * one_less;
    return select(single, length / number(2), x * length / (out - number(1))) + roi(a, false) * one_less;
  }
  TensorRef positions(const Axis& a) const {
    return m.define(real, {a.output}, [&](const Indices& at) { return position(a, at[0]); });
  }
};

Expr clamped(const Expr& i, const Dim& extent) { return minimum(maximum(i, index(0)), index(extent) - index(1)); }

// Where a position of any cropped axis lies outside of the input, the extrapolation value stands.
Expr extrapolated(const Sampling& s, const std::vector<Axis>& axes, const std::vector<TensorRef>& positions, const Indices& at, Expr value) {
  if (!s.crops()) return value;
  Expr outside = constant_int(DType::boolean, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Expr x = positions[i]({at[axes[i].axis]});
    outside = either(outside, either(less(x, number(0)), less(number(axes[i].input) - number(1), x)));
  }
  double other = static_cast<double>(s.context.attributes().real("extrapolation_value", 0));
  return select(outside, constant(value.dtype(), other), value);
}

// ---- nearest --------------------------------------------------------------------------------------------------------------------------------

Expr rounded(const std::string& mode, const Expr& x) {
  if (mode == "floor") return unary(Op::floor, x);
  if (mode == "ceil") return unary(Op::ceil, x);
  if (mode == "round_prefer_ceil") return unary(Op::floor, x + number(0.5));
  return unary(Op::ceil, x - number(0.5));
}

Status nearest(const Sampling& s, const std::vector<Axis>& axes) {
  std::string mode = s.context.attributes().text("nearest_mode", "round_prefer_floor");
  DType dtype = s.context.dtype(0);
  if (s.crops() && (dtype == DType::str || is_complex(dtype))) return unsupported(text("tf_crop_and_resize of ", name(dtype), " has no extrapolation value"));
  std::vector<TensorRef> positions, sources;
  for (const Axis& a : axes) {
    positions.push_back(s.positions(a));
    sources.push_back(s.m.define(DType::i64, {a.output}, [&](const Indices& at) {
      return clamped(cast(DType::i64, rounded(mode, positions.back()({at[0]}))), a.input);
    }));
  }
  s.m.output(s.m.define(dtype, output_shape(*s.context.shape(0), axes, s.context), [&](const Indices& at) {
    Indices from = at;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (!s.idle(axes[i])) from[axes[i].axis] = sources[i]({at[axes[i].axis]});
    }
    return extrapolated(s, axes, positions, at, s.m.in(0)(from));
  }));
  return {};
}

// ---- linear and cubic -----------------------------------------------------------------------------------------------------------------------

// The weight of an element at `distance` (>= 0, in elements).
Expr kernel(const OpContext& context, bool cubic, const Expr& d) {
  if (!cubic) return maximum(number(1) - d, number(0));
  double a = static_cast<double>(context.attributes().real("cubic_coeff_a", -0.75f));
  Expr inner = (number(a + 2) * d - number(a + 3)) * d * d + number(1);
  Expr outer = ((number(a) * d - number(5 * a)) * d + number(8 * a)) * d - number(4 * a);
  return select(less_equal(d, number(1)), inner, select(less(d, number(2)), outer, number(0)));
}

// The elements that have a weight for a position x are floor(x) + first ... floor(x) + 1 - first. With antialias, the kernel is
// stretched where the axis shrinks.
struct Taps {
  Dim first;
  Expr stretch;  // factor on distances; null: 1
  Dim count() const { return Dim(2) - Dim(2) * first; }
};

Taps taps_of(const Sampling& s, const Axis& a, bool cubic) {
  std::int64_t reach = cubic ? 2 : 1;
  if (s.context.attributes().integer("antialias") == 0) return {Dim(1 - reach), {}};
  if (a.scale) {
    double stretch = std::min(*a.scale, 1.0);
    return {Dim(static_cast<std::int64_t>(std::floor(-static_cast<double>(reach) / stretch)) + 1), number(stretch)};
  }
  return {floor_div(Dim(-reach) * max(a.input, a.output), max(a.output, Dim(1))) + Dim(1), minimum(s.scale(a), number(1))};
}

// Axis `a` of `x` resampled, in f64.
TensorRef resample(const Sampling& s, const Axis& a, const TensorRef& x, const TensorRef& positions, bool cubic) {
  Meaning& m = s.m;
  Taps taps = taps_of(s, a, cubic);
  bool exclude = s.context.attributes().integer("exclude_outside") != 0, normalise = exclude || taps.stretch;
  auto source = [&](const Expr& o, const Expr& k) { return cast(DType::i64, unary(Op::floor, positions({o}))) + index(taps.first) + k; };
  TensorRef raw = m.define(real, {a.output, taps.count()}, [&](const Indices& at) {
    Expr element = source(at[0], at[1]), distance = unary(Op::abs, cast(real, element) - positions({at[0]}));
    Expr weight = kernel(s.context, cubic, taps.stretch ? distance * taps.stretch : distance);
    if (!exclude) return weight;
    return select(both(less_equal(index(0), element), less(element, index(a.input))), weight, number(0));
  });
  TensorRef weights = !normalise ? raw : m.define(real, {a.output, taps.count()}, [&](const Indices& at) {
    Expr total = m.sum(taps.count(), [&](const Expr& k) { return raw({at[0], k}); });
    return raw(at) / select(equal(total, number(0)), number(1), total);
  });
  Shape shape = x.shape();
  shape[a.axis] = a.output;
  return m.define(real, std::move(shape), [&](const Indices& at) {
    return m.sum(taps.count(), [&](const Expr& k) {
      Indices from = at;
      from[a.axis] = clamped(source(at[a.axis], k), a.input);
      return cast(real, x(from)) * weights({at[a.axis], k});
    });
  });
}

// f64 as the element type; integers are rounded to nearest even and kept in their range.
Expr stored(DType dtype, const Expr& value) {
  if (is_floating(dtype)) return cast(dtype, value);
  if (dtype == DType::boolean) return negate(equal(value, number(0)));
  double width = info(dtype).bits, low = is_signed_int(dtype) ? -std::exp2(width - 1) : 0;
  double beyond = std::exp2(is_signed_int(dtype) ? width - 1 : width), high = width == 64 ? std::nextafter(beyond, 0.0) : beyond - 1;
  return cast(dtype, minimum(maximum(unary(Op::round_even, value), number(low)), number(high)));
}

void interpolated(const Sampling& s, const std::vector<Axis>& axes, bool cubic) {
  DType dtype = s.context.dtype(0);
  TensorRef x = s.m.in(0);
  std::vector<TensorRef> positions;
  for (const Axis& a : axes) {
    positions.push_back(s.positions(a));
    if (!s.idle(a)) x = resample(s, a, x, positions.back(), cubic);
  }
  s.m.output(s.m.define(dtype, x.shape(), [&](const Indices& at) {
    return stored(dtype, extrapolated(s, axes, positions, at, cast(real, x(at))));
  }));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(std::vector<Axis> axes, geometry(context));
  for (const Axis& a : axes) {
    if (!a.known) return unsupported("the resized extents are not known");
  }
  Meaning m(context);
  Sampling sampling{context, m, context.attributes().text("coordinate_transformation_mode", "half_pixel")};
  std::string mode = context.attributes().text("mode", "nearest");
  if (mode == "nearest") {
    IT_TRY_VOID(nearest(sampling, axes));
  } else {
    interpolated(sampling, axes, mode == "cubic");
  }
  return std::move(m).finish();
}

// ---- older forms ----------------------------------------------------------------------------------------------------------------------------

// Resize 10 and Upsample had X and scales only, and took the element before (in Resize 10 behind, where an axis shrinks) at x / scale.
void as_resize_10(Upgrade& node) {
  int scales = node.inputs().size() > 1 ? node.inputs()[1] : -1;
  node.set_input(scales_input, scales);
  node.set_input(roi_input, -1);
  const Tensor* known = scales < 0 ? nullptr : node.fact(scales).constant;
  bool shrinks = known && known->count() > 0;
  for (std::int64_t i = 0; shrinks && i < known->count(); ++i) shrinks = known->as_double(i) <= 1;
  node.attributes().set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes().set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
}

// tf_half_pixel_for_nn of opsets 11 and 12 is half_pixel plus a half, which two of the ways to round can say.
Status without_tf_half_pixel(Upgrade& node) {
  Attributes& a = node.attributes();
  if (a.text("coordinate_transformation_mode") != "tf_half_pixel_for_nn") return {};
  std::string rounding = a.text("nearest_mode", "round_prefer_floor");
  bool nearest_mode = a.text("mode", "nearest") == "nearest";
  if (!nearest_mode || (rounding != "floor" && rounding != "round_prefer_floor")) {
    return unsupported(text("tf_half_pixel_for_nn with mode '", a.text("mode", "nearest"), "' and nearest_mode '", rounding, "'"));
  }
  a.set("coordinate_transformation_mode", std::string("half_pixel"));
  a.set("nearest_mode", std::string(rounding == "floor" ? "round_prefer_ceil" : "ceil"));
  return {};
}

// Before opset 13, an operand that was not meant had no elements.
Status upgrade_resize(Upgrade& node) {
  if (node.opset() < 11) {
    as_resize_10(node);
    return {};
  }
  for (std::size_t i : {scales_input, sizes_input}) {
    if (node.inputs().size() <= i || node.inputs()[i] < 0) continue;
    const Type* type = node.fact(node.inputs()[i]).type;
    if (type && type->has_shape() && element_count(*type->shape) == Dim(0)) node.set_input(i, -1);
  }
  return without_tf_half_pixel(node);
}

Status upgrade_upsample(Upgrade& node) {
  if (node.opset() < 7) {
    float height = node.attributes().real("height_scale", 1), width = node.attributes().real("width_scale", 1);
    node.attributes().erase("height_scale");
    node.attributes().erase("width_scale");
    node.attributes().set("scales", std::vector<float>{1, 1, height, width});
    if (node.attributes().text("mode") == "bilinear") node.attributes().set("mode", std::string("linear"));
  }
  if (node.opset() < 9) node.attribute_to_input("scales", 1, DType::f32);
  as_resize_10(node);
  node.become("Resize");
  return {};
}

constexpr std::array<int, 5> resize_versions = {10, 11, 13, 18, 19};
constexpr std::array<int, 4> upsample_versions = {1, 7, 9, 10};
constexpr std::array<Param, 4> inputs = {Param{"X", dtypes::basic, "T1"}, Param{"roi", dtypes::ieee, "T2", Arity::optional},
                                         Param{"scales", DType::f32, {}, Arity::optional}, Param{"sizes", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"Y", dtypes::basic, "T1"}};
constexpr std::array<AttributeDef, 9> attributes = {
    int_attribute("antialias", 0),
    optional_attribute("axes", AttributeKind::integers),
    text_attribute("coordinate_transformation_mode", "half_pixel"),
    real_attribute("cubic_coeff_a", -0.75f),
    int_attribute("exclude_outside", 0),
    real_attribute("extrapolation_value", 0),
    text_attribute("keep_aspect_ratio_policy", "stretch"),
    text_attribute("mode", "nearest"),
    text_attribute("nearest_mode", "round_prefer_floor"),
};
constexpr std::array<int, 2> extents = {static_cast<int>(scales_input), static_cast<int>(sizes_input)};

const std::array table = {
    OpDef{.name = "Resize", .summary = "Each axis resampled", .versions = resize_versions, .inputs = inputs, .outputs = outputs,
          .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade_resize, .value_inputs = extents},
    OpDef{.name = "Upsample", .summary = "Becomes Resize on import", .versions = upsample_versions, .inputs = inputs, .outputs = outputs,
          .attributes = attributes, .infer = infer, .meaning = meaning, .upgrade = upgrade_upsample, .value_inputs = extents},
};

}  // namespace

std::span<const OpDef> resize_ops() { return table; }

}  // namespace infini
