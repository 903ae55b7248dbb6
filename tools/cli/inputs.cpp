#include "tools/cli/inputs.h"

#include <algorithm>
#include <array>

#include "libcore/base/text.h"
#include "libcore/tensor/generate.h"
#include "libcore/tensor/npy.h"

namespace infini::cli {
namespace {

constexpr std::array options = {
    Option{"-i,--input", Takes::value, "INPUT[:SHAPE[:DTYPE]]=VALUE", "one input: @file.npy, @file.npz:key, a literal, or zeros, ones, iota, uniform(a,b), ...", "Inputs", true},
    Option{"--load-inputs", Takes::value, "FILE.npz", "inputs by the graph's names", "Inputs"},
    Option{"--save-inputs", Takes::value, "FILE.npz", "save the inputs that were used", "Inputs"},
    Option{"--dim", Takes::value, "SYMBOL=N", "a number for a symbol of the shapes", "Inputs", true},
    Option{"--seed", Takes::value, "N", "seed of values that are made up (0)", "Inputs"},
};

// One -i, taken apart against the graph's inputs.
struct InputSpec {
  std::size_t input = 0;
  std::optional<std::vector<std::optional<std::int64_t>>> shape;
  std::optional<DType> dtype;
  std::string value;        // as written
  ValueSpec spec;           // what that means, unless it is a file
};

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  return names;
}

Result<std::vector<std::optional<std::int64_t>>> parse_shape(std::string_view written) {
  std::string_view inner = trim(written);
  std::vector<std::optional<std::int64_t>> out;
  if (inner.starts_with("[") && inner.ends_with("]")) inner = inner.substr(1, inner.size() - 2);
  if (inner.empty() || inner == "scalar") return out;
  std::string separated(inner);
  std::replace(separated.begin(), separated.end(), 'x', ',');
  for (const std::string& word : infini::split(separated, ',')) {
    std::int64_t number = 0;
    if (word == "?" || word == "-1") {
      out.emplace_back();
    } else if (parse_int(trim(word), number) && number >= 0) {
      out.emplace_back(number);
    } else {
      return usage_error(text("shape '", written, "': '", word, "' is no size"));
    }
  }
  return out;
}

// The name is the longest of the graph's that the text begins with, followed by ':' or '='; names may hold both.
Result<InputSpec> parse_input(std::string_view written, const std::vector<std::string>& names) {
  InputSpec spec;
  std::size_t longest = 0;
  bool found = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    bool fits = written.starts_with(name) && written.size() > name.size() && (written[name.size()] == ':' || written[name.size()] == '=');
    if (!fits || (found && name.size() <= longest)) continue;
    spec.input = i;
    longest = name.size();
    found = true;
  }
  if (!found && std::find(names.begin(), names.end(), written) != names.end()) return usage_error(text("-i ", written, ": expected NAME=VALUE"));
  if (!found) {
    std::string hint = closest(written.substr(0, written.find_first_of(":=")), names);
    return usage_error(text("-i ", written, ": the graph has no such input; it has ", join(names, ", "), hint.empty() ? "" : text("; did you mean '", hint, "'?")));
  }
  std::string_view rest = written.substr(longest);
  std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return usage_error(text("-i ", written, ": expected NAME=VALUE"));
  spec.value = std::string(rest.substr(equals + 1));
  std::string_view between = rest.substr(0, equals);
  if (between.starts_with(":")) {
    between.remove_prefix(1);
    std::size_t colon = between.rfind(':');
    std::string_view last = colon == std::string_view::npos ? between : between.substr(colon + 1);
    if ((spec.dtype = parse_dtype(last))) between = colon == std::string_view::npos ? std::string_view() : between.substr(0, colon);
    if (!between.empty() || !spec.dtype) {
      IT_TRY(spec.shape, within(text("-i ", written), parse_shape(between)));
    }
  }
  return spec;
}

// "file.npy", "file.npz:key", or "file.npz" of one array.
Result<Value> load_file(const std::string& reference, DType dtype) {
  std::size_t zip = reference.find(".npz:");
  if (zip == std::string::npos && reference.ends_with(".npz")) zip = reference.size() - 4;
  if (zip == std::string::npos) {
    IT_TRY(Tensor tensor, load_npy(reference, {.bytes = UINT64_MAX, .dtype = dtype}));
    return Value(std::move(tensor));
  }
  std::string path = reference.substr(0, zip + 4), key = zip + 5 < reference.size() ? reference.substr(zip + 5) : "";
  IT_TRY(NamedValues values, load_npz(path));
  if (path == reference && values.size() == 1) return std::move(values[0].second);
  std::vector<std::string> keys;
  for (auto& [name, value] : values) {
    if (name == key) return std::move(value);
    keys.push_back(name);
  }
  if (path == reference) return usage_error(text(path, " has ", join(keys, ", "), ": say which, as in @", path, ":", keys.empty() ? "KEY" : keys[0]));
  return bad_input(text(path, " has no '", key, "'; it has ", join(keys, ", ")));
}

