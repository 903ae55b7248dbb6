// Streams: what the tools pass to one another and save as .itg files. schemas/README.md specifies the bytes.
//
// A file that is truncated while it is mapped faults on access (SIGBUS): an executable that maps streams installs a handler that ends it with the
// status of bad input.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/ir/module.h"

namespace infini {

struct ReadOptions {
  std::string folder = {};  // of the .itg file, which references in it are relative to; empty: the current one
  std::string prefix = {};  // what was read from the descriptor before
};

// True if `first_bytes` (32 are enough) begin a stream of any version, or are the beginning of such a beginning: a stream cut this early.
bool begins_stream(std::string_view first_bytes);

// Reads one stream. First the graph, whose large constants are mapped where the input is a regular file, and otherwise stay in the stream until
// they are asked for; then, behind them, everything else. An error frame comes back as the error it reports, `reported` and `status` as written.
class StreamReader {
 public:
  // Starts at the descriptor's position and reads the header. The descriptor stays the caller's, and open until the stream is finished.
  // bad_input: no stream, or of a newer format. io: the system refuses.
  static Result<StreamReader> open(int descriptor, ReadOptions options = {});

  const std::string& tool() const;  // who wrote it

  // The graph. Once. bad_input: malformed, truncated, a reference to a file that does not hold; names node and byte offset.
  Result<Module> read_module(const OpTable& ops);
  // What becomes of constants that are still in the stream.
  enum class Pending { keep, drop };
  // The ledger (in front of the module's own entries), the test vectors and the end mark. Once. bad_input: damaged or truncated.
  Status finish(Module& module, Pending pending = Pending::keep);

 private:
  friend class StreamWriter;
  struct State;
  std::shared_ptr<State> state_;
};

// Compares mapped constants with the digests that came with them, which reading a file does not. bad_input names the first that is damaged.
Status check_contents(const Graph& graph);

// Where bytes go.
using ByteSink = std::function<Status(std::span<const std::byte>)>;
// Writes to a descriptor. io: the system refuses, with status 141 if nobody reads any more (SIGPIPE must be ignored for that).
ByteSink descriptor_sink(int descriptor, std::string name);

struct WriteOptions {
  bool by_reference = false;            // constants that lie in a file stay there; else all are embedded
  std::string folder = {};              // of a saved stream: references are made relative to it and must not leave it; empty: they are absolute
  StreamReader* source = nullptr;       // the stream that the module was read from: finished behind the last constant, its further frames passed on
  std::uint64_t chunk_bytes = std::uint64_t{32} << 20;  // less for tests only
};

// Writes one stream.
class StreamWriter {
 public:
  // tool: name and version, at most 100 bytes.
  StreamWriter(ByteSink sink, std::string_view tool);

  // The header; called first thing, it lets the next stage know what comes.
  Status begin();
  // All the rest. Holds at most one chunk in memory beside what the module holds. Large constants from files and streams are passed through.
  // usage: a reference would leave the folder. io, bad_input: writing or reading a constant failed; then call fail.
  Status write(Module module, const WriteOptions& options = {});
  // Ends the stream with an error that has been shown to the user (`error.reported` is written as true).
  Status fail(const Error& error, int status);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace infini
