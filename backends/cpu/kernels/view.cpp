// Nodes that give the same bytes another shape: Reshape, Squeeze, Unsqueeze, Flatten, Identity; Dropout at inference, whose mask is true.
#include <cstring>

#include "backends/cpu/kernel.h"
#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

constexpr std::string_view reshaping[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"};

// True if the node surely does nothing but hand its operand on.
bool passes_on(const Region& region, const Node& node) {
  if (node.is("Identity")) return true;
  if (!node.is("Dropout")) return false;
  const Value* training = region.input(node, 2);
  return !training || (training->is_constant() && training->count() == 1 && *training->data == std::byte{0});
}

// mask: of Dropout, or null; all true.
Candidate candidate(const Value& x, const Value& y, const Value* mask, std::vector<Order> inputs, std::vector<Order> outputs) {
  Candidate c;
  c.kernel = mask ? "view_and_mask" : "view";
  c.numerics = IT_EXACT;
  c.input_orders = std::move(inputs);
  c.output_orders = std::move(outputs);
  c.in_place.push_back({x.input, y.output, mask ? 0 : 1});
  c.cost_ns = 50;
  int from = x.input, to = y.output, mask_to = mask ? mask->output : -1;
  std::size_t bytes = y.bytes(), marks = mask ? mask->bytes() : 0;
  c.prepare = [from, to, mask_to, bytes, marks](std::span<const float>) -> Result<std::unique_ptr<Kernel>> {
    return kernel_of([from, to, mask_to, bytes, marks](const Launch& launch) -> Status {
      if (marks) std::memset(launch.outputs[mask_to], 1, marks);
      // A host that could not let them share gets a copy.
      if (bytes && launch.inputs[from] != launch.outputs[to]) std::memcpy(launch.outputs[to], launch.inputs[from], bytes);
      return {};
    });
  };
  return c;
}

}  // namespace

Offers view_offer(const Region& region, Device&) {
  std::vector<Candidate> offers;
  const Node* node = region.single();
  if (!node || !node->domain().empty()) return offers;
  bool reshapes = false;
  for (std::string_view op : reshaping) reshapes = reshapes || node->op() == op;
  if (!reshapes && !passes_on(region, *node)) {
    if (node->is("Dropout")) return unsupported("Dropout in training");
    return offers;
  }
  const Value *x = region.input(*node, 0), *y = region.output(*node, 0);
  if (!x || !y || x->input < 0) return unsupported(text(node->op(), " of a constant, or with no result"));
  const Value* mask = node->is("Dropout") ? region.output(*node, 1) : nullptr;
  offers.push_back(candidate(*x, *y, mask, {}, {}));
  Order last = reshapes ? Order{} : channels_last(x->rank());
  std::vector<Order> beside;
  for (int input : region.inputs) beside.push_back(input == node->inputs[0] ? last : Order{});
  if (!last.empty()) offers.push_back(candidate(*x, *y, mask, beside, std::vector<Order>(region.outputs.size(), last)));
  return offers;
}

}  // namespace infini::cpu
