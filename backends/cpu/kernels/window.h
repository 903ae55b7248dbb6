// Windows that slide over up to three spatial axes: convolution and pooling share how they are read and addressed.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/device.h"
#include "backends/cpu/region.h"

namespace infini::cpu {

// Axes are depth, height, width; missing ones in front have extent 1.
struct Window {
  using Triple = std::array<std::int64_t, 3>;
  Triple in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Triple pad{0, 0, 0}, pad_end{0, 0, 0};  // before the first element and after the last

  // Of a node whose data operand and result have the shapes given ([n, c, spatial..]); kernel: its spatial extents. unsupported beyond
  // three spatial axes. For a transposed convolution the pads are its own business.
  static Result<Window> of(const Node& node, const Extents& input, const Extents& kernel, const Extents& output);

  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t pixels_in() const { return in[0] * in[1] * in[2]; }
  std::int64_t pixels_out() const { return out[0] * out[1] * out[2]; }
  // True if every window is one pixel and the windows are the pixels in order.
  bool pointwise() const;
};

// A tap's distance from the window's first, in pixels by axis and in the flat pixel index.
struct Tap {
  std::int32_t depth, height, width;
  std::int64_t flat;
};
std::vector<Tap> taps_of(const Window& window);

// The flat index and position of the first input pixel of an output pixel's window (perhaps outside).
struct Corner {
  std::int32_t depth, height, width;
  std::int64_t flat;
};

// Corners of `count` output pixels from number `first` on; output pixels are numbered image after image, row-major. flat counts input
// pixels from the beginning of the first image.
void corners(const Window& window, std::int64_t first, std::int64_t count, Corner* to);

// True if the tap of a window with that corner lies inside the input.
inline bool inside(const Window& w, const Corner& c, const Tap& t) {
  return static_cast<std::uint32_t>(c.width + t.width) < static_cast<std::uint32_t>(w.in[2]) &&
         static_cast<std::uint32_t>(c.height + t.height) < static_cast<std::uint32_t>(w.in[1]) &&
         static_cast<std::uint32_t>(c.depth + t.depth) < static_cast<std::uint32_t>(w.in[0]);
}

}  // namespace infini::cpu
