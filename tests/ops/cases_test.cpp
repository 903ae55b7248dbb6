// Every text case beside this file: inference, the meaning, both again with symbols in place of the inputs' sizes, and inference with less known.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "libcore/base/text.h"
#include "node_run.h"

namespace infini::tests {
namespace {

bool near(const Case& c, const Tensor& got, const Tensor& wanted, std::int64_t i) {
  DType dtype = got.dtype();
  if (dtype == DType::str) return got.strings()[static_cast<std::size_t>(i)] == wanted.strings()[static_cast<std::size_t>(i)];
  if (!is_floating(dtype)) return got.as_int(i) == wanted.as_int(i);
  double a = got.as_double(i), b = wanted.as_double(i);
  if (std::isnan(b)) return std::isnan(a);
  return a == b || (std::isfinite(b) && std::fabs(a - b) <= c.absolute + c.relative * std::fabs(b));
}

std::string element(const Tensor& t, std::int64_t i) {
  if (t.dtype() == DType::str) return t.strings()[static_cast<std::size_t>(i)];
  return is_floating(t.dtype()) ? text(t.as_double(i)) : text(t.as_int(i));
}

Status compare(const Case& c, std::size_t output, const Tensor& got) {
  const Tensor& wanted = *c.outputs[output];
  std::string found = to_string(got.type()), expected = to_string(wanted.type());
  if (found != expected) return bad_input(text("output ", output, " is ", found, ", expected ", expected));
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    if (!near(c, got, wanted, i)) return bad_input(text("output ", output, ", element ", i, " is ", element(got, i), ", expected ", element(wanted, i)));
  }
  return {};
}

// The outputs as the model calls them: through what the upgrade put behind the node.
Status compare_all(const Case& c, const ReadyNode& node, std::vector<Tensor> outputs) {
  for (const ReadyNode::After& after : node.after) {
    std::vector<std::optional<Tensor>> inputs = {outputs[after.output]};
    inputs.insert(inputs.end(), after.further.begin(), after.further.end());
    IT_TRY(std::vector<Tensor> changed, run_node(*after.op, after.attributes, inputs, 1));
    outputs[after.output] = changed.front();
  }
  for (std::size_t i = 0; i < c.outputs.size(); ++i) {
    if (!c.outputs[i]) continue;
    if (i >= outputs.size()) return bad_input(text("there are ", outputs.size(), " outputs, expected ", c.outputs.size()));
    IT_TRY_VOID(compare(c, i, outputs[i]));
  }
  return {};
}

// Sizes that no symbol can stand for: the last axis of GatherND's indices and those of a Squeeze without axes decide the rank of the
// output, and with an aspect ratio to keep Resize takes the smallest or largest of quotients.
bool must_be_number(const ReadyNode& node, std::size_t input, std::size_t axis) {
  if (node.op->name == "GatherND") return input == 1 && axis + 1 == node.inputs[1]->rank();
  if (node.op->name == "Squeeze") return node.inputs.size() < 2;
  return node.op->name == "Resize" && node.attributes.text("keep_aspect_ratio_policy", "stretch") != "stretch";
}

// The same node with a symbol for each size above 1; inputs whose values decide shapes keep them, and so do those that must be numbers.
struct Symbolic {
  std::vector<Type> types;
  std::vector<InputFact> facts;
  Bindings bindings;

  explicit Symbolic(const ReadyNode& node) : types(node.inputs.size()), facts(node.inputs.size()) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      auto number = static_cast<int>(std::min(i, node.op->inputs.size() - 1));
      bool by_value = std::find(node.op->value_inputs.begin(), node.op->value_inputs.end(), number) != node.op->value_inputs.end();
      types[i] = node.inputs[i]->type();
      for (std::size_t axis = 0; !by_value && axis < types[i].rank(); ++axis) {
        Dim& dim = (*types[i].shape)[axis];
        if (*dim.constant() <= 1 || must_be_number(node, i, axis)) continue;
        bindings.push_back({text("s", i, "_", axis), *dim.constant()});
        dim = Dim::symbol(bindings.back().symbol);
      }
      facts[i] = {&types[i], by_value ? &*node.inputs[i] : nullptr, nullptr};
    }
  }
};

