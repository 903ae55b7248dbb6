#include "tools/cli/import_options.h"

#include <array>

#include "libcore/base/text.h"

namespace infini::cli {
namespace {

constexpr std::array options = {
    Option{"--dim", Takes::value, "SYMBOL=N", "a number, or a range such as 1..512, for a symbol of the shapes", "Import", true},
    Option{"--input-shapes", Takes::value, "INPUT:SHAPE", "the shape of an input: x:1x3x224x224, x:[batch,3,h,w]; ? leaves an axis open", "Import",
           true},
    Option{"--batch", Takes::value, "N", "the first axis of every input", "Import"},
    Option{"--from", Takes::value, "GLOB", "begin at this value or node", "Import", true},
    Option{"--to", Takes::value, "GLOB", "end at this value or node", "Import", true},
    Option{"--no-weights", Takes::flag, {}, "leave large weights out: for looking, not for running", "Import"},
    Option{"--with-test-data", Takes::value, "DIR|FILE.npz", "inputs and expected outputs travel along", "Import"},
    Option{"--strict", Takes::flag, {}, "operators that would only be carried are an error (4)", "Import"},
};

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
                  parse_int(std::string_view(word).substr(equals + 1, range ? dots - equals - 1 : std::string::npos), bounds.lowest) &&
                  bounds.lowest >= 0;
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
      bool between_sizes =
          shape[i] == 'x' && (isdigit(shape[i - 1]) || shape[i - 1] == '?') && (isdigit(shape[i + 1]) || shape[i + 1] == '?' || shape[i + 1] == '-');
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

}  // namespace

std::span<const Option> import_options() { return options; }

Result<ImportOptions> chosen_import(const Arguments& arguments) {
  ImportOptions out;
  IT_TRY_VOID(take_dims(arguments, out));
  for (const std::string& written : arguments.all("input-shapes")) {
    IT_TRY(InputShape shape, parse_input_shape(written));
    out.input_shapes.push_back(std::move(shape));
  }
  if (arguments.has("batch")) {
    IT_TRY(out.batch, within("--batch", Dim::parse(arguments.get("batch"))));
    if (out.batch->constant().value_or(0) < 0) return usage_error(text("--batch ", arguments.get("batch"), ": expected a size, 0 or more"));
  }
  out.from = arguments.all("from");
  out.to = arguments.all("to");
  out.no_weights = arguments.has("no-weights");
  out.strict = arguments.has("strict");
  out.test_data = arguments.get("with-test-data");
  return out;
}

std::string import_ledger_options(const Arguments& arguments) {
  std::vector<std::string> words;
  for (std::string_view key : {"dim", "input-shapes", "batch", "from", "to"}) {
    for (const std::string& value : arguments.all(key)) words.push_back(text("--", key, "=", value));
  }
  if (arguments.has("no-weights")) words.emplace_back("--no-weights");
  return join(words, " ");
}

}  // namespace infini::cli
