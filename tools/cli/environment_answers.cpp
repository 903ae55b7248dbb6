#include <array>

#include "libcore/base/text.h"
#include "libcore/exec/executor.h"
#include "libcore/ir/text_form.h"
#include "libcore/tensor/compare.h"
#include "libcore/tensor/generate.h"
#include "tools/cli/environment_answers.h"

namespace infini::cli {
namespace {

// A graph with one input x and one result y; the result was worked out by hand. Types stand in the graph, so that they are part of the answer.
struct Question {
  std::string_view family, graph, x, y;
};

constexpr std::array questions = {
    Question{"Conv", R"((%x: f32[1,1,3,3]) -> (%y) {
      %w = constant f32[1,1,2,2] {1, 2, 3, 4}
      %y = Conv(%x, %w, _) : f32[1,1,2,2] })",
             "[1 2 3 4 5 6 7 8 9]", "[37 47 67 77]"},
    Question{"Conv, depthwise", R"((%x: f32[1,2,2,2]) -> (%y) {
      %w = constant f32[2,1,2,2] {1, 1, 1, 1, 1, 0, 0, -1}
      %y = Conv(%x, %w, _) {group = 2} : f32[1,2,1,1] })",
             "[1 2 3 4 5 6 7 8]", "[10 -3]"},
    Question{"ConvTranspose", R"((%x: f32[1,1,2,2]) -> (%y) {
      %w = constant f32[1,1,2,2] {1, 0, 0, 1}
      %y = ConvTranspose(%x, %w, _) : f32[1,1,3,3] })",
             "[1 2 3 4]", "[1 2 0 3 5 2 0 3 4]"},
    Question{"MatMul", R"((%x: f32[2,3]) -> (%y) {
      %w = constant f32[3,2] {1, 0, 0, 1, 1, 1}
      %y = MatMul(%x, %w) : f32[2,2] })",
             "[1 2 3 4 5 6]", "[4 5 10 11]"},
    Question{"MatMul in f16", R"((%x: f16[1,2]) -> (%y) {
      %w = constant f16[2,1] {3, 4}
      %y = MatMul(%x, %w) : f16[1,1] })",
             "[1 2]", "[11]"},
    Question{"Gemm", R"((%x: f32[2,2]) -> (%y) {
      %b = constant f32[2,2] {5, 6, 7, 8}
      %c = constant f32[2] {1, -1}
      %y = Gemm(%x, %b, %c) {transB = 1} : f32[2,2] })",
             "[1 2 3 4]", "[18 22 40 52]"},
    Question{"MaxPool", R"((%x: f32[1,1,3,3]) -> (%y) {
      %y = MaxPool(%x) {kernel_shape = [2, 2]} : f32[1,1,2,2] })",
             "[-9 -8 -7 -6 -5 -4 -3 -2 -1]", "[-5 -4 -2 -1]"},
    Question{"AveragePool", R"((%x: f32[1,1,3,3]) -> (%y) {
      %y = AveragePool(%x) {kernel_shape = [2, 2]} : f32[1,1,2,2] })",
             "[1 2 3 4 5 6 7 8 9]", "[3 4 6 7]"},
    Question{"Add", R"((%x: f32[2,3]) -> (%y) {
      %b = constant f32[3] {10, 20, 30}
      %y = Add(%x, %b) : f32[2,3] })",
             "[1 2 3 4 5 6]", "[11 22 33 14 25 36]"},
    Question{"Mul", R"((%x: f32[4]) -> (%y) {
      %b = constant f32[4] {2, 3, -4, 0.5}
      %y = Mul(%x, %b) : f32[4] })",
             "[1 -2 3 4]", "[2 -6 -12 2]"},
    Question{"Relu", R"((%x: f32[4]) -> (%y) {
      %y = Relu(%x) : f32[4] })",
             "[-1 0 2 -3]", "[0 0 2 0]"},
    Question{"Add in i64", R"((%x: i64[2]) -> (%y) {
      %b = constant i64[2] {1, -1}
      %y = Add(%x, %b) : i64[2] })",
             "[9007199254740992 -7]", "[9007199254740993 -8]"},
    Question{"ReduceSum", R"((%x: f32[2,3]) -> (%y) {
      %axes = constant i64[1] {1}
      %y = ReduceSum(%x, %axes) {keepdims = 0} : f32[2] })",
             "[1 2 3 4 5 6]", "[6 15]"},
    Question{"ArgMax", R"((%x: f32[2,3]) -> (%y) {
      %y = ArgMax(%x) {axis = 1, keepdims = 0} : i64[2] })",
             "[3 9 2 7 1 7]", "[1 0]"},
    Question{"Softmax", R"((%x: f32[3,2]) -> (%y) {
      %y = Softmax(%x) : f32[3,2] })",
             "[0 0 1000 1000 0 -200]", "[0.5 0.5 0.5 0.5 1 0]"},
    Question{"LayerNormalization", R"((%x: f32[2,2]) -> (%y) {
      %s = constant f32[2] {2, 3}
      %b = constant f32[2] {1, -1}
      %y = LayerNormalization(%x, %s, %b) : f32[2,2] })",
             "[1000 3000 -2000 2000]", "[-1 2 -1 2]"},
    Question{"Cast", R"((%x: f32[3]) -> (%y) {
      %y = Cast(%x) {to = 6} : i32[3] })",
             "[1.75 -1.75 0]", "[1 -1 0]"},
    Question{"Transpose", R"((%x: f32[2,3]) -> (%y) {
      %y = Transpose(%x) {perm = [1, 0]} : f32[3,2] })",
             "[1 2 3 4 5 6]", "[1 4 2 5 3 6]"},
    Question{"Concat", R"((%x: f32[2,2]) -> (%y) {
      %b = constant f32[2,1] {5, 6}
      %y = Concat(%x, %b) {axis = 1} : f32[2,3] })",
             "[1 2 3 4]", "[1 2 5 3 4 6]"},
    Question{"Gather", R"((%x: f32[3,2]) -> (%y) {
      %i = constant i64[2] {2, 0}
      %y = Gather(%x, %i) : f32[2,2] })",
             "[1 2 3 4 5 6]", "[5 6 1 2]"},
    Question{"ScatterND", R"((%x: f32[4]) -> (%y) {
      %i = constant i64[2,1] {1, 3}
      %u = constant f32[2] {9, 8}
      %y = ScatterND(%x, %i, %u) : f32[4] })",
             "[1 2 3 4]", "[1 9 3 8]"},
    Question{"Pad", R"((%x: f32[2]) -> (%y) {
      %p = constant i64[2] {1, 2}
      %v = constant f32[] {7}
      %y = Pad(%x, %p, %v) : f32[5] })",
             "[1 2]", "[7 1 2 7 7]"},
    Question{"Resize", R"((%x: f32[1,1,1,2]) -> (%y) {
      %s = constant f32[4] {1, 1, 1, 2}
      %y = Resize(%x, _, %s) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : f32[1,1,1,4] })",
             "[1 2]", "[1 1 2 2]"},
};

