// Windows over spatial axes as the ONNX text defines them, for the expectations of convolution and pooling tests.
#pragma once

#include <algorithm>
#include <string>

#include "libcore/base/text.h"
#include "tests/backends/cpu_case.h"

namespace cpu_test {

struct Spatial {
  Extents in, kernel, stride, dilation, before, after, out;
  std::string mode = "NOTSET";

  Spatial(Extents i, Extents k, Extents s, Extents d, Extents b, Extents a, bool ceil = false)
      : in(std::move(i)), kernel(std::move(k)), stride(std::move(s)), dilation(std::move(d)), before(std::move(b)), after(std::move(a)) {
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      std::int64_t room = in[axis] + before[axis] + after[axis] - dilation[axis] * (kernel[axis] - 1) - 1;
      std::int64_t steps = ceil ? (room + stride[axis] - 1) / stride[axis] : room / stride[axis];
      // A window that begins in the padding behind the data is left out.
      if (ceil && steps * stride[axis] >= in[axis] + before[axis]) --steps;
      out.push_back(room < 0 ? 0 : steps + 1);
    }
  }
  static Spatial automatic(const std::string& mode, Extents in, Extents kernel, Extents stride, Extents dilation) {
    Extents before(in.size(), 0), after(in.size(), 0);
    for (std::size_t axis = 0; axis < in.size() && mode != "VALID"; ++axis) {
      std::int64_t steps = (in[axis] + stride[axis] - 1) / stride[axis];
      std::int64_t total = std::max<std::int64_t>(0, (steps - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1 - in[axis]);
      before[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      after[axis] = total - before[axis];
    }
    Spatial s(std::move(in), std::move(kernel), std::move(stride), std::move(dilation), before, after);
    s.mode = mode;
    return s;
  }
  bool valid() const { return count(out) > 0; }

  // The input pixel that tap `tap` of output pixel `pixel` reads, or -1 in the padding.
  std::int64_t read(std::int64_t pixel, std::int64_t tap) const {
    std::int64_t place = 0, step = 1;
    for (std::size_t axis = in.size(); axis-- > 0;) {
      std::int64_t i = pixel % out[axis] * stride[axis] - before[axis] + tap % kernel[axis] * dilation[axis];
      pixel /= out[axis];
      tap /= kernel[axis];
      if (i < 0 || i >= in[axis]) return -1;
      place += i * step;
      step *= in[axis];
    }
    return place;
  }

  std::vector<Attribute> attributes(std::int64_t group = 0) const {
    std::vector<std::int64_t> pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    std::vector<Attribute> list{{"kernel_shape", kernel}, {"strides", stride}, {"dilations", dilation}, {"auto_pad", mode}};
    if (mode == "NOTSET") list.push_back({"pads", pads});
    if (group > 0) list.push_back({"group", group});
    return list;
  }
  std::string text() const {
    using infini::join;
    return infini::text("in ", join(in, "x"), " kernel ", join(kernel, "x"), " stride ", join(stride, "x"), " dilation ", join(dilation, "x"), " pads ",
                        join(before, ","), ";", join(after, ","), " ", mode);
  }
};

}  // namespace cpu_test
