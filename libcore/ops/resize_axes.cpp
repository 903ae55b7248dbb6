#include "libcore/ops/resize_axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/ops/shape_rules.h"

namespace infini::resize {
namespace {

// The quotient of the smallest numbers that rounds to `scale`, so that 0.7 times 10 is 7 for numbers and for symbols.
Dim scaled(const Dim& extent, float scale) {
  std::int64_t p = 1, q = 0, last_p = 0, last_q = 1;  // convergents of the continued fraction
  for (double rest = static_cast<double>(scale);;) {
    double whole = std::floor(rest);
    auto digit = static_cast<std::int64_t>(whole);
    last_p = std::exchange(p, digit * p + last_p);
    last_q = std::exchange(q, digit * q + last_q);
    if (static_cast<float>(static_cast<double>(p) / static_cast<double>(q)) == scale || rest == whole) break;
    rest = 1 / (rest - whole);
  }
  return floor_div(extent * Dim(p), Dim(q));
}

// All axes, those named by attribute `axes` only if it is there. Extents and scales are still those of the input.
Result<std::vector<Axis>> resized_axes(const OpContext& context) {
  const Shape& x = *context.shape(0);
  std::vector<std::int64_t> named(x.size());
  std::iota(named.begin(), named.end(), 0);
  if (context.attributes().has("axes")) named = context.attributes().integers("axes");
  IT_TRY_VOID(normalise_axes(named, x.size()));
  std::vector<Axis> out;
  for (std::size_t i = 0; i < named.size(); ++i) {
    IT_TRY(std::size_t axis, normalise_axis(named[i], x.size()));
    out.push_back({axis, i, x[axis], x[axis], std::nullopt, true});
  }
  return out;
}

Status by_scales(const OpContext& context, std::vector<Axis>& axes) {
  std::optional<std::vector<double>> scales = context.reals(scales_input);
  if (scales && scales->size() != axes.size()) return bad_input(text("scales has ", scales->size(), " entries, ", axes.size(), " axes are resized"));
  for (Axis& a : axes) {
    a.known = scales.has_value();
    if (!a.known) continue;
    a.scale = (*scales)[a.operand];
    if (!(*a.scale >= 1e-6 && *a.scale <= 1e6)) return bad_input(text("scale ", a.operand, " is ", *a.scale, ", expected a number in [1e-6, 1e6]"));
    a.output = scaled(a.input, static_cast<float>(*a.scale));
  }
  return {};
}

// The one scale of all axes that keeps the aspect ratio: the smallest or largest asked for.
void keep_aspect_ratio(std::vector<Axis>& axes, bool not_larger) {
  std::optional<double> common;
  bool numbers = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.known && a.input.is_constant() && a.output.is_constant(); });
  for (const Axis& a : axes) {
    if (!numbers || *a.input.constant() == 0) continue;
    double scale = static_cast<double>(*a.output.constant()) / static_cast<double>(*a.input.constant());
    common = !common ? scale : not_larger ? std::min(*common, scale) : std::max(*common, scale);
  }
  for (Axis& a : axes) {
    a.known = common.has_value();
    if (!a.known) continue;
    a.scale = common;
    a.output = Dim(static_cast<std::int64_t>(std::floor(*common * static_cast<double>(*a.input.constant()) + 0.5)));
  }
}

Status by_sizes(const OpContext& context, std::vector<Axis>& axes) {
  auto sizes = context.dims(sizes_input);
  if (sizes && sizes->size() != axes.size()) return bad_input(text("sizes has ", sizes->size(), " entries, ", axes.size(), " axes are resized"));
  for (Axis& a : axes) {
    a.known = sizes && (*sizes)[a.operand];
    if (!a.known) continue;
    a.output = *(*sizes)[a.operand];
    if (a.output.constant().value_or(0) < 0) return bad_input(text("size ", a.operand, " is ", a.output.to_string()));
  }
  std::string policy = context.attributes().text("keep_aspect_ratio_policy", "stretch");
  if (policy == "not_larger" || policy == "not_smaller") {
    keep_aspect_ratio(axes, policy == "not_larger");
  } else if (policy != "stretch") {
    return bad_input(text("keep_aspect_ratio_policy is '", policy, "', expected stretch, not_larger or not_smaller"));
  }
  return {};
}

// An operand that is left out, or has no elements, as files before opset 13 wrote it.
bool absent(const OpContext& context, std::size_t i) {
  return !context.has(i) || (context.shape(i) && element_count(*context.shape(i)) == Dim(0));
}

Status one_of(std::string_view name, std::string_view value, std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
  return bad_input(text(name, " is '", value, "', expected ", join(std::vector<std::string_view>(allowed), ", ")));
}

}  // namespace

Status check_attributes(const OpContext& context) {
  const Attributes& a = context.attributes();
  std::string mode = a.text("mode", "nearest");
  IT_TRY_VOID(one_of("mode", mode, {"nearest", "linear", "cubic"}));
  IT_TRY_VOID(one_of("coordinate_transformation_mode", a.text("coordinate_transformation_mode", "half_pixel"),
                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"}));
  IT_TRY_VOID(one_of("nearest_mode", a.text("nearest_mode", "round_prefer_floor"), {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (mode != "nearest" && !(dtypes::numeric | DType::boolean).contains(context.dtype(0))) {
    return bad_input(text("mode is '", mode, "', ", name(context.dtype(0)), " can only be resized by nearest"));
  }
  return {};
}

Result<std::vector<Axis>> geometry(const OpContext& context) {
  IT_TRY_VOID(check_attributes(context));
  IT_TRY(std::vector<Axis> axes, resized_axes(context));
  bool scales = !absent(context, scales_input), sizes = !absent(context, sizes_input);
  if (scales == sizes) return bad_input(scales ? "both scales and sizes are given, one is expected" : "neither scales nor sizes are given");
  IT_TRY_VOID(scales ? by_scales(context, axes) : by_sizes(context, axes));
  for (const Axis& a : axes) {
    if (a.input == Dim(0) && a.known && !(a.output == Dim(0))) return bad_input(text("axis ", a.axis, " has no elements to resize"));
  }
  if (context.attributes().text("coordinate_transformation_mode") == "tf_crop_and_resize") {
    const Shape* roi = absent(context, roi_input) ? nullptr : context.shape(roi_input);
    if (!roi || roi->size() != 1) return bad_input("tf_crop_and_resize needs a vector roi");
    IT_TRY_VOID(same_dim((*roi)[0], Dim(static_cast<std::int64_t>(2 * axes.size())), "elements of roi, and two for each axis"));
  }
  return axes;
}

Shape output_shape(const Shape& x, const std::vector<Axis>& axes, const OpContext& context) {
  Shape out = x;
  for (const Axis& a : axes) out[a.axis] = a.known ? a.output : context.fresh();
  return out;
}

}  // namespace infini::resize