class Binder {
 public:
  Binder(const Module& module, const Arguments& arguments, Bindings bindings, std::uint64_t seed)
      : module_(module), graph_(module.graph), arguments_(arguments), bindings_(std::move(bindings)), asked_(bindings_.size()), seed_(seed), values_(graph_.inputs().size()) {}

  Result<BoundInputs> bind() && {
    IT_TRY_VOID(take_given());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) IT_TRY_VOID(make_up(i));
    }
    for (auto& value : values_) out_.values.push_back(std::move(*value));
    return std::move(out_);
  }

  Result<KnownInputs> known() && {
    IT_TRY_VOID(take_given());
    auto decided = static_cast<std::ptrdiff_t>(bindings_.size());
    std::vector<Type> types;
    std::string said;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      Result<Extents> extents = values_[i] ? Extents() : extents_of(i, nullptr, said);
      const Type& declared = input(i).type;
      types.push_back(values_[i] ? values_[i]->type() : extents ? Type::tensor(declared.dtype, to_shape(*extents)) : declared);
    }
    return KnownInputs{std::move(types), std::move(values_), Bindings(bindings_.begin() + decided, bindings_.end())};
  }

 private:
  // The inputs that options give, or the stream's test vector.
  Status take_given() {
    IT_TRY_VOID(load_all());
    IT_TRY_VOID(take_specs());
    auto given = [](const auto& value) { return value.has_value(); };
    if (std::ranges::none_of(values_, given) && !module_.tests.empty() && !arguments_.has("dim") && !arguments_.has("seed")) IT_TRY_VOID(take_test(module_.tests.front()));
    IT_TRY_VOID(learn_symbols());
    return generate_specs();
  }

  const ValueInfo& input(std::size_t i) const { return graph_.value(graph_.inputs()[i]); }

  Status set_by_name(const std::string& name, const Value& value, const std::string& source) {
    std::vector<std::string> names = input_names(graph_);
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return usage_error(text(source, " has '", name, "', which is no input of the graph; it has ", join(names, ", ")));
    values_[static_cast<std::size_t>(found - names.begin())] = value;
    return {};
  }

  Status load_all() {
    if (!arguments_.has("load-inputs")) return {};
    std::string path = arguments_.get("load-inputs");
    IT_TRY(NamedValues loaded, load_npz(path));
    for (const auto& [name, value] : loaded) IT_TRY_VOID(set_by_name(name, value, path));
    return {};
  }

  Status take_specs() {
    std::vector<std::string> names = input_names(graph_);
    for (const std::string& written : arguments_.all("input")) {
      IT_TRY(InputSpec spec, parse_input(written, names));
      if (spec.value.starts_with("@")) {
        IT_TRY(values_[spec.input], within(text("-i ", names[spec.input]), load_file(spec.value.substr(1), input(spec.input).type.dtype)));
      } else if (input(spec.input).type.dtype != DType::str && (spec.value.ends_with(".npy") || spec.value.find(".npz") != std::string::npos)) {
        return usage_error(text("-i ", written, ": a file is written with an @: ", names[spec.input], "=@", spec.value));
      } else {
        values_[spec.input].reset();
        IT_TRY(spec.spec, within(text("-i ", names[spec.input]), parse_value_spec(spec.value)));
        const Extents& literal = spec.spec.extents;
        if (!spec.shape && !literal.empty()) spec.shape = std::vector<std::optional<std::int64_t>>(literal.begin(), literal.end());
        generated_.push_back(std::move(spec));
      }
    }
    return {};
  }

  Status take_test(const TestVector& test) {
    if (test.inputs.size() < graph_.inputs().size()) return {};
    for (const auto& [name, value] : test.inputs) IT_TRY_VOID(set_by_name(name, value, text("test vector '", test.name, "'")));
    out_.test = &test;
    return {};
  }

  // Symbols that given values already decide. usage: --dim says something else.
  Status learn_symbols() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Tensor* tensor = values_[i] ? values_[i]->tensor() : nullptr;
      if (!tensor || !input(i).type.has_shape() || tensor->rank() != input(i).type.rank()) continue;
      for (std::size_t axis = 0; axis < tensor->rank(); ++axis) IT_TRY_VOID(learn(i, axis, tensor->extents()[axis]));
    }
    for (const InputSpec& spec : generated_) {
      const Type& type = input(spec.input).type;
      if (!spec.shape || !type.has_shape() || spec.shape->size() != type.rank()) continue;
      for (std::size_t axis = 0; axis < type.rank(); ++axis) {
        if ((*spec.shape)[axis]) IT_TRY_VOID(learn(spec.input, axis, *(*spec.shape)[axis]));
      }
    }
    return {};
  }

  // The axis of input i is that long.
  Status learn(std::size_t i, std::size_t axis, std::int64_t extent) {
    std::optional<std::string> symbol = (*input(i).type.shape)[axis].symbol_name();
    if (!symbol) return {};
    for (std::size_t b = 0; b < bindings_.size(); ++b) {
      if (bindings_[b].symbol != *symbol) continue;
      if (b >= asked_ || bindings_[b].value == extent) return {};
      return usage_error(text("--dim ", *symbol, "=", bindings_[b].value, ", but the given '", input(i).name, "' has ", *symbol, "=", extent));
    }
    bindings_.push_back({*symbol, extent});
    return {};
  }

  // The extents of input i; symbols that nothing decides become their lowest bound, at least 1, and that is said.
  Result<Extents> extents_of(std::size_t i, const InputSpec* spec, std::string& said) {
    const Type& type = input(i).type;
    if (!type.has_shape()) {
      if (spec && spec->shape) {
        Extents out;
        for (const auto& extent : *spec->shape) out.push_back(extent.value_or(1));
        return out;
      }
      return usage_error(text("input '", input(i).name, "' is ", to_string(type), ": give its shape, as in -i '", input(i).name, ":1x3=zeros'"));
    }
    if (spec && spec->shape && spec->shape->size() != type.rank()) {
      return usage_error(text("-i ", input(i).name, " has ", spec->shape->size(), " axes, the graph's input is ", to_string(type)));
    }
    Extents out;
    for (std::size_t axis = 0; axis < type.rank(); ++axis) {
      const Dim& dim = (*type.shape)[axis];
      if (spec && spec->shape && (*spec->shape)[axis]) {
        out.push_back(*(*spec->shape)[axis]);
        continue;
      }
      for (const std::string& symbol : dim.symbols()) {
        if (dim.substitute(bindings_).symbols().empty()) break;
        std::int64_t lowest = 1;
        for (const Symbol& known : graph_.symbols()) lowest = known.name == symbol ? std::max<std::int64_t>(1, known.bounds.lowest) : lowest;
        bindings_.push_back({symbol, lowest});
        said += text(" ", symbol, "=", lowest);
      }
      std::optional<std::int64_t> number = dim.evaluate(bindings_);
      if (!number || *number < 0) return usage_error(text("input '", input(i).name, "': the size ", dim.to_string(), " cannot be told; give --dim"));
      out.push_back(*number);
    }
    return out;
  }

  Status generate_specs() {
    for (const InputSpec& spec : generated_) {
      std::string place = text("-i ", input(spec.input).name);
      DType dtype = spec.dtype.value_or(input(spec.input).type.dtype);
      std::string said;
      IT_TRY(Extents extents, extents_of(spec.input, &spec, said));
      std::optional<IndexUse> use = index_use(graph_, graph_.inputs()[spec.input], bindings_);
      GenerateOptions how{.seed = seed_, .name = input(spec.input).name, .index_limit = use ? use->limit : 1};
      IT_TRY(Tensor tensor, within(place, generate(spec.spec, dtype, extents, how)));
      if (!said.empty()) out_.made_up.push_back(text(printable(input(spec.input).name), ":", said, " (give --dim for another size)"));
      values_[spec.input] = std::move(tensor);
    }
    return {};
  }

  Status make_up(std::size_t i) {
    const Type& type = input(i).type;
    if (!type.is_tensor()) return usage_error(text("input '", input(i).name, "' is ", to_string(type), ": give it with --load-inputs"));
    std::string said, why;
    IT_TRY(Extents extents, extents_of(i, nullptr, said));
    GenerateOptions how{.seed = seed_, .name = input(i).name, .index_limit = 1};
    ValueSpec spec;
    std::optional<IndexUse> use = index_use(graph_, graph_.inputs()[i], bindings_);
    if (use) {
      spec.kind = ValueKind::index;
      how.index_limit = use->limit;
      why = text("index below ", use->limit, " (", use->why, ")");
    } else if (type.dtype == DType::boolean || infini::lower(input(i).name).find("mask") != std::string::npos) {
      IT_TRY(spec, parse_value_spec("ones"));
      why = "ones";
    } else if (is_floating(type.dtype)) {
      IT_TRY(spec, parse_value_spec("uniform(0,1)"));
      why = "uniform(0,1)";
    } else {
      why = "zeros";
    }
    IT_TRY(Tensor tensor, within(text("input '", input(i).name, "'"), generate(spec, type.dtype, extents, how)));
    out_.made_up.push_back(text(printable(input(i).name), " ", to_string(tensor.type()), ": ", why, said.empty() ? "" : text(", with", said, " (give --dim for another size)")));
    values_[i] = std::move(tensor);
    return {};
  }

  const Module& module_;
  const Graph& graph_;
  const Arguments& arguments_;
  Bindings bindings_;
  std::size_t asked_;  // so many of them are --dim
  std::uint64_t seed_;
  std::vector<std::optional<Value>> values_;
  std::vector<InputSpec> generated_;
  BoundInputs out_;
};

