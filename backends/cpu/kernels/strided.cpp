#include "backends/cpu/kernels/strided.h"

#include <algorithm>
#include <cstring>

namespace infini::cpu {
namespace {

struct Wide {
  std::uint64_t low, high;
};

// The two innermost loops: rows (outer) and columns (inner); strides in bytes.
struct Plane {
  Axis rows, columns;
};

template <class T>
void move_element(const std::byte* from, std::byte* to) {
  std::memcpy(to, from, sizeof(T));
}

typedef std::uint32_t Four __attribute__((vector_size(16)));

Four load_four(const std::byte* from) {
  Four v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Elements of 4 bytes whose source runs along the rows and whose target runs along the columns: 4 x 4 at a time. Rows and columns beyond
// a multiple of 4 are left to the caller.
void turn_fours(const Plane& plane, const std::byte* from, std::byte* to) {
  const Axis &rows = plane.rows, &columns = plane.columns;
  for (std::int64_t r = 0; r + 4 <= rows.extent; r += 4)
    for (std::int64_t c = 0; c + 4 <= columns.extent; c += 4) {
      const std::byte* f = from + r * 4 + c * columns.from;
      Four a = load_four(f), b = load_four(f + columns.from), d = load_four(f + 2 * columns.from), e = load_four(f + 3 * columns.from);
      Four low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      Four low2 = __builtin_shufflevector(d, e, 0, 4, 1, 5), high2 = __builtin_shufflevector(d, e, 2, 6, 3, 7);
      Four turned[4] = {__builtin_shufflevector(low, low2, 0, 1, 4, 5), __builtin_shufflevector(low, low2, 2, 3, 6, 7),
                        __builtin_shufflevector(high, high2, 0, 1, 4, 5), __builtin_shufflevector(high, high2, 2, 3, 6, 7)};
      for (std::int64_t i = 0; i < 4; ++i) std::memcpy(to + (r + i) * rows.to + c * 4, &turned[i], sizeof(Four));
    }
}

template <class T>
void move_plane(const Plane& plane, const std::byte* from, std::byte* to) {
  constexpr std::int64_t size = sizeof(T);
  const Axis &rows = plane.rows, &columns = plane.columns;
  if (columns.from == size && columns.to == size) {
    for (std::int64_t r = 0; r < rows.extent; ++r)
      std::memcpy(to + r * rows.to, from + r * rows.from, static_cast<std::size_t>(columns.extent * size));
    return;
  }
  // Blocks keep both sides in the first-level cache when each runs along another axis.
  constexpr std::int64_t block = 16;
  for (std::int64_t r0 = 0; r0 < rows.extent; r0 += block) {
    std::int64_t r1 = std::min(rows.extent, r0 + block);
    for (std::int64_t c0 = 0; c0 < columns.extent; c0 += block) {
      std::int64_t c1 = std::min(columns.extent, c0 + block);
      for (std::int64_t r = r0; r < r1; ++r) {
        const std::byte* f = from + r * rows.from + c0 * columns.from;
        std::byte* t = to + r * rows.to + c0 * columns.to;
        for (std::int64_t c = c0; c < c1; ++c, f += columns.from, t += columns.to) move_element<T>(f, t);
      }
    }
  }
}

void move_plane(std::size_t width, const Plane& plane, const std::byte* from, std::byte* to) {
  if (width == 4 && plane.rows.from == 4 && plane.columns.to == 4 && plane.rows.extent >= 4 && plane.columns.extent >= 4) {
    turn_fours(plane, from, to);
    std::int64_t rows = plane.rows.extent / 4 * 4, columns = plane.columns.extent / 4 * 4;
    Plane right = plane, below = plane;
    right.rows.extent = rows;
    right.columns.extent -= columns;
    below.rows.extent -= rows;
    move_plane<std::uint32_t>(right, from + columns * plane.columns.from, to + columns * plane.columns.to);
    return move_plane<std::uint32_t>(below, from + rows * plane.rows.from, to + rows * plane.rows.to);
  }
  switch (width) {
    case 1: return move_plane<std::uint8_t>(plane, from, to);
    case 2: return move_plane<std::uint16_t>(plane, from, to);
    case 4: return move_plane<std::uint32_t>(plane, from, to);
    case 8: return move_plane<std::uint64_t>(plane, from, to);
    default: return move_plane<Wide>(plane, from, to);
  }
}

// Drops loops of one, merges loops that run on, in the order given (outermost first).
std::vector<Axis> simplified(const std::vector<Axis>& axes) {
  std::vector<Axis> result;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!result.empty() && result.back().from == axis.from * axis.extent && result.back().to == axis.to * axis.extent) {
      result.back() = {result.back().extent * axis.extent, axis.from, axis.to};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

// Takes the axis with the smallest stride on one side out of the list.
Axis take(std::vector<Axis>& axes, std::int64_t Axis::*side) {
  if (axes.empty()) return {};
  std::size_t best = axes.size() - 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t stride = axes[i].*side, lowest = axes[best].*side;
    if (stride != 0 && (lowest == 0 || std::abs(stride) < std::abs(lowest))) best = i;
  }
  Axis axis = axes[best];
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(best));
  return axis;
}

}  // namespace

void move_strided(Pool* pool, std::size_t width, std::vector<Axis> axes, const std::byte* from, std::byte* to) {
  for (const Axis& axis : axes)
    if (axis.extent <= 0) return;
  for (Axis& axis : axes) {
    axis.from *= static_cast<std::int64_t>(width);
    axis.to *= static_cast<std::int64_t>(width);
  }
  axes = simplified(axes);
  Plane plane;
  plane.columns = take(axes, &Axis::to);
  bool runs = plane.columns.from == static_cast<std::int64_t>(width);
  plane.rows = take(axes, runs ? &Axis::to : &Axis::from);
  std::int64_t outer = 1, bytes = plane.rows.extent * plane.columns.extent * static_cast<std::int64_t>(width);
  for (const Axis& axis : axes) outer *= axis.extent;
  // Pieces of rows, so that a chunk moves about 64 KiB.
  constexpr std::int64_t target = 64 << 10;
  std::int64_t step = std::clamp<std::int64_t>(plane.rows.extent * target / std::max<std::int64_t>(bytes, 1) / 16 * 16, 16, plane.rows.extent < 16 ? 16 : plane.rows.extent);
  std::int64_t pieces = (plane.rows.extent + step - 1) / step, grain = std::max<std::int64_t>(1, target / std::max<std::int64_t>(bytes, 1));
  std::int64_t items = outer * pieces;
  auto body = [&](std::int64_t chunk, int) {
    for (std::int64_t item = chunk * grain; item < std::min(items, (chunk + 1) * grain); ++item) {
      std::int64_t rest = item / pieces, first = item % pieces * step;
      const std::byte* f = from + first * plane.rows.from;
      std::byte* t = to + first * plane.rows.to;
      for (std::size_t i = axes.size(); i-- > 0;) {
        std::int64_t index = rest % axes[i].extent;
        rest /= axes[i].extent;
        f += index * axes[i].from;
        t += index * axes[i].to;
      }
      Plane part = plane;
      part.rows.extent = std::min(step, plane.rows.extent - first);
      move_plane(width, part, f, t);
    }
  };
  std::int64_t chunks = (items + grain - 1) / grain;
  if (pool && outer * bytes > target) pool->run(chunks, body);
  else
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) body(chunk, 0);
}

