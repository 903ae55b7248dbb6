#include <algorithm>

#include "libcore/expr/lanes.h"

namespace infini::expr {
namespace {

using Form = Register::Form;

// Lanes [begin, end) of a tile, whose element numbers are offset, offset + step, ...
struct Run {
  int begin = 0, end = 0;
  std::int64_t offset = 0;
  std::int64_t step = 0;
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -infini::floor_div(-a, b); }

// Keeps the lanes in which first + lane * step lies in [0, extent); step is not 0, and nothing here comes near overflow.
void clip(Run& run, std::int64_t first, std::int64_t step, std::int64_t extent) {
  std::int64_t from = step > 0 ? ceil_div(-first, step) : ceil_div(first - (extent - 1), -step);
  std::int64_t to = step > 0 ? infini::floor_div(extent - 1 - first, step) : infini::floor_div(first, -step);
  run.begin = static_cast<int>(std::clamp<std::int64_t>(from, run.begin, run.end));
  run.end = static_cast<int>(std::clamp<std::int64_t>(to + 1, run.begin, run.end));
}

bool is_moderate(std::int64_t value) { return value > -(std::int64_t{1} << 60) && value < (std::int64_t{1} << 60); }

// The one run that is in range, if all indices are uniform or affine; nothing if they are not.
bool find_run(const Source& source, std::span<Register* const> indices, int count, Run& run) {
  run = {0, count};
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const Register& at = *indices[axis];
    std::int64_t first = at.first().integer, extent = source.extents[axis];
    if (at.form() == Form::lanes) return false;
    if (at.form() == Form::uniform) {
      if (first < 0 || first >= extent) run.end = run.begin;
    } else {
      if (!is_moderate(first) || !is_moderate(at.step()) || !is_moderate(extent)) return false;
      clip(run, first, at.step(), extent);
    }
  }
  if (run.begin == run.end) return true;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const Register& at = *indices[axis];
    std::int64_t step = at.form() == Form::affine ? at.step() : 0;
    run.offset += (at.first().integer + step * run.begin) * source.strides[axis];
    run.step += step * source.strides[axis];
  }
  return true;
}

template <class T>
T* write(Register& out) {
  if constexpr (std::is_same_v<T, double>)
    return out.write_reals();
  else
    return out.write_integers();
}

template <class Loader>
void load_run(const Loader& load, const Run& run, Register& out, int count) {
  using Held = decltype(load(0));
  if (run.begin == run.end) return out.set_uniform({});
  if (run.step == 0 && run.begin == 0 && run.end == count) {
    Held value = load(run.offset);
    if constexpr (std::is_same_v<Held, double>)
      return out.set_uniform({value, 0});
    else
      return out.set_uniform({0, value});
  }
  Held* to = write<Held>(out);
  std::fill(to, to + run.begin, Held{0});
  std::fill(to + run.end, to + count, Held{0});
  to += run.begin;
  int length = run.end - run.begin;
  if (run.step == 1) {
    for (int i = 0; i < length; ++i) to[i] = load(run.offset + i);
  } else {
    for (int i = 0; i < length; ++i) to[i] = load(run.offset + i * run.step);
  }
}

// Element numbers, negative where an index is out of range.
void find_offsets(const Source& source, std::span<Register* const> indices, std::int64_t* offsets, int count) {
  std::fill_n(offsets, count, 0);
  constexpr std::uint64_t out_of_range = std::uint64_t{1} << 63;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const std::int64_t* at = indices[axis]->integers(count);
    auto extent = static_cast<std::uint64_t>(source.extents[axis]);
    auto stride = static_cast<std::uint64_t>(source.strides[axis]);
    for (int i = 0; i < count; ++i) {
      auto index = static_cast<std::uint64_t>(at[i]), so_far = static_cast<std::uint64_t>(offsets[i]);
      offsets[i] = static_cast<std::int64_t>(index < extent && so_far < out_of_range ? so_far + index * stride : out_of_range);
    }
  }
}

template <class Loader>
void load_scattered(const Loader& load, const std::int64_t* offsets, Register& out, int count) {
  using Held = decltype(load(0));
  Held* to = write<Held>(out);
  for (int i = 0; i < count; ++i) to[i] = offsets[i] >= 0 ? load(offsets[i]) : Held{0};
}

}  // namespace

Source source_of(const Tensor& tensor) {
  Source out;
  out.dtype = tensor.dtype();
  out.extents = tensor.extents();
  out.strides.assign(tensor.rank(), 1);
  if (tensor.count() == 0) return out;  // nothing is in range, and products of the other extents may overflow
  for (std::size_t axis = tensor.rank(); axis-- > 1;) out.strides[axis - 1] = out.strides[axis] * out.extents[axis];
  if (tensor.dtype() == DType::str)
    out.strings = tensor.strings().data();
  else
    out.data = tensor.bytes().data();
  return out;
}

void compute_read(const Source& source, std::span<Register* const> indices, Register& out, std::int64_t* offsets, int count) {
  Run run;
  if (find_run(source, indices, count, run)) {
    with_loader(source, [&](auto load) { load_run(load, run, out, count); });
    return;
  }
  find_offsets(source, indices, offsets, count);
  with_loader(source, [&](auto load) { load_scattered(load, offsets, out, count); });
}

}  // namespace infini::expr
