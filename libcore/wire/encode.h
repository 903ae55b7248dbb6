// A graph to the graph frame, and what must follow it in chunks.
#pragma once

#include <string>
#include <vector>

#include "schemas/graph.pb.h"

#include "libcore/ir/graph.h"

namespace infini::wire {

// The graph without its constants, and these in the order of the frame's table, each once however often it is used.
struct EncodedGraph {
  v1::GraphFrame frame;
  std::vector<ConstantRef> constants;
  std::vector<bool> early;  // by constant: a tensor of an attribute, which a reader needs before it can build the graph
};
EncodedGraph encode_graph(const Graph& graph);

// How the payload of a constant travels.
struct EncodeOptions {
  bool by_reference = false;  // those that lie in a file stay there
  std::string folder;         // non-empty: references are made relative to this folder
};

// Fills in frame.constants. Returns the indices of those that travel in chunks, in their order: what attributes need, then by length, those of the
// incoming stream in its order. usage: a reference would leave the folder. io, bad_input: a small payload cannot be loaded.
Result<std::vector<std::size_t>> encode_constants(EncodedGraph& graph, const EncodeOptions& options);

// Type and extents of a constant, without payload.
v1::Constant encode_constant_type(DType dtype, const Extents& extents);
// With a tensor that is small enough inlined, else chunked under `number`; true if chunked.
bool encode_tensor(const Tensor& tensor, std::uint64_t number, v1::Constant& message);
// Bytes of a tensor in the stream.
std::uint64_t encoded_size(const Tensor& tensor);

}  // namespace infini::wire
