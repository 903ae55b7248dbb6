#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/encode.h"
#include "libcore/wire/format.h"
#include "libcore/wire/frame_writer.h"
#include "libcore/wire/items.h"
#include "libcore/wire/messages.h"
#include "libcore/wire/payload_writer.h"
#include "libcore/wire/reader_state.h"
#include "libcore/wire/wire.h"

namespace infini {

using namespace wire;

struct StreamWriter::State {
  FrameWriter frames;
  std::string tool;
  bool begun = false;
};

StreamWriter::StreamWriter(ByteSink sink, std::string_view tool)
    : state_(std::make_shared<State>(State{FrameWriter(std::move(sink)), std::string(tool.substr(0, tool_limit)), false})) {}

Status StreamWriter::begin() {
  if (state_->begun) return {};
  state_->begun = true;
  v1::Frame frame;
  v1::Header& header = *frame.mutable_header();
  header.set_magic(std::string(magic));
  header.set_format_version(format_version);
  header.set_tool(state_->tool);
  return state_->frames.frame(frame);
}

namespace {

Status write_graph(FrameWriter& frames, EncodedGraph& graph) {
  v1::Frame frame;
  frame.mutable_graph()->Swap(&graph.frame);
  Status written = frames.frame(frame);
  graph.frame.Swap(frame.mutable_graph());
  return written;
}

Status write_tests(FrameWriter& frames, PayloadWriter& payloads, const std::vector<TestVector>& tests) {
  for (const TestVector& test : tests) {
    std::vector<Tensor> chunked;
    v1::Frame frame;
    *frame.mutable_test_vector() = encode_test_vector(test, payloads.digests().size(), chunked);
    IT_TRY_VOID(frames.frame(frame));
    for (const Tensor& tensor : chunked) IT_TRY_VOID(payloads.write(tensor));
  }
  return {};
}

Status write_ledger(FrameWriter& frames, const std::vector<LedgerEntry>& entries) {
  v1::Frame frame;
  v1::Ledger& ledger = *frame.mutable_ledger();
  for (const LedgerEntry& entry : entries) *ledger.add_entries() = encode_entry(entry);
  return frames.frame(frame);
}

Status write_end(FrameWriter& frames, const std::vector<Hash128>& contents) {
  v1::Frame frame;
  v1::Contents& list = *frame.mutable_contents();
  for (Hash128 digest : contents) *list.add_digests() = encode_digest(digest);
  IT_TRY_VOID(frames.frame(frame));
  *frame.mutable_end()->mutable_digest() = encode_digest(frames.digest());
  return frames.frame(frame);
}

}  // namespace

Status StreamWriter::write(Module module, const WriteOptions& options) {
  IT_TRY_VOID(begin());
  FrameWriter& frames = state_->frames;
  Payloads* source = options.source ? options.source->state_->payloads.get() : nullptr;

  EncodedGraph graph = encode_graph(module.graph);
  *graph.frame.mutable_structure() = encode_digest(structure_digest(module.graph));
  IT_TRY(std::vector<std::size_t> order, encode_constants(graph, {options.by_reference, options.folder}));
  IT_TRY_VOID(write_graph(frames, graph));

  PayloadWriter payloads(frames, source, options.chunk_bytes);
  for (std::size_t index : order) {
    std::uint64_t length = graph.frame.constants(static_cast<int>(index)).chunked().length();
    IT_TRY_VOID(payloads.write(*graph.constants[index], length));
  }
  if (options.source) IT_TRY_VOID(options.source->finish(module, StreamReader::Pending::drop));
  IT_TRY_VOID(write_tests(frames, payloads, module.tests));
  IT_TRY_VOID(write_ledger(frames, module.ledger));
  if (source) {
    for (const Ancillary& item : source->frames().ancillary()) IT_TRY_VOID(frames.raw(item.number, item.content));
  }
  return write_end(frames, payloads.digests());
}

Status StreamWriter::fail(const Error& error, int status) {
  IT_TRY_VOID(begin());
  v1::Frame frame;
  *frame.mutable_error() = encode_error(error, status);
  frame.mutable_error()->set_reported(true);
  return state_->frames.frame(frame);
}

}  // namespace infini
