// Cast and CastLike: the same elements in another type.
#include <array>
#include <charconv>
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"
#include "libcore/tensor/element.h"

namespace infini {
namespace {

using namespace expr;

// ---- strings: on the tensors themselves ------------------------------------------------------------------------------------------------

// From which magnitude on NumPy writes an exponent.
double plain_below(DType dtype) { return dtype == DType::f16 ? 1e3 : dtype == DType::f32 ? 1e6 : 1e16; }

// The fewest digits that give back the same element: "d.ddde+xx".
std::string shortest_digits(DType dtype, double value) {
  char buffer[64];
  auto written = [&](auto number, auto... precision) {
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific, precision...).ptr);
  };
  if (dtype == DType::f64) return written(value);
  if (dtype == DType::f32) return written(static_cast<float>(value));
  std::uint64_t bits = encode_float(dtype, value);
  for (int precision = 0; precision < 17; ++precision) {
    std::string digits = written(value, precision);
    double back = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), back);
    if (encode_float(dtype, back) == bits) return digits;
  }
  return written(value);
}

// As NumPy's str: shortest digits, with an exponent only below 1e-4 and for large numbers.
std::string float_text(DType dtype, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string digits = shortest_digits(dtype, value);
  double size = std::fabs(value);
  if (size != 0 && (size < 1e-4 || size >= plain_below(dtype))) return digits;
  double shortest = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), shortest);
  char buffer[64];
  std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, shortest, std::chars_format::fixed).ptr);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

std::string element_text(const Tensor& tensor, std::int64_t i) {
  DType dtype = tensor.dtype();
  if (dtype == DType::boolean) return tensor.as_int(i) != 0 ? "True" : "False";
  if (is_floating(dtype)) return float_text(dtype, tensor.as_double(i));
  return dtype == DType::u64 ? text(static_cast<std::uint64_t>(tensor.as_int(i))) : text(tensor.as_int(i));
}

Result<Tensor> to_strings(const Tensor& tensor) {
  std::vector<std::string> out;
  for (std::int64_t i = 0; i < tensor.count(); ++i) out.push_back(element_text(tensor, i));
  return Tensor::of_strings(tensor.extents(), std::move(out));
}

// A number in plain or scientific notation, inf and nan in any case; also true and false.
std::optional<double> number_of(std::string_view word) {
  std::string name = lower(word);
  if (!name.empty() && name[0] == '+') name.erase(0, 1);
  if (name == "inf" || name == "infinity") return INFINITY;
  if (name == "-inf" || name == "-infinity") return -INFINITY;
  if (name == "nan" || name == "-nan") return NAN;
  if (name == "true") return 1;
  if (name == "false") return 0;
  double value = 0;
  if (parse_double(name, value)) return value;
  return std::nullopt;
}

Result<Tensor> from_strings(const Tensor& tensor, DType to) {
  IT_TRY(TensorWriter writer, TensorWriter::make(to, tensor.extents()));
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::string_view word = trim(tensor.strings()[static_cast<std::size_t>(i)]);
    std::int64_t whole = 0;
    std::uint64_t large = 0;
    if (is_integer(to) && parse_int(word, whole)) {
      writer.set_int(i, whole);
    } else if (to == DType::u64 && std::from_chars(word.data(), word.data() + word.size(), large).ptr == word.data() + word.size() && !word.empty()) {
      writer.set_int(i, static_cast<std::int64_t>(large));
    } else if (std::optional<double> value = number_of(word)) {
      writer.set_double(i, *value);
    } else {
      return run_failed(text("element ", i, " is ", quoted(word), ", which is no number and cannot become ", name(to)));
    }
  }
  return std::move(writer).finish();
}

// ---- the operators --------------------------------------------------------------------------------------------------------------------

