// Dropout: the input itself; while training, a random part of it, scaled up to keep its expectation.
#include <array>
#include <random>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

enum class Mode { inference, training, open };

Mode mode_of(const OpContext& context) {
  if (!context.has(2)) return Mode::inference;
  std::optional<std::vector<std::int64_t>> training = context.ints(2);
  if (!training || training->size() != 1) return Mode::open;
  return training->front() != 0 ? Mode::training : Mode::inference;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (context.shape(i) && element_count(*context.shape(i)).constant().value_or(1) != 1) {
      return bad_input(text("input '", context.op().inputs[i].name, "' is ", to_string(context.type(i)), ", expected a single number"));
    }
  }
  return std::vector<Type>{tensor_like(context.type(0)), Type::tensor(DType::boolean, context.type(0).shape)};
}

Result<Program> meaning(const OpContext& context) {
  if (mode_of(context) != Mode::inference) return unsupported("Dropout while training draws random numbers, which index notation cannot say");
  Meaning m(context);
  const Shape& shape = *context.shape(0);
  m.output(m.define(context.dtype(0), shape, [&](const Indices& at) { return m.in(0)(at); }));
  if (context.output_count() > 1) {
    m.output(m.define(DType::boolean, shape, [](const Indices&) { return constant_int(DType::boolean, 1); }));
  }
  return std::move(m).finish();
}

// Keeps an element where a uniform number in [0, 1) is at least `ratio`. The numbers are those of NumPy's legacy generator, as ONNX's
// own reference draws them: MT19937 from the seed, 53 bits out of two draws. Without a seed it is 0, so that results repeat.
Result<std::vector<Value>> train(const OpContext& context, std::span<const Value* const> inputs) {
  const Tensor& x = *inputs[0]->tensor();
  double ratio = context.has(1) ? inputs[1]->tensor()->as_double(0) : 0.5;
  if (!(ratio >= 0 && ratio < 1)) return bad_input(text("ratio is ", ratio, ", expected a number in [0, 1)"));
  std::mt19937 draw(static_cast<std::uint32_t>(context.attributes().integer("seed", 0)));
  IT_TRY(TensorWriter y, TensorWriter::make(x.dtype(), x.extents()));
  IT_TRY(TensorWriter mask, TensorWriter::make(DType::boolean, x.extents()));
  for (std::int64_t i = 0; i < x.count(); ++i) {
    auto high = static_cast<double>(draw() >> 5), low = static_cast<double>(draw() >> 6);
    bool keep = ratio == 0 || (high * 67108864.0 + low) / 9007199254740992.0 >= ratio;
    y.set_double(i, keep ? x.as_double(i) / (1 - ratio) : 0.0);
    mask.set_int(i, keep ? 1 : 0);
  }
  std::vector<Value> out = {std::move(y).finish()};
  if (context.output_count() > 1) out.emplace_back(std::move(mask).finish());
  return out;
}

// Below opset 12, ratio was an attribute and training unknown to the node; below 7, is_test=0 (the default) meant training. Below 10 the
// mask had the type of the data.
Status upgrade(Upgrade& node) {
  if (node.opset() >= 12) return {};
  node.attribute_to_input("ratio", 1, DType::f32, true);
  std::optional<AttributeValue> is_test = node.attributes().take("is_test");
  if (node.opset() < 7 && !(is_test && std::get_if<std::int64_t>(&*is_test) && std::get<std::int64_t>(*is_test) != 0)) {
    node.set_input(2, node.constant(Tensor::of<std::uint8_t>(DType::boolean, {}, {1})));
  }
  bool mask_wanted = node.outputs().size() > 1 && node.outputs()[1] >= 0;
  if (node.opset() < 10 && mask_wanted && !node.inputs().empty()) node.emit_after(1, "CastLike", {node.inputs()[0]}, {});
  return {};
}

constexpr DTypeSet types = dtypes::floats | dtypes::float8;
constexpr std::array<int, 7> versions = {1, 6, 7, 10, 12, 13, 22};
constexpr std::array<Param, 3> inputs = {Param{"data", types, "T"}, Param{"ratio", types, "T1", Arity::optional},
                                         Param{"training_mode", DType::boolean, {}, Arity::optional}};
constexpr std::array<Param, 2> outputs = {Param{"output", types, "T"}, Param{"mask", DType::boolean, {}, Arity::optional}};
constexpr std::array<AttributeDef, 1> attributes = {optional_attribute("seed", AttributeKind::integer)};
constexpr std::array<int, 1> training_mode = {2};

const std::array table = {OpDef{.name = "Dropout", .summary = "The input itself, or while training a random part of it", .versions = versions,
                                .inputs = inputs, .outputs = outputs, .attributes = attributes, .infer = infer, .meaning = meaning,
                                .reference_reason = "In training it draws random numbers.", .on_values = train, .upgrade = upgrade, .value_inputs = training_mode}};

}  // namespace

std::span<const OpDef> dropout_ops() { return table; }

}  // namespace infini
