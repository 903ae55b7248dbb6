#include "backends/cpu/kernels/program.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/text.h"

namespace infini::cpu {
namespace {

struct Named {
  std::string_view op;
  int code;
};

constexpr Named unary_ops[] = {
    {"Relu", IT_V_RELU},     {"Abs", IT_V_ABS},       {"Neg", IT_V_NEG},           {"Sign", IT_V_SIGN},         {"Sqrt", IT_V_SQRT},
    {"Floor", IT_V_FLOOR},   {"Ceil", IT_V_CEIL},     {"Round", IT_V_ROUND},       {"Exp", IT_V_EXP},           {"Log", IT_V_LOG},
    {"Erf", IT_V_ERF},       {"Tanh", IT_V_TANH},     {"Sigmoid", IT_V_SIGMOID},   {"HardSwish", IT_V_HARD_SWISH}, {"Softplus", IT_V_SOFTPLUS},
    {"Softsign", IT_V_SOFTSIGN}, {"Mish", IT_V_MISH}, {"Reciprocal", IT_V_RECIPROCAL}, {"Identity", IT_V_COPY},
};
constexpr Named binary_ops[] = {{"Add", IT_V_ADD}, {"Sub", IT_V_SUB}, {"Mul", IT_V_MUL}, {"Div", IT_V_DIV}, {"PRelu", IT_V_PRELU}};
constexpr Named variadic_ops[] = {{"Sum", IT_V_ADD}, {"Max", IT_V_MAX}, {"Min", IT_V_MIN}, {"Mean", IT_V_ADD}};

// Operators with attributes: their parameters' names and defaults.
struct Parametric {
  std::string_view op;
  int code;
  std::string_view first, second;
  float first_default, second_default;
};
constexpr Parametric parametric_ops[] = {
    {"LeakyRelu", IT_V_LEAKY, "alpha", "", 0.01f, 0},     {"Elu", IT_V_ELU, "alpha", "", 1, 0},
    {"Celu", IT_V_CELU, "alpha", "", 1, 0},               {"ThresholdedRelu", IT_V_THRESHOLD, "alpha", "", 1, 0},
    {"HardSigmoid", IT_V_HARD_SIGMOID, "alpha", "beta", 0.2f, 0.5f},
    {"Selu", IT_V_SELU, "alpha", "gamma", 1.67326319217681884765625f, 1.05070102214813232421875f},
    {"Swish", IT_V_SWISH, "alpha", "", 1, 0},             {"Shrink", IT_V_SHRINK, "bias", "lambd", 0, 0.5f},
};

struct LibraryUnary {
  std::string_view op;
  float (*function)(float);
};
constexpr LibraryUnary library_unary[] = {
    {"Sin", [](float x) { return std::sin(x); }},     {"Cos", [](float x) { return std::cos(x); }},     {"Tan", [](float x) { return std::tan(x); }},
    {"Asin", [](float x) { return std::asin(x); }},   {"Acos", [](float x) { return std::acos(x); }},   {"Atan", [](float x) { return std::atan(x); }},
    {"Sinh", [](float x) { return std::sinh(x); }},   {"Cosh", [](float x) { return std::cosh(x); }},   {"Asinh", [](float x) { return std::asinh(x); }},
    {"Acosh", [](float x) { return std::acosh(x); }}, {"Atanh", [](float x) { return std::atanh(x); }},
};
constexpr int library_base = IT_V_COUNT;
constexpr int library_pow = library_base + static_cast<int>(std::size(library_unary));

template <class Table>
const auto* lookup(const Table& table, std::string_view op) {
  for (const auto& row : table)
    if (row.op == op) return &row;
  return static_cast<decltype(&table[0])>(nullptr);
}

class Compiler {
 public:
  Compiler(const Region& region, Program& program) : region_(region), program_(program), place_(region.values.size()) {}

  void seed(int value) { operand(value); }
  Status add(const Node& node);
  Program::Operand operand(int value);
  void set_temps();

 private:
  using Operand = Program::Operand;
  Operand step(int code, Operand a, float p = 0, float q = 0) { return push({code, {a, {}}, 1, {p, q}, -1}); }
  Operand step(int code, Operand a, Operand b) { return push({code, {a, b}, 2, {0, 0}, -1}); }
  Operand push(Program::Step step) {
    program_.steps.push_back(step);
    return {Program::Kind::step, static_cast<int>(program_.steps.size()) - 1, 0};
  }
  Result<Operand> result_of(const Node& node);
  Operand variadic(const Node& node, int code);
  Operand clip(const Node& node);
  Operand power(const Node& node);
  bool is_number(int value, float& number) const;

