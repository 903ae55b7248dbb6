#include <optional>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/constants.h"
#include "libcore/wire/decode.h"
#include "libcore/wire/format.h"
#include "libcore/wire/items.h"
#include "libcore/wire/messages.h"
#include "libcore/wire/reader_state.h"

namespace infini {

using namespace wire;

namespace {

template <class Message>
Result<Message> parse(FrameReader& frames, const FrameHead& head) {
  // Every nested graph takes four levels of messages; decoding counts them itself.
  constexpr int message_levels = 8 * nesting_limit;
  IT_TRY(std::string bytes, frames.content(head));
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  input.SetRecursionLimit(message_levels);
  Message message;
  if (!message.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) return within(place(head), bad_input("malformed"));
  return message;
}

Status check_header(const v1::Header& header) {
  if (header.magic() != magic) return bad_input("this is not a stream: its first frame does not name infinitensor");
  if (header.format_version() > format_version) {
    return bad_input(text("the stream has format version ", header.format_version(), ", written by ", infini::quoted(header.tool()),
                          "; this tool reads versions up to ", format_version));
  }
  if (header.format_version() == 0) return bad_input("the stream has format version 0");
  return {};
}

}  // namespace

bool begins_stream(std::string_view first_bytes) {
  // Two lengths of one byte each (the tool's name is short), and the tags of Frame.header and Header.magic.
  std::string start = {static_cast<char>(bytes_tag(1)), '\0', static_cast<char>(bytes_tag(1)), static_cast<char>(magic.size())};
  start += magic;
  if (first_bytes.size() < 2) return false;
  if (first_bytes.size() > 2) start[1] = first_bytes[2];
  std::string_view seen = first_bytes.substr(1, start.size());
  return start.starts_with(seen);
}

Result<StreamReader> StreamReader::open(int descriptor, ReadOptions options) {
  IT_TRY(Source source, Source::open(descriptor, std::move(options.prefix)));
  bool saved = source.mapping() != nullptr;
  auto payloads = std::make_shared<Payloads>(std::move(source));
  StreamReader reader;
  reader.state_ = std::make_shared<State>(State{payloads, ConstantReader(payloads, References(saved, std::move(options.folder))), {}, {}, false});
  IT_TRY(FrameHead head, payloads->frames().expect(FrameKind::header));
  IT_TRY(v1::Header header, parse<v1::Header>(payloads->frames(), head));
  IT_TRY_VOID(check_header(header));
  reader.state_->tool = header.tool();
  return reader;
}

const std::string& StreamReader::tool() const { return state_->tool; }

Result<Module> StreamReader::read_module(const OpTable& ops) {
  State& state = *state_;
  FrameReader& frames = state.payloads->frames();
  IT_TRY(FrameHead head, frames.expect(FrameKind::graph));
  IT_TRY(v1::GraphFrame frame, parse<v1::GraphFrame>(frames, head));
  std::vector<const v1::Constant*> messages;
  for (const v1::Constant& message : frame.constants()) messages.push_back(&message);
  IT_TRY_VOID(within(place(head), state.constants.announce(messages)));
  if (frames.source().mapping()) {
    IT_TRY_VOID(state.payloads->map_all());
    IT_TRY_VOID(state.read_rest());
  }
  std::vector<ConstantRef> constants;
  const std::vector<Hash128> unknown;
  for (const v1::Constant* message : messages) {
    std::string where = text("constant ", constants.size());
    IT_TRY(Constant constant, within(place(head), within(where, state.constants.decode(*message, state.rest ? state.rest->contents : unknown))));
    constants.push_back(std::make_shared<const Constant>(std::move(constant)));
  }
  IT_TRY(Graph graph, within(place(head), decode_graph(frame, constants, ops)));
  return Module{std::move(graph), {}, {}};
}

Status StreamReader::finish(Module& module, Pending pending) {
  State& state = *state_;
  if (state.finished) return internal_error("a stream is finished twice");
  state.finished = true;
  if (!state.rest) {
    IT_TRY_VOID(state.payloads->finish(pending == Pending::keep));
    IT_TRY_VOID(state.read_rest());
  }
  Rest& rest = *state.rest;
  module.ledger.insert(module.ledger.begin(), rest.ledger.begin(), rest.ledger.end());
  for (TestVector& test : rest.tests) module.tests.push_back(std::move(test));
  return {};
}

// ---- behind the constants --------------------------------------------------------------------------------------------------------------

Status StreamReader::State::read_test_vector(const FrameHead& head) {
  IT_TRY(v1::TestVector message, parse<v1::TestVector>(payloads->frames(), head));
  std::vector<const v1::Constant*> tensors;
  IT_TRY_VOID(within(place(head), collect_tensors(message, tensors)));
  IT_TRY_VOID(within(place(head), constants.announce(tensors)));
  if (payloads->frames().source().mapping()) {
    IT_TRY_VOID(payloads->map_all());
  } else {
    IT_TRY_VOID(payloads->finish(true));
  }
  IT_TRY(TestVector test, within(place(head), decode_test_vector(message, constants)));
  rest->tests.push_back(std::move(test));
  return {};
}

Status StreamReader::State::read_end(const FrameHead& head) {
  IT_TRY(v1::End message, parse<v1::End>(payloads->frames(), head));
  if (!message.has_digest() || decode_digest(message.digest()) != head.before) {
    return within(place(head), bad_input(text("the stream is damaged: its digest is ", to_hex(head.before), ", its end mark says ",
                                              to_hex(decode_digest(message.digest())))));
  }
  IT_TRY(bool ended, payloads->frames().source().at_end());
  if (!ended) return bad_input(text("something follows the end of the stream, at byte ", payloads->frames().source().offset()));
  return {};
}

// Test vectors, ledger, contents and end, in this order; all but the first exactly once.
Status StreamReader::State::read_rest() {
  rest.emplace();
  FrameReader& frames = payloads->frames();
  FrameKind last = FrameKind::chunk;
  while (last != FrameKind::end) {
    IT_TRY(FrameHead head, frames.next());
    bool again = head.kind == last && head.kind == FrameKind::test_vector;
    if (head.kind <= last && !again) return bad_input(text("found the ", place(head), " after a ", name(last), " frame"));
    if (head.kind == FrameKind::end && last != FrameKind::contents) return bad_input(text("found the ", place(head), ", expected a contents frame"));
    last = head.kind;
    if (head.kind == FrameKind::test_vector) {
      IT_TRY_VOID(read_test_vector(head));
    } else if (head.kind == FrameKind::ledger) {
      IT_TRY(v1::Ledger message, parse<v1::Ledger>(frames, head));
      for (const v1::LedgerEntry& entry : message.entries()) rest->ledger.push_back(decode_entry(entry));
    } else if (head.kind == FrameKind::contents) {
      IT_TRY(v1::Contents message, parse<v1::Contents>(frames, head));
      for (const v1::Digest& digest : message.digests()) rest->contents.push_back(decode_digest(digest));
      IT_TRY_VOID(within(place(head), payloads->check(rest->contents)));
    } else {
      IT_TRY_VOID(read_end(head));
    }
  }
  return {};
}

}  // namespace infini
