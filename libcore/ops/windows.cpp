#include "libcore/ops/windows.h"

#include "libcore/base/text.h"

namespace infini {
namespace {

enum class AutoPad { notset, valid, same_upper, same_lower };

Result<AutoPad> auto_pad(const OpContext& context) {
  std::string mode = context.attributes().text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return AutoPad::notset;
  if (mode == "VALID") return AutoPad::valid;
  if (mode == "SAME_UPPER") return AutoPad::same_upper;
  if (mode == "SAME_LOWER") return AutoPad::same_lower;
  return bad_input(text("auto_pad is '", mode, "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
}

// ceil(input / stride) outputs; what is missing for their windows becomes padding, the odd one behind (upper) or before (lower).
void pad_same(Window& w, AutoPad mode) {
  w.output = ceil_div(w.input, Dim(w.stride));
  Dim total = max(Dim(0), (w.output - Dim(1)) * Dim(w.stride) + w.reach() - w.input);
  Dim half = floor_div(total, Dim(2));
  w.begin = mode == AutoPad::same_upper ? half : total - half;
  w.end = total - w.begin;
}

Status place(Window& w, bool ceil_mode) {
  Dim room = w.input + w.begin + w.end - w.reach();
  if (room.is_constant() && *room.constant() < 0) {
    return bad_input(text("a window of ", w.reach().to_string(), " does not fit into an axis of ", w.input.to_string(), " with padding ",
                          w.begin.to_string(), " and ", w.end.to_string()));
  }
  w.output = (ceil_mode ? ceil_div(room, Dim(w.stride)) : floor_div(room, Dim(w.stride))) + Dim(1);
  if (ceil_mode) w.output = min(w.output, ceil_div(w.input + w.begin, Dim(w.stride)));
  return {};
}

}  // namespace

expr::Expr Window::at(const expr::Expr& o, const expr::Expr& k) const {
  return o * expr::index(stride) + k * expr::index(dilation) - expr::index(begin);
}

Result<std::vector<std::int64_t>> spatial_attribute(const OpContext& context, std::string_view name, std::size_t count, std::int64_t lowest,
                                                    std::int64_t otherwise) {
  std::vector<std::int64_t> values = context.attributes().integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) return bad_input(text("attribute '", name, "' has ", values.size(), " numbers, expected ", count));
  for (std::int64_t value : values) {
    if (value < lowest) return bad_input(text("attribute '", name, "' is [", join(values, ","), "], each must be at least ", lowest));
  }
  return values;
}

Result<std::vector<Window>> windows(const OpContext& context, const Shape& input, const Shape& kernel) {
  std::size_t rank = input.size();
  IT_TRY(std::vector<std::int64_t> strides, spatial_attribute(context, "strides", rank, 1, 1));
  IT_TRY(std::vector<std::int64_t> dilations, spatial_attribute(context, "dilations", rank, 1, 1));
  IT_TRY(std::vector<std::int64_t> pads, spatial_attribute(context, "pads", 2 * rank, 0, 0));
  IT_TRY(AutoPad mode, auto_pad(context));
  bool ceil_mode = context.attributes().integer("ceil_mode") != 0;
  std::vector<Window> out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    Window& w = out[i];
    w.input = input[i];
    w.kernel = kernel[i];
    w.stride = strides[i];
    w.dilation = dilations[i];
    if (mode == AutoPad::same_upper || mode == AutoPad::same_lower) {
      pad_same(w, mode);
    } else {
      if (mode == AutoPad::notset) w.begin = Dim(pads[i]), w.end = Dim(pads[rank + i]);
      IT_TRY_VOID(place(w, ceil_mode));
    }
    w.inside = w.begin == Dim(0) && ((w.end == Dim(0) && !ceil_mode) || surely_at_most((w.output - Dim(1)) * Dim(w.stride) + w.reach(), w.input));
  }
  return out;
}

}  // namespace infini
