// A constant added per output channel becomes the bias of the convolution, or of the Gemm, before it.
#include "libcore/base/text.h"
#include "passes/fuse.h"

namespace infini {
namespace {

constexpr std::uint64_t max_bias_bytes = 1 << 24;

// What the constant is added to.
struct Anchor {
  const Node* node;
  ValueId result, addend;
};

std::optional<Anchor> anchor_of(const Graph& graph, const Node& add) {
  if (!is_op(add, "Add")) return std::nullopt;
  for (std::size_t i : {0u, 1u}) {
    for (std::string_view type : {"Conv", "ConvTranspose", "Gemm"}) {
      const Node* node = producer(graph, add.inputs[i], type);
      if (node && constant_of(graph, add.inputs[1 - i])) return Anchor{node, add.inputs[i], add.inputs[1 - i]};
    }
  }
  return std::nullopt;
}

// True if `addend` holds one number for each element of `axis` of a result of that shape, or one for all.
bool per_channel(const Type& addend, const Shape& result, std::size_t axis) {
  std::size_t rank = addend.rank();
  if (rank > result.size()) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    std::size_t position = result.size() - rank + i;
    const Dim& dim = (*addend.shape)[i];
    if (!(dim == Dim(1)) && !(position == axis && dim == result[axis])) return false;
  }
  return true;
}

Result<Graph> run(const Graph& graph, PassContext& context) {
  Uses uses = uses_of(graph);
  return rewrite(graph, [&](Rewriter& rewriter, NodeId id) -> Result<bool> {
    const Node& add = graph.node(id);
    std::optional<Anchor> anchor = anchor_of(graph, add);
    if (!anchor || !read_once(uses, anchor->result)) return false;
    const Type &result = graph.value(anchor->result).type, &addend = graph.value(anchor->addend).type;
    bool has_bias = anchor->node->inputs.size() > 2 && anchor->node->inputs[2];
    if (!result.has_shape() || !addend.has_shape() || has_bias || !loadable(*constant_of(graph, anchor->addend), max_bias_bytes)) return false;
    constexpr std::size_t axis = 1;  // of channels: [n,c,...], and Gemm's [m,n]
    std::optional<std::int64_t> channels = (*result.shape)[axis].constant();
    if (!channels || !per_channel(addend, *result.shape, axis) || !context.may_rewrite()) return false;
    IT_TRY(Tensor given, context.bytes(*constant_of(graph, anchor->addend), max_bias_bytes));
    IT_TRY(TensorWriter bias, TensorWriter::make(given.dtype(), {*channels}));
    for (std::int64_t c = 0; c < *channels; ++c) bias.set_double(c, given.as_double(given.count() == 1 ? 0 : c));
    GraphBuilder::NodeSpec spec(*anchor->node);
    if (is_op(*anchor->node, "Gemm")) spec.attributes.set("beta", 1.0f);  // without a bias it meant nothing
    spec.inputs = {rewriter.map(anchor->node->inputs[0]), rewriter.map(anchor->node->inputs[1]), rewriter.constant(std::move(bias).finish(), "bias")};
    NodeId from[] = {graph.value(anchor->result).producer, id};
    IT_TRY_VOID(rewriter.emit(std::move(spec), from, add.outputs));
    return true;
  });
}

const Pass pass{.name = "fuse-bias", .summary = "Make a constant added per channel the bias of the convolution or Gemm before it", .safety = Safety::rounding,
                .run = run};

}  // namespace

const Pass& fuse_bias_pass() { return pass; }

}  // namespace infini