void fill_elements(Pool& pool, std::size_t width, const std::byte* element, std::byte* to, std::int64_t n) {
  constexpr std::int64_t grain = 16384;
  pool.run((n + grain - 1) / grain, [&](std::int64_t chunk, int) {
    std::byte* begin = to + static_cast<std::size_t>(chunk * grain) * width;
    std::size_t bytes = static_cast<std::size_t>(std::min(grain, n - chunk * grain)) * width;
    std::memcpy(begin, element, width);
    for (std::size_t done = width; done < bytes; done *= 2) std::memcpy(begin + done, begin, std::min(done, bytes - done));
  });
}

std::vector<Axis> box_axes(const Extents& box, const Extents& source, const Extents& target, const Order& order) {
  std::vector<std::int64_t> from = strides_of(source, order), to = strides_of(target, order);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < box.size(); ++i) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    axes.push_back({box[axis], from[axis], to[axis]});
  }
  return axes;
}

std::vector<std::int64_t> strides_of(const Extents& extents, const Order& order) {
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

std::vector<float> reordered(const std::vector<float>& numbers, const Extents& extents, const Order& order) {
  std::vector<std::int64_t> from = strides_of(extents, {}), to = strides_of(extents, order);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < extents.size(); ++i) axes.push_back({extents[i], from[i], to[i]});
  std::vector<float> result(numbers.size());
  move_strided(nullptr, sizeof(float), axes, reinterpret_cast<const std::byte*>(numbers.data()), reinterpret_cast<std::byte*>(result.data()));
  return result;
}

}  // namespace infini::cpu
