// it-import: an ONNX model in, a stream out.
#include <array>

#include "libcore/base/text.h"
#include "libcore/onnx/onnx.h"
#include "tools/cli/import_options.h"
#include "tools/cli/module_io.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 3> examples = {
    "it-import model.onnx | it-opt -O2 | it-run -i x=@x.npy -o y.npz",
    "it-import model.onnx --dim batch=8 -o model.itg",
    "it-import model.onnx --with-test-data test_data_set_0 | it-check outputs",
};

const std::vector<Option>& options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> list(import_options().begin(), import_options().end());
    list.insert(list.end(), output_options().begin(), output_options().end());
    return list;
  }();
  return all;
}

const Tool& tool() {
  static const Tool description{"it-import", "Reads an ONNX model and writes it as a stream.", "FILE.onnx|-", 1, 1, examples, options()};
  return description;
}

Status import(const Arguments& arguments, const Talk& talk, Output& output) {
  OpTable ops;
  IT_TRY(ImportOptions chosen, chosen_import(arguments));
  IT_TRY(ImportReport imported, import_onnx(arguments.operands()[0], chosen, ops));
  for (const std::string& note : imported.notes) talk.detail(note);
  if (!imported.carried.empty()) talk.notice(text("operators that are carried, not understood:\n", to_string(imported.carried)));
  imported.module.ledger.push_back(ledger_entry("it-import", import_ledger_options(arguments), nullptr, imported.module.graph));
  return output.write(std::move(imported.module), nullptr);
}

int work(const Arguments& arguments, const Talk& talk) {
  Result<Output> output = Output::open(arguments, "it-import");
  if (!output) return report(talk, output.error());
  Status done = import(arguments, talk, *output);
  if (!done && arguments.operands()[0].ends_with(".itg")) done = within("an .itg file is imported already, and read by the other tools as it is", done);
  return done ? 0 : output->fail(done.error(), report(talk, done.error()));
}

}  // namespace

int main(int argc, char** argv) { return run_tool(tool(), argc, argv, work); }
