#include "libcore/ops/op.h"

#include <algorithm>

#include "libcore/base/text.h"

namespace infini {

#define OP(file) std::span<const OpDef> file##_ops();
#include "libcore/ops/ops.def"
#undef OP

namespace {

constexpr std::size_t propagation_limit = 64;  // elements; shapes are short

const Param* param_at(std::span<const Param> params, std::size_t i) {
  if (i < params.size()) return &params[i];
  if (!params.empty() && params.back().arity == Arity::variadic) return &params.back();
  return nullptr;
}

std::string dtype_list(DTypeSet set) {
  std::vector<std::string_view> names;
  for (int i = 1; i < dtype_count; ++i) {
    if (set.contains(static_cast<DType>(i))) names.push_back(name(static_cast<DType>(i)));
  }
  return join(names, ", ");
}

Status check_inputs(const OpContext& context) {
  const OpDef& op = context.op();
  std::vector<std::pair<std::string_view, DType>> groups;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const Param* param = param_at(op.inputs, i);
    if (!param) return bad_input(text("has ", context.input_count(), " inputs, ", op.name, " takes at most ", op.inputs.size()));
    if (!context.has(i)) {
      if (param->arity != Arity::optional) return bad_input(text("input ", i, " ('", param->name, "') is missing"));
      continue;
    }
    if (param->dtypes.empty()) continue;
    const Type& type = context.type(i);
    if (type.kind == TypeKind::unknown) continue;
    if (!type.is_tensor()) {
      if (op.on_values) continue;
      return bad_input(text("input '", param->name, "' is ", to_string(type), ", a tensor is expected"));
    }
    if (!param->dtypes.contains(type.dtype)) {
      return bad_input(text("input '", param->name, "' is ", name(type.dtype), ", allowed are ", dtype_list(param->dtypes)));
    }
    if (param->group.empty()) continue;
    auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == param->group; });
    if (known == groups.end()) {
      groups.emplace_back(param->group, type.dtype);
    } else if (known->second != type.dtype) {
      return bad_input(text("input '", param->name, "' is ", name(type.dtype), ", but must be ", name(known->second), " as an input before it"));
    }
  }
  for (std::size_t i = context.input_count(); i < op.inputs.size(); ++i) {
    if (op.inputs[i].arity == Arity::one) return bad_input(text("input ", i, " ('", op.inputs[i].name, "') is missing"));
  }
  return {};
}

Status check_attributes(const OpContext& context) {
  for (const AttributeDef& def : context.op().attributes) {
    const AttributeValue* value = context.attributes().find(def.name);
    if (!value) {
      if (def.standard == AttributeDef::Standard::required) return bad_input(text("attribute '", def.name, "' is missing"));
    } else if (kind(*value) != def.kind) {
      return bad_input(text("attribute '", def.name, "' is ", name(kind(*value)), ", expected ", name(def.kind)));
    }
  }
  for (const Attribute& attribute : context.attributes()) {
    if (!find_attribute(context.op(), attribute.name)) return bad_input(text("attribute '", attribute.name, "' is not one of ", context.op().name));
  }
  return {};
}

bool all_ranks_known(const OpContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && !context.shape(i)) return false;
  }
  return true;
}

std::optional<expr::DimTensor> as_dims(const Tensor& tensor) {
  if (tensor.count() > static_cast<std::int64_t>(propagation_limit)) return std::nullopt;
  if (!is_integer(tensor.dtype()) && tensor.dtype() != DType::boolean) return std::nullopt;
  expr::DimTensor dims{to_shape(tensor.extents()), {}};
  for (std::int64_t value : tensor.to_ints()) dims.elements.emplace_back(Dim(value));
  return dims;
}

}  // namespace

std::optional<std::vector<std::optional<Dim>>> OpContext::dims(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  if (inputs_[i].dims) return inputs_[i].dims->elements;
  if (auto values = ints(i)) {
    std::vector<std::optional<Dim>> out;
    for (std::int64_t value : *values) out.emplace_back(Dim(value));
    return out;
  }
  if (!type(i).has_shape()) return std::nullopt;
  std::optional<std::int64_t> count = element_count(*type(i).shape).constant();
  if (!count || *count > static_cast<std::int64_t>(propagation_limit)) return std::nullopt;
  return std::vector<std::optional<Dim>>(static_cast<std::size_t>(*count));
}

