// Graphs in and out of a tool: operands, pipes, files, error frames.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libcore/base/file.h"
#include "libcore/ir/module.h"
#include "libcore/wire/wire.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// The options of every tool that writes a graph: -o, --embed, --by-reference, -f.
std::span<const Option> output_options();

// A module and, while constants are still in the stream, what they are read from.
struct Input {
  Module module;
  Descriptor descriptor;
  std::optional<StreamReader> reader;  // there while the stream is not read to its end
  bool imported = false;               // it was an .onnx file
};

// The operand's graph: a stream, the text form or an .onnx file; "-" or nothing is standard input. whole: read the stream to its end
// (constants are kept in memory), so that ledger and test vectors are there; else the caller hands `reader` to the writer.
Result<Input> read_module(const std::string& operand, const OpTable& ops, const Talk& talk, bool whole);

// Where a tool writes its graph. Made before work starts, so that the next stage hears of errors.
class Output {
 public:
  // usage error: standard output is a terminal and -f is not given.
  static Result<Output> open(const Arguments& arguments, std::string_view tool);
  // The graph as a stream, finished and in place.
  Status write(Module module, StreamReader* source);
  // The same for text: --emit.
  Status write_text(const std::string& text);
  // Tells the next stage of a pipe about an error that has been printed. Returns `status`.
  int fail(const Error& error, int status);
  const std::string& path() const { return path_; }

 private:
  std::string path_;       // "-": standard output
  std::string tool_;
  bool by_reference_ = false;
  bool text_ = false;  // the text form to standard output, where an error is told in words
  std::optional<StreamWriter> writer_;  // of standard output, begun
};

// An entry for the ledger; digests are those of the structure.
LedgerEntry ledger_entry(std::string_view tool, std::string options, const Graph* before, const Graph& after);

}  // namespace infini::cli