Status check_symbolic(const Case& c, const ReadyNode& node) {
  Symbolic symbolic(node);
  Attributes attributes = with_defaults(*node.op, node.attributes);
  NumberedDims fresh;
  OpContext context(*node.op, attributes, symbolic.facts, node.wanted.size(), &fresh);
  IT_TRY(std::vector<Type> types, infer_types(context));
  for (std::size_t i = 0; node.after.empty() && i < c.outputs.size(); ++i) {
    if (!c.outputs[i]) continue;
    std::optional<Extents> extents = types[i].has_shape() ? evaluate(*types[i].shape, symbolic.bindings) : std::nullopt;
    if (!extents || *extents != c.outputs[i]->extents()) {
      return bad_input(text("output ", i, " is inferred as ", to_string(types[i]), ", expected ", to_string(c.outputs[i]->type())));
    }
  }
  Result<expr::Program> program = meaning_of(context);
  if (!program && program.error().kind == ErrorKind::unsupported && node.op->on_values) return {};
  IT_TRY(expr::Program known, std::move(program));
  std::vector<Tensor> present;
  for (const std::optional<Tensor>& input : node.inputs) {
    if (input) present.push_back(*input);
  }
  IT_TRY(std::vector<Tensor> outputs, expr::run(expr::substitute(known, symbolic.bindings), present));
  return compare_all(c, node, std::move(outputs));
}

// The same node when nothing but element types is known, or only ranks beside them: inference gives what follows from that, and no error.
Status check_vague(const Case& c, const ReadyNode& node, bool ranks) {
  std::vector<Type> types(node.inputs.size());
  std::vector<InputFact> facts(node.inputs.size());
  NumberedDims fresh;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i]) continue;
    types[i] = Type::tensor(node.inputs[i]->dtype());
    if (ranks) {
      types[i].shape.emplace();
      for (std::size_t axis = 0; axis < node.inputs[i]->rank(); ++axis) types[i].shape->push_back(fresh.next());
    }
    facts[i] = {&types[i], nullptr, nullptr};
  }
  Attributes attributes = with_defaults(*node.op, node.attributes);
  OpContext context(*node.op, attributes, facts, node.wanted.size(), &fresh);
  IT_TRY(std::vector<Type> inferred, infer_types(context));
  for (std::size_t i = 0; node.after.empty() && i < c.outputs.size() && i < inferred.size(); ++i) {
    if (!c.outputs[i] || inferred[i].kind == TypeKind::unknown) continue;
    bool fits = inferred[i].dtype == c.outputs[i]->dtype() && (!inferred[i].has_shape() || inferred[i].rank() == c.outputs[i]->rank());
    if (!fits) return bad_input(text("output ", i, " is inferred as ", to_string(inferred[i]), ", expected ", to_string(c.outputs[i]->type())));
  }
  return {};
}

Status check_error(const Case& c, const Error& error) {
  if (error.message.find(c.error) != std::string::npos) return {};
  return bad_input(text("the message is \"", error.message, "\", expected \"", c.error, "\""));
}

Status check(const OpTable& ops, const Case& c) {
  Result<ReadyNode> node = make_ready(ops, c);
  if (!node && !c.error.empty()) return check_error(c, node.error());
  IT_TRY(ReadyNode ready, std::move(node));
  Result<std::vector<Tensor>> outputs = run_node(*ready.op, ready.attributes, ready.inputs, ready.wanted.size());
  if (!c.error.empty()) return outputs ? bad_input("it runs, expected an error") : check_error(c, outputs.error());
  IT_TRY(std::vector<Tensor> tensors, std::move(outputs));
  IT_TRY_VOID(within("with numbers", compare_all(c, ready, std::move(tensors))));
  IT_TRY_VOID(within("with ranks alone", check_vague(c, ready, true)));
  IT_TRY_VOID(within("with element types alone", check_vague(c, ready, false)));
  return ready.op->meaning ? within("with symbols", check_symbolic(c, ready)) : Status();
}

}  // namespace

TEST_CASE("operators: text cases") {
  OpTable ops;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(IT_TEST_DATA) + "/cases")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  int count = 0;
  for (const std::filesystem::path& path : paths) {
    Result<std::vector<Case>> cases = read_cases(path.string());
    REQUIRE_MESSAGE(cases.has_value(), cases.error().text());
    for (const Case& c : *cases) {
      Status status = check(ops, c);
      std::string message = status ? "" : status.error().text();
      CHECK_MESSAGE(message.empty(), path.filename().string(), ": ", c.name, ": ", message);
      ++count;
    }
  }
  MESSAGE(count, " cases in ", paths.size(), " files");
  CHECK(count > 0);
}

}  // namespace infini::tests