  const Region& region_;
  Program& program_;
  std::vector<std::optional<Operand>> place_;
};

bool Compiler::is_number(int value, float& number) const {
  const Value& v = region_.values[static_cast<std::size_t>(value)];
  if (!v.is_constant() || v.count() != 1 || v.dtype != DType::f32) return false;
  number = v.floats()[0];
  return true;
}

Program::Operand Compiler::operand(int value) {
  std::optional<Operand>& place = place_[static_cast<std::size_t>(value)];
  if (place) return *place;
  float number = 0;
  if (is_number(value, number)) {
    place = Operand{Program::Kind::number, 0, number};
  } else {
    place = Operand{Program::Kind::external, static_cast<int>(program_.externals.size()), 0};
    program_.externals.push_back(value);
  }
  return *place;
}

Program::Operand Compiler::variadic(const Node& node, int code) {
  Operand result = operand(node.inputs[0]);
  if (node.inputs.size() == 1) result = step(IT_V_COPY, result);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) result = step(code, result, operand(node.inputs[i]));
  if (node.op() == "Mean" && node.inputs.size() > 1) result = step(IT_V_DIV, result, Operand{Program::Kind::number, 0, static_cast<float>(node.inputs.size())});
  return result;
}

Program::Operand Compiler::clip(const Node& node) {
  float infinity = std::numeric_limits<float>::infinity(), lo = -infinity, hi = infinity;
  bool has_lo = node.inputs.size() > 1 && node.inputs[1] >= 0, has_hi = node.inputs.size() > 2 && node.inputs[2] >= 0;
  bool fixed = (!has_lo || is_number(node.inputs[1], lo)) && (!has_hi || is_number(node.inputs[2], hi));
  Operand x = operand(node.inputs[0]);
  if (fixed) return step(IT_V_CLIP, x, lo, hi);
  if (has_lo) x = step(IT_V_MAX, x, operand(node.inputs[1]));
  if (has_hi) x = step(IT_V_MIN, x, operand(node.inputs[2]));
  return x;
}

Program::Operand Compiler::power(const Node& node) {
  Operand x = operand(node.inputs[0]);
  float exponent = 0;
  if (is_number(node.inputs[1], exponent)) {
    if (exponent == 2) return step(IT_V_SQUARE, x);
    if (exponent == 3) return step(IT_V_CUBE, x);
    if (exponent == 1) return step(IT_V_COPY, x);
    if (exponent == -1) return step(IT_V_RECIPROCAL, x);
  }
  return step(library_pow, x, operand(node.inputs[1]));
}

Result<Program::Operand> Compiler::result_of(const Node& node) {
  std::string_view op = node.op();
  if (auto* row = lookup(unary_ops, op)) return step(row->code, operand(node.inputs[0]));
  if (auto* row = lookup(binary_ops, op)) {
    Operand a = operand(node.inputs[0]);
    return step(row->code, a, operand(node.inputs[1]));
  }
  if (auto* row = lookup(variadic_ops, op)) return variadic(node, row->code);
  if (auto* row = lookup(parametric_ops, op))
    return step(row->code, operand(node.inputs[0]), node.number(row->first, row->first_default),
                row->second.empty() ? 0 : node.number(row->second, row->second_default));
  for (std::size_t i = 0; i < std::size(library_unary); ++i)
    if (library_unary[i].op == op) return step(library_base + static_cast<int>(i), operand(node.inputs[0]));
  if (op == "Gelu") return step(node.string("approximate", "none") == "tanh" ? IT_V_GELU_TANH : IT_V_GELU, operand(node.inputs[0]));
  if (op == "Clip") return clip(node);
  if (op == "Pow") return power(node);
  return unsupported(text("no elementwise kernel for ", op));
}

Status Compiler::add(const Node& node) {
  if (!is_elementwise(node)) return unsupported(text(node.op(), " is not elementwise"));
  if (node.inputs.empty() || node.inputs[0] < 0 || node.outputs.size() != 1 || node.outputs[0] < 0)
    return unsupported(text(node.op(), " with an operand left out"));
  for (int input : node.inputs)
    if (input >= 0 && region_.values[static_cast<std::size_t>(input)].dtype != DType::f32)
      return unsupported(text(node.op(), " of ", infini::name(region_.values[static_cast<std::size_t>(input)].dtype), ": the kernel is for f32"));
  bool two = lookup(binary_ops, node.op()) || node.is("Pow");
  if (two && (node.inputs.size() != 2 || node.inputs[1] < 0)) return unsupported(text(node.op(), " with ", node.inputs.size(), " operands"));
  IT_TRY(Operand result, result_of(node));
  // A result that is an operand unchanged (Clip without bounds) still needs a step to be stored by.
  if (result.kind != Program::Kind::step) result = step(IT_V_COPY, result);
  place_[static_cast<std::size_t>(node.outputs[0])] = result;
  return {};
}

// Gives every step but the last a temporary, taken again once its last reader has run.
void Compiler::set_temps() {
  std::vector<Program::Step>& steps = program_.steps;
  std::vector<std::size_t> last(steps.size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (const Operand& x : steps[i].x)
      if (x.kind == Program::Kind::step) last[static_cast<std::size_t>(x.index)] = i;
  std::vector<int> free;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    for (const Operand& x : steps[i].x) {
      if (x.kind != Program::Kind::step || last[static_cast<std::size_t>(x.index)] != i) continue;
      int temp = steps[static_cast<std::size_t>(x.index)].temp;
      if (std::find(free.begin(), free.end(), temp) == free.end()) free.push_back(temp);
    }
    if (free.empty()) free.push_back(program_.temps++);
    steps[i].temp = free.back();
    free.pop_back();
  }
}

}  // namespace

