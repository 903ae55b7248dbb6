#include "backends/cpu/kernels/window.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// Positions, distances and sums of four of them are kept in 32 bits.
constexpr std::int64_t farthest = INT32_MAX / 4;
// Taps are listed one by one.
constexpr std::int64_t most_taps = std::int64_t{1} << 24;

// What has no effect becomes 1, however large it was: the dilation of one tap, the stride of one window.
void drop_idle_steps(Window& w, std::size_t axis, bool transposed) {
  if (w.kernel[axis] == 1) w.dilation[axis] = 1;
  if (!transposed && w.out[axis] == 1) w.stride[axis] = 1;
  if (transposed && w.in[axis] == 1 && w.stride[axis] > w.out[axis]) w.stride[axis] = 1;
}

Status check_distance(const Node& node, std::string_view what, std::int64_t distance) {
  if (distance <= farthest) return {};
  return unsupported(text(node.op(), " with ", what, " ", distance, "; the kernel goes up to ", farthest));
}

}  // namespace

Result<Window> Window::of(const Node& node, const Extents& input, const Extents& kernel, const Extents& output) {
  std::size_t spatial = kernel.size();
  if (spatial < 1 || spatial > 3 || input.size() != spatial + 2 || output.size() != spatial + 2)
    return unsupported(text(node.op(), " over ", spatial, " spatial axes; the kernel is for one to three"));
  std::vector<std::int64_t> strides = node.integers("strides"), dilations = node.integers("dilations"), pads = node.integers("pads");
  std::string_view mode = node.string("auto_pad", "NOTSET");
  Window w;
  std::int64_t taps = 1;
  for (std::size_t i = 0; i < spatial; ++i) {
    std::size_t axis = 3 - spatial + i;
    w.in[axis] = input[i + 2];
    w.out[axis] = output[i + 2];
    w.kernel[axis] = kernel[i];
    if (i < strides.size()) w.stride[axis] = strides[i];
    if (i < dilations.size()) w.dilation[axis] = dilations[i];
    drop_idle_steps(w, axis, node.is("ConvTranspose"));
    IT_TRY_VOID(check_distance(node, "an axis of", std::max(w.in[axis], w.out[axis])));
    IT_TRY_VOID(check_distance(node, "a kernel of", w.kernel[axis]));
    IT_TRY_VOID(check_distance(node, "a stride or dilation of", std::max(w.stride[axis], w.dilation[axis])));
    IT_TRY_VOID(check_distance(node, "a window that reaches", (w.kernel[axis] - 1) * w.dilation[axis]));
    taps *= w.kernel[axis];
    if (taps > most_taps) return unsupported(text(node.op(), " with a kernel of [", join(kernel, ","), "]; the kernel lists up to ", most_taps, " taps"));
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      std::int64_t total = std::max<std::int64_t>(0, (w.out[axis] - 1) * w.stride[axis] + (w.kernel[axis] - 1) * w.dilation[axis] + 1 - w.in[axis]);
      w.pad[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pad_end[axis] = total - w.pad[axis];
    } else if (mode != "VALID" && i + spatial < pads.size()) {
      w.pad[axis] = pads[i];
      w.pad_end[axis] = pads[i + spatial];
    }
    IT_TRY_VOID(check_distance(node, "padding of", std::max(w.pad[axis], w.pad_end[axis])));
  }
  return w;
}

bool Window::pointwise() const {
  for (std::size_t i = 0; i < 3; ++i)
    if (kernel[i] != 1 || stride[i] != 1 || pad[i] != 0 || in[i] != out[i]) return false;
  return true;
}

std::vector<Tap> taps_of(const Window& w) {
  std::vector<Tap> taps;
  for (std::int64_t d = 0; d < w.kernel[0]; ++d)
    for (std::int64_t h = 0; h < w.kernel[1]; ++h)
      for (std::int64_t x = 0; x < w.kernel[2]; ++x) {
        std::int64_t depth = d * w.dilation[0], height = h * w.dilation[1], width = x * w.dilation[2];
        taps.push_back({static_cast<std::int32_t>(depth), static_cast<std::int32_t>(height), static_cast<std::int32_t>(width),
                        (depth * w.in[1] + height) * w.in[2] + width});
      }
  return taps;
}

void corners(const Window& w, std::int64_t first, std::int64_t count, Corner* to) {
  std::int64_t x = first % w.out[2], rest = first / w.out[2], y = rest % w.out[1];
  rest /= w.out[1];
  std::int64_t z = rest % w.out[0], image = rest / w.out[0];
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t depth = z * w.stride[0] - w.pad[0], height = y * w.stride[1] - w.pad[1], width = x * w.stride[2] - w.pad[2];
    to[i] = {static_cast<std::int32_t>(depth), static_cast<std::int32_t>(height), static_cast<std::int32_t>(width),
             ((image * w.in[0] + depth) * w.in[1] + height) * w.in[2] + width};
    if (++x < w.out[2]) continue;
    x = 0;
    if (++y < w.out[1]) continue;
    y = 0;
    if (++z < w.out[0]) continue;
    z = 0;
    ++image;
  }
}

}  // namespace infini::cpu