Result<DType> target(const OpContext& context) {
  if (context.op().name == "CastLike") return context.dtype(1);
  std::int64_t number = context.attributes().integer("to");
  std::optional<DType> dtype = dtype_from_onnx(number);
  if (!dtype || !context.op().outputs[0].dtypes.contains(*dtype)) return bad_input(text("attribute 'to' is ", number, ", which is no element type to cast to"));
  return *dtype;
}

Result<ConversionRule> rule(const OpContext& context) {
  ConversionRule out;
  out.saturate = context.attributes().integer("saturate", 1) != 0;
  std::string mode = context.attributes().text("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") return bad_input(text("round_mode is '", mode, "', expected up, down or nearest"));
  IT_TRY(DType to, target(context));
  if (to == DType::f8e8m0) out.rounding = mode == "up" ? Rounding::up : mode == "down" ? Rounding::down : Rounding::nearest_even;
  return out;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  IT_TRY(DType to, target(context));
  IT_TRY_VOID(rule(context));
  return one(Type::tensor(to, context.type(0).shape));
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(DType to, target(context));
  IT_TRY(ConversionRule conversion, rule(context));
  if ((to == DType::str) != (context.dtype(0) == DType::str)) return unsupported(text(context.op().name, ": numbers from and to strings are no index notation"));
  return elementwise_meaning(context, to, *context.shape(0), [&](Meaning& m, const Indices& at) {
    Expr x = m.in(0)(at);
    return x.dtype() == to ? x : cast(to, x, conversion);
  });
}

Result<std::vector<Value>> on_values(const OpContext& context, std::span<const Value* const> inputs) {
  IT_TRY(DType to, target(context));
  const Tensor* x = inputs[0]->tensor();
  if (!x) return unsupported(text(context.op().name, " takes tensors only"));
  IT_TRY(Tensor out, to == DType::str ? to_strings(*x) : from_strings(*x, to));
  return std::vector<Value>{std::move(out)};
}

// Opset 1 named the type: "FLOAT".
Status upgrade(Upgrade& node) {
  const std::string* to = node.attributes().get<std::string>("to");
  if (!to) return {};
  std::optional<DType> dtype = parse_dtype(*to);
  if (!dtype) return bad_input(text("attribute 'to' is ", quoted(*to), ", which is no element type"));
  node.attributes().set("to", static_cast<std::int64_t>(*dtype));
  return {};
}

constexpr DTypeSet types = dtypes::any - dtypes::complexes;
constexpr std::array<int, 10> cast_versions = {1, 6, 9, 13, 19, 21, 23, 24, 25, 28};
constexpr std::array<int, 6> like_versions = {15, 19, 21, 23, 24, 25};
constexpr std::array<Param, 1> cast_in = {Param{"input", types}};
constexpr std::array<Param, 2> like_in = {Param{"input", types}, Param{"target_type", types}};
constexpr std::array<Param, 1> outputs = {Param{"output", types}};
constexpr std::array<AttributeDef, 3> cast_attributes = {text_attribute("round_mode", "up"), int_attribute("saturate", 1),
                                                         required_attribute("to", AttributeKind::integer)};
constexpr std::array<AttributeDef, 2> like_attributes = {text_attribute("round_mode", "up"), int_attribute("saturate", 1)};
constexpr std::string_view strings_reason = "Numbers are read from strings and written to them; index notation has no characters.";

const std::array table = {
    OpDef{.name = "Cast", .summary = "The same elements in the type `to`", .versions = cast_versions, .inputs = cast_in, .outputs = outputs,
          .attributes = cast_attributes, .infer = infer, .meaning = meaning, .reference_reason = strings_reason, .on_values = on_values, .upgrade = upgrade},
    OpDef{.name = "CastLike", .summary = "The same elements in the type of another tensor", .versions = like_versions, .inputs = like_in, .outputs = outputs,
          .attributes = like_attributes, .infer = infer, .meaning = meaning, .reference_reason = strings_reason, .on_values = on_values},
};

}  // namespace

std::span<const OpDef> cast_ops() { return table; }

}  // namespace infini
