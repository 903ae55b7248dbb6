// ScatterElements and ScatterND of the plain types: a copy of the data, into which updates go one after the other.
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/strided.h"
#include "backends/cpu/kernels/typed.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

// n adjacent elements of the updates and of the result; null: they replace.
using Combine = void (*)(std::byte* to, const std::byte* update, std::int64_t n);

template <class T, class F>
void combine_row(std::byte* to, const std::byte* update, std::int64_t n) {
  binary_row<T, T, F>(to, 1, update, 1, to, n);
}

template <class F>
Combine combine_of(DType dtype) {
  return with_number<Combine>(dtype, nullptr, []<class T>() -> Combine { return combine_row<T, F>; });
}

struct Scatter {
  RawOperand data, indices, updates;
  DType index_type = DType::i64;
  Extents extents, strides;        // of the data; strides in elements
  Extents index_extents{};         // ScatterElements: of the indices
  std::size_t axis = 0;            // ScatterElements
  std::int64_t vectors = 0, depth = 0, slice = 1;  // ScatterND: index vectors, their length, the elements that one updates
  std::int64_t width = 1;          // bytes of an element
  std::size_t bytes = 0;           // of the data
  Combine combine = nullptr;
  int output = 0;

  // Offset of index number `place` along an axis, in elements.
  Result<std::int64_t> offset(const std::byte* all, std::int64_t place, std::size_t along) const {
    std::int64_t index = index_type == DType::i64 ? Stored<std::int64_t>::load(all + 8 * place) : Stored<std::int32_t>::load(all + 4 * place), extent = extents[along];
    if (index < -extent || index >= extent) return run_failed(text("index ", index, " is outside axis ", along, " of data, which has ", extent, " elements"));
    return (index < 0 ? index + extent : index) * strides[along];
  }
  void put(std::byte* to, const std::byte* update, std::int64_t n) const {
    if (combine) combine(to, update, n);
    else std::memcpy(to, update, static_cast<std::size_t>(n * width));
  }
};

Status run_elements(const Scatter& s, const std::byte* indices, const std::byte* updates, std::byte* to) {
  Extents at(s.extents.size(), 0);
  std::int64_t total = count(s.index_extents);
  for (std::int64_t i = 0; i < total; ++i) {
    IT_TRY(std::int64_t target, s.offset(indices, i, s.axis));
    for (std::size_t a = 0; a < at.size(); ++a) target += a == s.axis ? 0 : at[a] * s.strides[a];
    s.put(to + target * s.width, updates + i * s.width, 1);
    for (std::size_t a = at.size(); a-- > 0 && ++at[a] == s.index_extents[a];) at[a] = 0;
  }
  return {};
}

Status run_nd(const Scatter& s, const std::byte* indices, const std::byte* updates, std::byte* to) {
  for (std::int64_t v = 0; v < s.vectors; ++v) {
    std::int64_t target = 0;
    for (std::int64_t k = 0; k < s.depth; ++k) {
      IT_TRY(std::int64_t offset, s.offset(indices, v * s.depth + k, static_cast<std::size_t>(k)));
      target += offset;
    }
    if (s.slice > 0) s.put(to + target * s.width, updates + v * s.slice * s.width, s.slice);
  }
  return {};
}

Result<Scatter> plan(const Region& region, const Node& node) {
  const Value *data = region.input(node, 0), *indices = region.input(node, 1), *updates = region.input(node, 2), *y = region.output(node, 0);
  if (!data || !indices || !updates || !y) return unsupported(text(node.op(), " with an operand left out"));
  if (!can_move(data->dtype)) return unsupported(text(node.op(), " of ", name(data->dtype), ": elements are not whole bytes"));
  Scatter s{.data = RawOperand::of(*data), .indices = RawOperand::of(*indices), .updates = RawOperand::of(*updates), .index_type = indices->dtype, .extents = data->extents,
            .strides = strides_of(data->extents, {}), .width = static_cast<std::int64_t>(element_bytes(data->dtype)), .bytes = data->bytes(), .output = y->output};
  std::string_view reduction = node.string("reduction", "none");
  if (reduction != "none") {
    s.combine = reduction == "add" ? combine_of<Add>(data->dtype) : reduction == "mul" ? combine_of<Mul>(data->dtype) : reduction == "max" ? combine_of<Max>(data->dtype) : combine_of<Min>(data->dtype);
    if (!s.combine) return unsupported(text(node.op(), " with reduction ", reduction, " of ", name(data->dtype)));
  }
  if (node.is("ScatterElements")) {
    std::int64_t axis = node.integer("axis", 0);
    s.axis = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(data->rank()) : axis);
    s.index_extents = indices->extents;
  } else {
    s.depth = indices->extents.back();
    s.vectors = count(indices->extents, 0, indices->rank() - 1);
    s.slice = count(data->extents, static_cast<std::size_t>(s.depth), data->rank());
  }
  return s;
}

}  // namespace

Offers scatter_offer(const Region& region, Device& device) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !(node->is("ScatterElements") || node->is("ScatterND"))) return offers;
  IT_TRY(Scatter s, plan(region, *node));
  const Value &data = *region.input(*node, 0), &indices = *region.input(*node, 1);
  Candidate c;
  c.kernel = node->is("ScatterND") ? "scatter_nd" : "scatter_elements";
  c.numerics = IT_EXACT;
  if (data.input >= 0) c.in_place = {{data.input, s.output, 0}};
  c.cost_ns = device.cost(0, 2.0 * static_cast<double>(s.bytes)) + 10.0 * static_cast<double>(indices.count());
  auto run = node->is("ScatterND") ? run_nd : run_elements;
  c.prepare = [s, run](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    return kernel_of([s, run](const Launch& launch) -> Status {
      const std::byte* from = s.data.at(launch);
      std::byte* to = launch.output<std::byte>(s.output);
      if (s.bytes && from != to) std::memcpy(to, from, s.bytes);
      return run(s, s.indices.at(launch), s.updates.at(launch), to);
    });
  };
  offers.push_back(std::move(c));
  return offers;
}

}  // namespace infini::cpu
