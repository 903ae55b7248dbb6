// it-opt: a graph in, a transformed graph out.
#include <array>

#include "libcore/base/text.h"
#include "passes/pipeline.h"
#include "tools/cli/emit.h"
#include "tools/cli/module_io.h"
#include "tools/cli/pass_options.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 3> examples = {
    "it-import model.onnx | it-opt -O2 | it-run",
    "it-opt --passes='fold{max=1MiB},fix(canon,cse,dce){max=8}' model.itg -o smaller.itg",
    "it-opt -O1 --emit=onnx model.onnx -o clean.onnx",
};

constexpr std::array own = {
    Option{"--emit", Takes::value, "text|onnx|dot|json", "write another form than the stream", "Output"},
    Option{"--opset", Takes::value, "N", "opset of --emit=onnx", "Output"},
};

const Tool& tool() {
  static const std::vector<Option> options = [] {
    std::vector<Option> list(pass_options().begin(), pass_options().end());
    list.insert(list.end(), own.begin(), own.end());
    list.insert(list.end(), output_options().begin(), output_options().end());
    return list;
  }();
  static const Tool description{"it-opt", "Transforms a graph by a pipeline of passes (-O2 unless told otherwise).", "[FILE|-]", 0, 1, examples, options};
  return description;
}

Status optimise(const Arguments& arguments, const Talk& talk, Output& output) {
  OpTable ops;
  IT_TRY(Pipeline pipeline, chosen_pipeline(arguments, 2));
  IT_TRY(Input input, read_module(arguments.operands().empty() ? "-" : arguments.operands()[0], ops, talk, false));
  IT_TRY(Graph graph, run_passes(input.module, pipeline, ops, arguments, talk));
  input.module.ledger.push_back(ledger_entry("it-opt", ledger_options(pipeline, arguments), &input.module.graph, graph));
  input.module.graph = std::move(graph);
  if (arguments.has("emit")) {
    if (input.reader) IT_TRY_VOID(input.reader->finish(input.module));
    return emit(input.module, arguments, talk, output);
  }
  return output.write(std::move(input.module), input.reader ? &*input.reader : nullptr);
}

int work(const Arguments& arguments, const Talk& talk) {
  if (arguments.has("list-passes")) return print_passes(talk);
  Result<Output> output = Output::open(arguments, "it-opt");
  if (!output) return report(talk, output.error());
  Status done = optimise(arguments, talk, *output);
  return done ? 0 : output->fail(done.error(), report(talk, done.error()));
}

}  // namespace

int main(int argc, char** argv) { return run_tool(tool(), argc, argv, work); }
