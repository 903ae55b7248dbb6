#include "passes/pass.h"

#include <algorithm>
#include <array>

#include "libcore/base/text.h"

namespace infini {

#define PASS(file) const Pass& file##_pass();
#include "passes/passes.def"
#undef PASS

namespace {

constexpr std::int64_t small_elements = 64;

constexpr std::array<std::string_view, 45> elementwise = {
    "Abs",  "Add",     "And",        "Cast",    "Ceil", "Clip",   "Cos",     "Div",  "Elu",       "Equal",    "Erf", "Exp",     "Floor", "Gelu",
    "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mish", "Mod", "Mul", "Neg",
    "Not",  "Or",      "PRelu",      "Pow",     "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign",     "Sin", "Softplus", "Sqrt",  "Sub",
    "Swish", "Tanh",   "Where"};

}  // namespace

std::string_view name(Safety safety) {
  switch (safety) {
    case Safety::exact: return "exact";
    case Safety::rounding: return "rounding";
    case Safety::approx: return "approx";
    case Safety::lossy: break;
  }
  return "lossy";
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::int64_t unit = 1;
  for (auto [suffix, factor] : {std::pair<std::string_view, std::int64_t>{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = factor;
  }
  std::int64_t number = 0;
  if (!parse_int(text, number) || number < 0 || number > INT64_MAX / unit) return std::nullopt;
  return static_cast<std::uint64_t>(number * unit);
}

std::uint64_t PassContext::size_option(std::string_view name) const { return parse_size(option(name)).value_or(0); }

bool PassContext::may_rewrite() {
  if (rewrites_ >= rewrite_limit_) return false;
  ++rewrites_;
  return true;
}

void PassContext::near_miss(const Graph& graph, NodeId node, std::string why) {
  const Node& n = graph.node(node);
  near_misses_.push_back(text(n.type, " '", n.name, "': ", why));
}

std::span<const Pass* const> all_passes() {
#define PASS(file) &file##_pass(),
  static const std::array table = {
#include "passes/passes.def"
  };
#undef PASS
  return table;
}

const Pass* find_pass(std::string_view name) {
  for (const Pass* pass : all_passes()) {
    if (pass->name == name) return pass;
  }
  return nullptr;
}

bool is_random(const Node& node) {
  return node.type.starts_with("Random") || node.type == "Bernoulli" || node.type == "Multinomial" || node.type == "Dropout";
}

const Node* producer(const Graph& graph, ValueId value, std::string_view type) {
  if (!value || !graph.value(value).producer) return nullptr;
  const Node& node = graph.node(graph.value(value).producer);
  return is_op(node, type) ? &node : nullptr;
}

const Constant* constant_of(const Graph& graph, ValueId value) { return value ? graph.value(value).constant.get() : nullptr; }

bool loadable(const Constant& constant, std::uint64_t limit) {
  return !std::holds_alternative<AbsentPayload>(constant.payload) && constant.size() <= limit;
}

std::optional<std::vector<double>> small_constant(const Graph& graph, ValueId value) {
  const Constant* constant = constant_of(graph, value);
  const Tensor* tensor = constant ? constant->at_hand() : nullptr;
  if (!tensor || tensor->count() > small_elements || tensor->dtype() == DType::str || is_complex(tensor->dtype())) return std::nullopt;
  std::vector<double> out;
  for (std::int64_t i = 0; i < tensor->count(); ++i) out.push_back(tensor->as_double(i));
  return out;
}

std::optional<double> scalar_constant(const Graph& graph, ValueId value) {
  auto elements = small_constant(graph, value);
  return elements && elements->size() == 1 ? std::optional((*elements)[0]) : std::nullopt;
}

bool is_known_shape(const Graph& graph, ValueId value) {
  const std::optional<expr::DimTensor>& dims = graph.value(value).dims;
  return constant_of(graph, value) || (dims && std::all_of(dims->elements.begin(), dims->elements.end(), [](const auto& d) { return d.has_value(); }));
}

bool is_elementwise(const Node& node) {
  return node.op && node.domain.empty() && std::find(elementwise.begin(), elementwise.end(), node.type) != elementwise.end();
}

}  // namespace infini
