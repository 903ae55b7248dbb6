// it-import: an ONNX model in, a stream out.
#include <array>

#include "libcore/base/text.h"
#include "libcore/onnx/onnx.h"
#include "tools/cli/inputs.h"
#include "tools/cli/module_io.h"

using namespace infini;
using namespace infini::cli;

namespace {

constexpr std::array<std::string_view, 3> examples = {
    "it-import model.onnx | it-opt -O2 | it-run -i x=@x.npy -o y.npz",
    "it-import model.onnx --dim batch=8 -o model.itg",
    "it-import model.onnx --with-test-data test_data_set_0 | it-check outputs",
};

constexpr std::array own = {
    Option{"--dim", Takes::value, "NAME=N", "a number, or a range such as 1..512, for a symbol of the shapes", "Import", true},
    Option{"--input-shapes", Takes::value, "NAME:SHAPE", "the shape of an input: x:1x3x224x224, x:[batch,3,h,w]; ? leaves an axis open", "Import", true},
    Option{"--batch", Takes::value, "N", "the first axis of every input", "Import"},
    Option{"--from", Takes::value, "NAME", "begin at this value or node (globs)", "Import", true},
    Option{"--to", Takes::value, "NAME", "end at this value or node (globs)", "Import", true},
    Option{"--no-weights", Takes::flag, {}, "leave large weights out: for looking, not for running", "Import"},
    Option{"--with-test-data", Takes::value, "DIR|FILE.npz", "inputs and expected outputs travel along", "Import"},
    Option{"--strict", Takes::flag, {}, "operators that would only be carried are an error (4)", "Import"},
};

const std::vector<Option>& options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> list(own.begin(), own.end());
    list.insert(list.end(), output_options().begin(), output_options().end());
    return list;
  }();
  return all;
}

const Tool& tool() {
  static const Tool description{"it-import", "Reads an ONNX model and writes it as a stream.", "FILE|-", 1, 1, examples, options()};
  return description;
}

// "N=8" is a number, "N=1..512" are bounds.
Status take_dims(const Arguments& arguments, ImportOptions& out) {
  for (const std::string& list : arguments.all("dim")) {
    for (const std::string& word : split(list, ',')) {
      std::size_t equals = word.rfind('=');
      std::size_t dots = word.find("..", equals == std::string::npos ? 0 : equals);
      std::string_view name = std::string_view(word).substr(0, equals);
      SymbolBounds bounds;
      bool range = equals != std::string::npos && dots != std::string::npos;
      bool good = equals != std::string::npos && equals > 0 &&
                  parse_int(std::string_view(word).substr(equals + 1, range ? dots - equals - 1 : std::string::npos), bounds.lowest) && bounds.lowest >= 0;
      if (range) good = good && parse_int(std::string_view(word).substr(dots + 2), bounds.highest) && bounds.highest >= bounds.lowest;
      if (!good) return usage_error(text("--dim ", word, ": expected NAME=N or NAME=A..B"));
      if (range) {
        out.bounds.push_back({std::string(name), bounds});
      } else {
        out.dims.push_back({std::string(name), bounds.lowest});
      }
    }
  }
  return {};
}

// x:1x3x224x224, x:[1,3,h,w], x:1,3,?,?.
Result<InputShape> parse_input_shape(const std::string& written) {
  std::size_t colon = written.rfind(':');
  if (colon == std::string::npos || colon == 0) return usage_error(text("--input-shapes ", written, ": expected NAME:SHAPE"));
  InputShape out{written.substr(0, colon), {}};
  std::string shape = written.substr(colon + 1);
  if (shape.starts_with("[") && shape.ends_with("]")) {
    shape = shape.substr(1, shape.size() - 2);
  } else if (shape.find(',') == std::string::npos) {
    for (std::size_t i = 1; i + 1 < shape.size(); ++i) {
      bool between_sizes = shape[i] == 'x' && (isdigit(shape[i - 1]) || shape[i - 1] == '?') && (isdigit(shape[i + 1]) || shape[i + 1] == '?' || shape[i + 1] == '-');
      if (between_sizes) shape[i] = ',';
    }
  }
  if (shape.empty() || shape == "scalar") return out;
  for (const std::string& word : split(shape, ',')) {
    std::string_view dim = trim(word);
    if (dim == "?" || dim == "-1") {
      out.dims.emplace_back();
      continue;
    }
    IT_TRY(Dim parsed, within(text("--input-shapes ", written), Dim::parse(dim)));
    out.dims.emplace_back(std::move(parsed));
  }
  return out;
}

Result<ImportOptions> import_options(const Arguments& arguments) {
  ImportOptions out;
  IT_TRY_VOID(take_dims(arguments, out));
  for (const std::string& written : arguments.all("input-shapes")) {
    IT_TRY(InputShape shape, parse_input_shape(written));
    out.input_shapes.push_back(std::move(shape));
  }
  if (arguments.has("batch")) {
    IT_TRY(out.batch, within("--batch", Dim::parse(arguments.get("batch"))));
  }
  out.from = arguments.all("from");
  out.to = arguments.all("to");
  out.no_weights = arguments.has("no-weights");
  out.strict = arguments.has("strict");
  out.test_data = arguments.get("with-test-data");
  return out;
}

// The options that change the graph, as the ledger has them.
std::string ledger_options(const Arguments& arguments) {
  std::vector<std::string> words;
  for (std::string_view key : {"dim", "input-shapes", "batch", "from", "to"}) {
    for (const std::string& value : arguments.all(key)) words.push_back(text("--", key, "=", value));
  }
  if (arguments.has("no-weights")) words.emplace_back("--no-weights");
  return join(words, " ");
}

Status import(const Arguments& arguments, const Talk& talk, Output& output) {
  OpTable ops;
  IT_TRY(ImportOptions chosen, import_options(arguments));
  IT_TRY(ImportReport imported, import_onnx(arguments.operands()[0], chosen, ops));
  for (const std::string& note : imported.notes) talk.detail(note);
  if (!imported.carried.empty()) talk.notice(text("operators that are carried, not understood:\n", to_string(imported.carried)));
  imported.module.ledger.push_back(ledger_entry("it-import", ledger_options(arguments), nullptr, imported.module.graph));
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
