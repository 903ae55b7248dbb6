// Zeros that Pad puts around the spatial axes become padding of the convolution behind it.
#include <algorithm>

#include "passes/fuse.h"

namespace infini {
namespace {

using Pads = std::vector<std::int64_t>;  // as Conv writes them: all begins, then all ends, of the spatial axes

// What Pad adds, if it is zeros around spatial axes only; else why not.
struct SpatialPads {
  Pads pads;
  std::string obstacle;
};

SpatialPads spatial_pads(const Graph& graph, const Node& pad, std::size_t rank) {
  if (pad.attributes.text("mode", "constant") != "constant") return {{}, "Pad does not fill with a number"};
  bool filled = pad.inputs.size() > 2 && pad.inputs[2];
  if (filled && scalar_constant(graph, pad.inputs[2]) != 0.0) return {{}, "Pad does not fill with zero"};
  std::optional<std::vector<double>> given = small_constant(graph, pad.inputs[1]), axes;
  if (pad.inputs.size() > 3 && pad.inputs[3]) axes = small_constant(graph, pad.inputs[3]);
  if (!given || (pad.inputs.size() > 3 && pad.inputs[3] && !axes)) return {{}, "the pads are not constants"};
  std::size_t count = given->size() / 2, spatial = rank - 2;
  Pads pads(2 * spatial, 0);
  for (std::size_t i = 0; i < count; ++i) {
    auto axis = static_cast<std::int64_t>(axes ? (*axes)[i] : static_cast<double>(i));
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    auto before = static_cast<std::int64_t>((*given)[i]), after = static_cast<std::int64_t>((*given)[count + i]);
    if (before < 0 || after < 0) return {{}, "Pad takes elements away"};
    if (axis < 2 && (before != 0 || after != 0)) return {{}, "Pad adds images or channels"};
    if (axis < 2) continue;
    pads[static_cast<std::size_t>(axis) - 2] = before;
    pads[static_cast<std::size_t>(axis) - 2 + spatial] = after;
  }
  return {std::move(pads), {}};
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    const Node& conv = graph.node(id);
    const Node* pad = is_op(conv, "Conv") ? producer(graph, conv.inputs[0], "Pad") : nullptr;
    if (!pad || !graph.value(pad->inputs[0]).type.has_shape()) return false;
    SpatialPads added = spatial_pads(graph, *pad, graph.value(pad->inputs[0]).type.rank());
    if (conv.attributes.text("auto_pad", "NOTSET") != "NOTSET") added.obstacle = "the convolution pads by auto_pad";
    if (!added.obstacle.empty()) {
      context.near_miss(graph, id, std::move(added.obstacle));
      return false;
    }
    if (!context.may_rewrite()) return false;
    Pads pads = conv.attributes.integers("pads");
    pads.resize(added.pads.size(), 0);
    std::transform(pads.begin(), pads.end(), added.pads.begin(), pads.begin(), std::plus<>());
    GraphBuilder::NodeSpec spec(conv);
    spec.attributes.set("pads", std::move(pads));
    for (ValueId input : conv.inputs) spec.inputs.push_back(input ? rewriter.map(input) : input);
    spec.inputs[0] = rewriter.map(pad->inputs[0]);
    NodeId from[] = {graph.value(conv.inputs[0]).producer, id};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, conv.outputs));
    return true;
  });
}

const Pass pass{.name = "fuse-pad", .summary = "Make zeros put around an image padding of the convolution behind it", .safety = Safety::exact, .run = run};

}  // namespace

const Pass& fuse_pad_pass() { return pass; }

}  // namespace infini