Result<Tensor> tensor_of(const Graph& graph, ValueId value, std::string_view elements) {
  IT_TRY(ValueSpec spec, parse_value_spec(elements));
  const Type& type = graph.value(value).type;
  return generate(spec, type.dtype, constant_extents(*type.shape).value());
}

// What is wrong with the answer; nothing: it is right.
Result<std::string> wrong_with(const Question& question, const Devices& devices) {
  OpTable ops;
  IT_TRY(Module module, parse_text(text("graph \"question\" ", question.graph, "\n"), ops));
  IT_TRY(Tensor x, tensor_of(module.graph, module.graph.inputs()[0], question.x));
  IT_TRY(Tensor y, tensor_of(module.graph, module.graph.outputs()[0], question.y));
  ExecOptions options;
  options.devices = devices;
  IT_TRY(std::unique_ptr<Executor> executor, Executor::make(std::make_shared<const Graph>(std::move(module.graph)), std::move(options)));
  std::vector<Value> inputs = {std::move(x)};
  IT_TRY(std::vector<Value> outputs, executor->run(inputs));
  return compare(outputs.at(0), Value(std::move(y)), {.relative = 1e-5, .absolute = 1e-6}).reason;
}

}  // namespace

std::vector<KnownAnswer> ask_known_answers(const std::string& name, const Devices& devices) {
  std::vector<KnownAnswer> answers;
  for (const Question& question : questions) {
    KnownAnswer answer{name, std::string(question.family)};
    Result<std::string> wrong = wrong_with(question, devices);
    if (!wrong && wrong.error().kind == ErrorKind::unsupported)
      answer.verdict = KnownAnswer::Verdict::not_taken;
    else if (!wrong)
      answer.verdict = KnownAnswer::Verdict::failed, answer.detail = wrong.error().text();
    else if (!wrong->empty())
      answer.verdict = KnownAnswer::Verdict::wrong, answer.detail = std::move(*wrong);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace infini::cli