std::optional<std::vector<std::int64_t>> OpContext::ints(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  if (inputs_[i].constant) return inputs_[i].constant->to_ints();
  if (type(i).has_shape() && element_count(*type(i).shape) == Dim(0)) return std::vector<std::int64_t>();
  if (!inputs_[i].dims) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const std::optional<Dim>& dim : inputs_[i].dims->elements) {
    if (!dim || !dim->constant()) return std::nullopt;
    out.push_back(*dim->constant());
  }
  return out;
}

std::optional<std::vector<double>> OpContext::reals(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  if (const Tensor* constant = inputs_[i].constant) {
    std::vector<double> out;
    for (std::int64_t k = 0; k < constant->count(); ++k) out.push_back(constant->as_double(k));
    return out;
  }
  std::optional<std::vector<std::int64_t>> whole = ints(i);
  if (!whole) return std::nullopt;
  return std::vector<double>(whole->begin(), whole->end());
}

std::vector<Dim> OpContext::fresh(std::size_t count) const {
  std::vector<Dim> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(fresh_->next());
  return out;
}

const AttributeDef* find_attribute(const OpDef& op, std::string_view name) {
  for (const AttributeDef& def : op.attributes) {
    if (def.name == name) return &def;
  }
  return nullptr;
}

OpTable::OpTable() {
#define OP(file) \
  for (const OpDef& op : file##_ops()) all_.push_back(&op);
#include "libcore/ops/ops.def"
#undef OP
  std::sort(all_.begin(), all_.end(), [](const OpDef* a, const OpDef* b) { return std::pair(a->domain, a->name) < std::pair(b->domain, b->name); });
}

const OpDef* OpTable::find(std::string_view domain, std::string_view name) const {
  auto key = std::pair(domain, name);
  auto found = std::lower_bound(all_.begin(), all_.end(), key, [](const OpDef* a, const auto& k) { return std::pair(a->domain, a->name) < k; });
  return found != all_.end() && std::pair((*found)->domain, (*found)->name) == key ? *found : nullptr;
}

namespace {

// dim_limit stands for every size that an expression cannot hold; as the type of a value it would pass for a number.
Type without_limit(const OpContext& context, Type type) {
  if (type.element) type.element = std::make_shared<const Type>(without_limit(context, *type.element));
  if (!type.shape) return type;
  for (Dim& dim : *type.shape) {
    if (dim == Dim(dim_limit) || dim == Dim(-dim_limit)) dim = context.fresh();
  }
  return type;
}

}  // namespace

Result<std::vector<Type>> infer_types(const OpContext& context) {
  IT_TRY_VOID(check_inputs(context));
  IT_TRY_VOID(check_attributes(context));
  const OpDef& op = context.op();
  std::size_t required = 0;
  while (required < op.outputs.size() && op.outputs[required].arity == Arity::one) ++required;
  if (context.output_count() > op.outputs.size() && (op.outputs.empty() || op.outputs.back().arity != Arity::variadic)) {
    return bad_input(text("has ", context.output_count(), " outputs, ", op.name, " gives at most ", op.outputs.size()));
  }
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && context.type(i).kind == TypeKind::unknown) return std::vector<Type>(context.output_count());
  }
  IT_TRY(std::vector<Type> types, op.infer(context));
  types.resize(context.output_count());
  for (Type& type : types) type = without_limit(context, std::move(type));
  return types;
}

Result<expr::Program> meaning_of(const OpContext& context) {
  const OpDef& op = context.op();
  if (!op.meaning) return unsupported(text(op.name, " has no meaning in index notation"));
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && !context.type(i).is_tensor()) return unsupported(text(op.name, " on ", to_string(context.type(i)), " has no meaning in index notation"));
  }
  if (!all_ranks_known(context)) return unsupported(text(op.name, ": the rank of an input is not known"));
  for (int i : op.value_inputs) {
    auto position = static_cast<std::size_t>(i);
    if (context.has(position) && !context.input(position).constant && !context.input(position).dims && !context.ints(position)) {
      return unsupported(text(op.name, ": the value of input '", op.inputs[position].name, "' is not known"));
    }
  }
  return op.meaning(context);
}

