// ONNX models in and out. The one header of this folder for others: no protobuf in it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ir/module.h"

namespace infini {

inline constexpr int newest_opset = 28;  // of ai.onnx; imported graphs are in its vocabulary

// A shape for one graph input; nothing: leave that axis as declared.
struct InputShape {
  std::string name;
  std::vector<std::optional<Dim>> dims;
};

struct ImportOptions {
  Bindings dims;                         // N=8: numbers for symbols, everywhere
  std::vector<Symbol> bounds;            // S=1..512
  std::vector<InputShape> input_shapes;  // an axis that was a symbol is replaced wherever the symbol stands
  std::optional<Dim> batch;              // the first axis of every input
  // Keep what leads from `from` to `to`: names or globs. A value named in `from` becomes an input, of a node its inputs do;
  // a value named in `to` becomes an output, of a node its outputs do. Empty: the model's own.
  std::vector<std::string> from, to;
  bool no_weights = false;               // payloads beyond inline_limit are left out
  bool strict = false;                   // operators that would only be carried are an error of kind unsupported
  std::string test_data;                 // a folder of input_0.pb, output_0.pb, or of test_data_set_*; or a .npz file; empty: none
};

// Nodes of one operator for one reason.
struct OperatorGroup {
  std::string op;                        // "Loop", "com.microsoft.FusedMatMul"
  std::string reason;
  std::size_t count = 0;
  std::vector<std::string> first_nodes;  // at most three; a node without a name by its path, "#7" or "#7.0.2"
};
// "Loop: 4 nodes (a, b, #9, ...): reason", one line per group.
std::string to_string(std::span<const OperatorGroup> groups);

struct ImportReport {
  Module module;
  std::vector<OperatorGroup> carried;    // operators that travel without being understood
  std::vector<std::string> notes;        // what was odd but harmless, for verbose output
};

// Reads an ONNX model of any IR version; "-" is standard input. Weights of a file stay in it, as file ranges; those of a pipe are owned.
// bad_input: malformed, or contradicts itself; unsupported: opset beyond newest_opset, or `strict`. All problems of the model's nodes come
// in one error, a line per operator and reason.
Result<ImportReport> import_onnx(const std::string& path, const ImportOptions& options, const OpTable& ops);
// The same from memory; weights are copied, and external data has no folder to be in.
Result<ImportReport> import_onnx(std::span<const std::byte> model, const ImportOptions& options, const OpTable& ops);

struct ExportOptions {
  int opset = 0;               // of ai.onnx; 0: the lowest in which every operator of the graph has its newest form
  bool external_data = false;  // weights in FILE.data even where one file would do
};

// Writes the graph as a standard ONNX model to `path` ("-": standard output): names kept, `fused` nodes inlined, symbols as dim_param.
// A model beyond 2 GiB keeps its weights in PATH.data beside it. unsupported: operators that ONNX lacks, or that have another form at
// `opset` (one grouped report); bad_input: weights that are absent or have changed; io.
Status export_onnx(const Module& module, const std::string& path, const ExportOptions& options = {});

}  // namespace infini
