// Over all operators and element types: one node each, from the sample lines of tests/ops/cases/*.txt. What is inferred, with numbers and with symbols, is what running gives; the
// kernels of `cpu` agree with the meanings on `reference`; the text form and the stream give the graph back.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/tensor/compare.h"
#include "libcore/wire/wire.h"
#include "tests/graphs/runs.h"

namespace infini::tests {
namespace {

struct SampleInput {
  std::string type, extents, elements;  // "T", "[2,3]", "{1, 2}"; all empty: left out
};
struct Sample {
  const OpDef* op = nullptr;
  std::vector<SampleInput> inputs;
  std::string attributes;
  std::size_t outputs = 1;
};

SampleInput read_input(std::string_view text) {
  std::size_t bracket = text.find('['), brace = text.find('{');
  if (bracket == std::string_view::npos) return {};
  std::size_t end = std::min(brace, text.size());
  return {std::string(text.substr(0, bracket)), std::string(text.substr(bracket, end - bracket)), std::string(text.substr(end))};
}

// "NAME | inputs | attributes | number of results" (1 if left out). An input is an element type and extents, then {elements} where it is a constant,
// or - where it is left out. The type is the name of the signature's group (T, T1, Tind, ...), each of whose types is tried in turn, or @ for a
// parameter without one, or a type's own name.
Sample read_sample(std::string_view line, const OpTable& ops) {
  std::vector<std::string> parts = split(line, '|');
  for (std::string& part : parts) part = std::string(trim(part));
  Sample sample;
  sample.op = ops.find("", parts[0]);
  REQUIRE_MESSAGE(sample.op, parts[0], " has no definition");
  for (const std::string& input : split(parts.at(1), ';')) sample.inputs.push_back(read_input(trim(input)));
  if (parts.size() > 2) sample.attributes = parts[2];
  if (parts.size() > 3) sample.outputs = static_cast<std::size_t>(std::stoi(parts[3]));
  return sample;
}

std::vector<Sample> read_samples(const OpTable& ops) {
  constexpr std::string_view word = "sample ";
  std::vector<Sample> out;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(IT_TEST_DATA) + "/../ops/cases")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(word)) out.push_back(read_sample(std::string_view(line).substr(word.size()), ops));
    }
  }
  return out;
}

const Param& param_of(const OpDef& op, std::size_t i) { return op.inputs[std::min(i, op.inputs.size() - 1)]; }

// The element types that may stand for each of a sample's names.
std::map<std::string, DTypeSet> names_of(const Sample& sample) {
  std::map<std::string, DTypeSet> out;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
    const std::string& type = sample.inputs[i].type;
    const Param& param = param_of(*sample.op, i);
    if (!type.empty() && (type == "@" || type == param.group)) out.try_emplace(type, param.dtypes);
  }
  return out;
}

DType standard(DTypeSet dtypes) {
  for (DType dtype : {DType::f32, DType::i64, DType::boolean, DType::i32}) {
    if (dtypes.contains(dtype)) return dtype;
  }
  return DType::f64;
}

using Chosen = std::map<std::string, DType>;

// Numbers as the element type writes them.
std::string elements_of(DType dtype, const std::string& elements) {
  if (dtype == DType::boolean) {
    std::string out;
    for (char c : elements) out += c >= '1' && c <= '9' ? '1' : c;
    return out;
  }
  if (dtype != DType::str) return elements;
  std::string out;
  for (char c : elements) out += c >= '0' && c <= '9' ? text("\"", c, "\"") : std::string(1, c);
  return out;
}

// The one-node graph in text form; `open`: each extent of an input is a symbol, equal extents the same one.
std::string source_of(const Sample& sample, const Chosen& chosen, bool open) {
  std::vector<std::string> inputs, operands, results;
  std::string constants;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& input = sample.inputs[i];
    operands.push_back(input.type.empty() ? "_" : text("%x", i));
    if (input.type.empty()) continue;
    auto found = chosen.find(input.type);
    std::string dtype(found == chosen.end() ? input.type : std::string(name(found->second)));
    if (!input.elements.empty()) {
      constants += text("  %x", i, " = constant ", dtype, input.extents, " ", found == chosen.end() ? input.elements : elements_of(found->second, input.elements), "\n");
      continue;
    }
    std::string extents;
    for (char c : input.extents) extents += open && c >= '0' && c <= '9' ? text("n", c) : std::string(1, c);
    inputs.push_back(text("  %x", i, ": ", dtype, extents));
  }
  for (std::size_t i = 0; i < sample.outputs; ++i) results.push_back(text("%y", i));
  return text("graph \"one\" (\n", join(inputs, ",\n"), "\n) -> (", join(results, ", "), ") {\n", constants, "  ", join(results, ", "), " = ", sample.op->name, "(",
              join(operands, ", "), ") ", sample.attributes, "\n}\n");
}

double tolerance(DType dtype) {
  switch (info(dtype).bits) {
    case 64: return dtype == DType::f64 ? 1e-9 : 0;
    case 32: return dtype == DType::f32 ? 2e-5 : 0;
    case 16: return dtype == DType::bf16 ? 4e-2 : dtype == DType::f16 ? 5e-3 : 0;
    default: return 0;
  }
}