std::vector<std::optional<expr::DimTensor>> propagate_dims(const OpContext& context, std::span<const Type> outputs) {
  std::vector<std::optional<expr::DimTensor>> out(outputs.size());
  auto small = [](const Type& type) {
    if (!type.has_shape() || !(is_integer(type.dtype) || type.dtype == DType::boolean)) return false;
    std::optional<std::int64_t> count = element_count(*type.shape).constant();
    return count && *count <= static_cast<std::int64_t>(propagation_limit);
  };
  if (!std::any_of(outputs.begin(), outputs.end(), small) || !context.op().meaning) return out;
  Result<expr::Program> program = meaning_of(context);
  if (!program) return out;
  std::vector<expr::DimTensor> own(context.input_count());
  std::vector<const expr::DimTensor*> known;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    const InputFact& fact = context.input(i);
    known.push_back(fact.dims);
    if (fact.dims || !fact.constant) continue;
    if (auto dims = as_dims(*fact.constant)) {
      own[i] = std::move(*dims);
      known.back() = &own[i];
    }
  }
  for (std::size_t i = 0; i < outputs.size() && i < program->outputs.size(); ++i) {
    if (small(outputs[i])) out[i] = expr::evaluate_dims(*program, i, known, propagation_limit);
  }
  return out;
}

Result<std::vector<Value>> run_reference(const OpContext& context, std::span<const Value* const> inputs, const RunBody& run_body) {
  const OpDef& op = context.op();
  bool all_tensors = std::all_of(inputs.begin(), inputs.end(), [](const Value* v) { return !v || v->tensor(); });
  if (op.run_body) return op.run_body(context, inputs, run_body);
  if (op.reference) return op.reference(context, inputs);
  if (!all_tensors) {
    if (op.on_values) return op.on_values(context, inputs);
    return unsupported(text(op.name, " takes tensors only"));
  }
  Result<expr::Program> meaning = meaning_of(context);
  if (!meaning && meaning.error().kind == ErrorKind::unsupported && op.on_values) return op.on_values(context, inputs);
  IT_TRY(expr::Program program, std::move(meaning));
  std::vector<Tensor> present;
  for (const Value* value : inputs) {
    if (value) present.push_back(*value->tensor());
  }
  IT_TRY(std::vector<Tensor> tensors, expr::run(program, present));
  return std::vector<Value>(std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end()));
}

void Upgrade::set_input(std::size_t position, int value) {
  if (inputs().size() <= position) inputs().resize(position + 1, -1);
  inputs()[position] = value;
}

void Upgrade::attribute_to_input(std::string_view name, std::size_t position, DType dtype, bool as_scalar) {
  std::optional<AttributeValue> value = attributes().take(name);
  if (!value) return;
  std::vector<double> numbers;
  if (auto* integer = std::get_if<std::int64_t>(&*value)) numbers = {static_cast<double>(*integer)};
  if (auto* real = std::get_if<float>(&*value)) numbers = {static_cast<double>(*real)};
  if (auto* integers = std::get_if<std::vector<std::int64_t>>(&*value)) numbers.assign(integers->begin(), integers->end());
  if (auto* reals = std::get_if<std::vector<float>>(&*value)) numbers.assign(reals->begin(), reals->end());
  Extents extents = as_scalar ? Extents{} : Extents{static_cast<std::int64_t>(numbers.size())};
  Result<TensorWriter> writer = TensorWriter::make(dtype, extents);
  IT_CHECK(writer.has_value());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto at = static_cast<std::int64_t>(i);
    if (auto* integers = std::get_if<std::vector<std::int64_t>>(&*value)) {
      writer->set_int(at, (*integers)[i]);
    } else {
      writer->set_double(at, numbers[i]);
    }
  }
  set_input(position, constant(std::move(*writer).finish()));
}

}  // namespace infini