// Operators that hand on the numbers of their first input.
bool passes_numbers_on(const Node& node) {
  constexpr std::array<std::string_view, 9> types = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Slice"};
  return node.op && node.domain.empty() && std::find(types.begin(), types.end(), node.type) != types.end();
}

// usage: a symbol that no input has.
Status check_symbols(const Graph& graph, const Bindings& bindings) {
  std::vector<std::string> known;
  for (ValueId input : graph.inputs()) {
    const Type& type = graph.value(input).type;
    if (!type.has_shape()) continue;
    for (const Dim& dim : *type.shape) {
      for (const std::string& symbol : dim.symbols()) {
        if (std::find(known.begin(), known.end(), symbol) == known.end()) known.push_back(symbol);
      }
    }
  }
  for (const Binding& binding : bindings) {
    if (std::find(known.begin(), known.end(), binding.symbol) != known.end()) continue;
    return usage_error(text("--dim: no input has a symbol '", binding.symbol, "'", known.empty() ? "; all sizes are numbers" : text("; there are ", join(known, ", "))));
  }
  return {};
}

Result<Binder> make_binder(const Module& module, const Arguments& arguments, bool strict) {
  IT_TRY(Bindings bindings, dim_bindings(arguments));
  if (strict) IT_TRY_VOID(check_symbols(module.graph, bindings));
  std::int64_t seed = 0;
  if (arguments.has("seed") && !parse_int(arguments.get("seed"), seed)) return usage_error(text("--seed=", arguments.get("seed"), ": expected a number"));
  return Binder(module, arguments, std::move(bindings), static_cast<std::uint64_t>(seed));
}

}  // namespace