Status agree(const Value& now, const Value& expected) {
  DType dtype = now.tensor() ? now.tensor()->dtype() : DType::none;
  double limit = dtype == DType::none ? 0 : tolerance(dtype);
  Comparison found = compare(now, expected, {.relative = limit, .absolute = limit});
  return found.equal ? Status() : Status(bad_input(found.reason));
}

std::string shown(const Graph& graph) { return print(graph, {.all_constants = true}); }

Status comes_back(const OpTable& ops, const Graph& graph) {
  IT_TRY(Module again, within("text form", parse_text(shown(graph), ops)));
  if (shown(again.graph) != shown(graph)) return bad_input(text("the text form gives ", shown(again.graph)));
  int ends[2];
  if (pipe(ends) != 0) return io_error("no pipe");
  StreamWriter writer(descriptor_sink(ends[1], "the pipe"), "test");
  Module module;
  module.graph = graph;
  Status written = writer.begin();
  if (written) written = writer.write(module);
  close(ends[1]);
  Result<StreamReader> reader = StreamReader::open(ends[0]);
  Result<Module> read = reader ? reader->read_module(ops) : Result<Module>(reader.error());
  close(ends[0]);
  IT_TRY_VOID(within("writing", std::move(written)));
  IT_TRY(Module streamed, within("reading", std::move(read)));
  return shown(streamed.graph) == shown(graph) ? Status() : Status(bad_input(text("the stream gives ", shown(streamed.graph))));
}

class Checker {
 public:
  explicit Checker(const OpTable& ops) : ops_(ops) {}

  Status check(const Sample& sample, const Chosen& chosen) {
    IT_TRY(Module module, parse_text(source_of(sample, chosen, false), ops_));
    const Graph& graph = module.graph;
    IT_TRY_VOID(comes_back(ops_, graph));
    std::vector<Value> inputs = some_inputs(graph, {}, 7);
    IT_TRY(std::vector<Value> expected, within("reference", run(graph, {reference_}, inputs)));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Type& inferred = graph.value(graph.outputs()[i]).type;
      if (!(expected[i].type() == inferred)) return bad_input(text("inferred ", to_string(inferred), ", running gives ", to_string(expected[i].type())));
    }
    IT_TRY_VOID(within("with symbols", check_open(sample, chosen, expected)));
    bool stood_in = false;
    ExecOptions options;
    options.devices = {cpu_, reference_};
    options.on_refusals = [&](const Graph&, const Planned&) { stood_in = true; };
    IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(graph), std::move(options)));
    IT_TRY(std::vector<Value> now, within("cpu", executor->run(inputs)));
    for (std::size_t i = 0; i < now.size(); ++i) IT_TRY_VOID(within("cpu", agree(now[i], expected[i])));
    ++cases;
    by_kernel += stood_in || executor->plans().empty() ? 0 : 1;
    return {};
  }

  int cases = 0, by_kernel = 0, open = 0;

 private:
  Status check_open(const Sample& sample, const Chosen& chosen, std::span<const Value> expected) {
    Result<Module> module = parse_text(source_of(sample, chosen, true), ops_);
    if (!module) return {};  // some operators ask for numbers
    Bindings sizes;
    for (std::int64_t n = 0; n < 10; ++n) sizes.push_back({text("n", n), n});
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Type& inferred = module->graph.value(module->graph.outputs()[i]).type;
      std::optional<Extents> extents = inferred.has_shape() ? evaluate(*inferred.shape, sizes) : std::nullopt;
      if (inferred.has_shape() && !extents) continue;  // a size that only running tells
      if (!extents || *extents != expected[i].tensor()->extents()) {
        return bad_input(text("inferred ", to_string(inferred), ", running gives ", to_string(expected[i].type())));
      }
    }
    ++open;
    return {};
  }

  const OpTable& ops_;
  std::shared_ptr<Device> reference_ = device("reference"), cpu_ = device("cpu");
};

}  // namespace

TEST_CASE("operators: every one, in every element type") {
  OpTable ops;
  Checker checker(ops);
  std::set<std::string_view> covered;
  for (const Sample& sample : read_samples(ops)) {
    covered.insert(sample.op->name);
    std::map<std::string, DTypeSet> names = names_of(sample);
    Chosen chosen;
    for (const auto& [name, dtypes] : names) chosen[name] = standard(dtypes);
    std::set<Chosen> all = {chosen};
    for (const auto& [name, dtypes] : names) {
      for (int d = 1; d < dtype_count; ++d) {
        Chosen other = chosen;
        other[name] = static_cast<DType>(d);
        if (dtypes.contains(static_cast<DType>(d))) all.insert(std::move(other));
      }
    }
    for (const Chosen& choice : all) {
      Status status = checker.check(sample, choice);
      std::string message = status ? "" : status.error().text();
      CHECK_MESSAGE(message.empty(), source_of(sample, choice, false), message);
    }
  }
  for (const OpDef* op : ops.all()) {
    if (op->domain.empty() && !op->run_body) CHECK_MESSAGE(covered.contains(op->name), op->name, " has no sample in tests/ops/cases");
  }
  MESSAGE(checker.cases, " cases of ", covered.size(), " operators; ", checker.by_kernel, " by kernels of cpu; ", checker.open, " with symbols as well");
  CHECK(checker.cases > 1000);
}

}  // namespace infini::tests