bool is_elementwise(const Node& node) {
  if (!node.domain().empty()) return false;
  std::string_view op = node.op();
  return lookup(unary_ops, op) || lookup(binary_ops, op) || lookup(variadic_ops, op) || lookup(parametric_ops, op) || lookup(library_unary, op) ||
         op == "Gelu" || op == "Clip" || op == "Pow";
}

Result<Program> Program::compile(const Region& region, std::size_t first, std::size_t end, int output, int seed) {
  Program program;
  Compiler compiler(region, program);
  if (seed >= 0) compiler.seed(seed);
  for (std::size_t i = first; i < end; ++i) IT_TRY_VOID(compiler.add(region.nodes[i]));
  for (std::size_t i = first; i < end; ++i)
    if (int made = region.nodes[i].outputs[0]; made != output && region.values[static_cast<std::size_t>(made)].output >= 0)
      return unsupported("a fused region of which a result in the middle is wanted too");
  if (program.steps.empty()) return program;
  Operand last = compiler.operand(output);
  if (last.kind != Kind::step || last.index + 1 != static_cast<int>(program.steps.size()))
    return unsupported("a fused region whose last node does not make its result");
  compiler.set_temps();
  return program;
}

namespace {

Source source_of(const Program& program, const Program::Operand& x, std::span<const Source> sources, const Block& block, const float* scratch) {
  if (x.kind == Program::Kind::external) return sources[static_cast<std::size_t>(x.index)];
  if (x.kind == Program::Kind::number) return {&x.number, 0, 0};
  return {scratch + program.steps[static_cast<std::size_t>(x.index)].temp * block_floats, block.n, 1};
}

void run_library(const it_vector& v) {
  int code = v.op - library_base;
  for (std::int64_t r = 0; r < v.rows; ++r) {
    const float *a = v.x[0] + r * v.x_row[0], *b = v.x[1] + r * v.x_row[1];
    float* y = v.y + r * v.y_row;
    if (v.op == library_pow) {
      for (std::int64_t i = 0; i < v.n; ++i) y[i] = std::pow(a[i * v.x_col[0]], b[i * v.x_col[1]]);
    } else {
      float (*function)(float) = library_unary[code].function;
      for (std::int64_t i = 0; i < v.n; ++i) y[i] = function(a[i * v.x_col[0]]);
    }
  }
}

}  // namespace

void run_program(const Program& program, const it_vector_kernels& kernels, const Block& block, std::span<const Source> sources, float* scratch) {
  for (const Program::Step& step : program.steps) {
    it_vector v{};
    v.op = step.op;
    v.rows = block.rows;
    v.n = block.n;
    v.y = step.temp < 0 ? block.y : scratch + step.temp * block_floats;
    v.y_row = step.temp < 0 ? block.y_row : block.n;
    for (int i = 0; i < 2; ++i) {
      Source from = source_of(program, step.x[i < step.arity ? i : 0], sources, block, scratch);
      v.x[i] = from.data;
      v.x_row[i] = from.row;
      v.x_col[i] = from.col;
    }
    v.p[0] = step.p[0];
    v.p[1] = step.p[1];
    if (step.op < IT_V_COUNT) kernels.run(&v);
    else run_library(v);
  }
}

double cost_per_element(const Program& program, const Device& device) {
  double width = device.isa == Isa::avx512 ? 16 : device.isa == Isa::avx2 ? 8 : 3;
  double cycles = 0;
  for (const Program::Step& step : program.steps) {
    if (step.op >= library_base) cycles += 40;
    else cycles += (step.op >= IT_V_EXP && step.op <= IT_V_MISH ? 25 : 3) / width;
  }
  return cycles / 3.0;
}

}  // namespace infini::cpu