std::span<const Option> input_options() { return options; }

Result<Bindings> dim_bindings(const Arguments& arguments) {
  Bindings out;
  for (const std::string& list : arguments.all("dim")) {
    for (const std::string& word : infini::split(list, ',')) {
      std::size_t equals = word.rfind('=');
      std::int64_t number = 0;
      if (equals == std::string::npos || equals == 0 || !parse_int(std::string_view(word).substr(equals + 1), number) || number < 0) {
        return usage_error(text("--dim ", word, ": expected NAME=N"));
      }
      std::string name = word.substr(0, equals);
      for (const Binding& earlier : out) {
        if (earlier.symbol == name && earlier.value != number) return usage_error(text("--dim: ", name, " is to be ", earlier.value, " and ", number, " at once"));
      }
      out.push_back({std::move(name), number});
    }
  }
  return out;
}

std::optional<IndexUse> index_use(const Graph& graph, ValueId input, const Bindings& bindings) {
  if (!is_integer(graph.value(input).type.dtype)) return std::nullopt;
  Uses uses = uses_of(graph);
  std::vector<ValueId> pending = {input};
  std::optional<IndexUse> tightest;
  for (std::size_t next = 0; next < pending.size(); ++next) {
    for (NodeId reader : uses.readers[pending[next].at()]) {
      const Node& node = graph.node(reader);
      if (passes_numbers_on(node) && node.inputs[0] == pending[next]) pending.push_back(node.outputs[0]);
      bool gathers = node.type == "Gather" || node.type == "GatherElements";
      if (!node.op || !gathers || node.inputs[1] != pending[next]) continue;
      const Type& table = graph.value(node.inputs[0]).type;
      if (!table.has_shape() || table.rank() == 0) continue;
      std::int64_t axis = node.attributes.integer("axis");
      std::optional<std::int64_t> extent = (*table.shape)[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(table.rank()) : axis)].evaluate(bindings);
      if (!extent || (tightest && tightest->limit <= *extent)) continue;
      tightest = IndexUse{*extent, text("it selects from '", graph.value(node.inputs[0]).name, "'")};
    }
  }
  return tightest;
}

Result<KnownInputs> known_inputs(const Module& module, const Arguments& arguments, bool strict) {
  IT_TRY(Binder binder, make_binder(module, arguments, strict));
  return std::move(binder).known();
}

Result<BoundInputs> bind_inputs(const Module& module, const Arguments& arguments) {
  IT_TRY(Binder binder, make_binder(module, arguments, true));
  return std::move(binder).bind();
}

}  // namespace infini::cli
