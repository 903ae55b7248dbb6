// What an operator is: one constant OpDef, in one file, holding everything that is known about it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/expr/evaluate.h"
#include "libcore/expr/expr.h"
#include "libcore/ops/attribute.h"
#include "libcore/tensor/tensor.h"

namespace infini {

// ---- the signature -----------------------------------------------------------------------------------------------------------------

enum class Arity : std::uint8_t { one, optional, variadic };

// An input or output. Those with the same non-empty `group` have one element type per node ("T").
struct Param {
  std::string_view name;
  DTypeSet dtypes;          // empty: not a tensor (sequence, optional, map), or anything: infer checks
  std::string_view group = {};
  Arity arity = Arity::one;
};

// `standard`: the value when left out; none and not required: infer decides (kernel_shape from the weight, for instance).
struct AttributeDef {
  std::string_view name;
  AttributeKind kind;
  enum class Standard : std::uint8_t { none, required, integer, real, text } standard = Standard::none;
  std::int64_t integer = 0;
  float real = 0;
  std::string_view text = {};
};
constexpr AttributeDef required_attribute(std::string_view name, AttributeKind kind) { return {name, kind, AttributeDef::Standard::required}; }
constexpr AttributeDef optional_attribute(std::string_view name, AttributeKind kind) { return {name, kind}; }
constexpr AttributeDef int_attribute(std::string_view name, std::int64_t standard) {
  return {name, AttributeKind::integer, AttributeDef::Standard::integer, standard};
}
constexpr AttributeDef real_attribute(std::string_view name, float standard) {
  return {name, AttributeKind::real, AttributeDef::Standard::real, 0, standard};
}
constexpr AttributeDef text_attribute(std::string_view name, std::string_view standard) {
  return {name, AttributeKind::text, AttributeDef::Standard::text, 0, 0, standard};
}

// ---- what infer and meaning are given --------------------------------------------------------------------------------------------------

// What is known of one input: its type, and its value where it is a constant or shape arithmetic.
struct InputFact {
  const Type* type = nullptr;               // null: the input is left out
  const Tensor* constant = nullptr;         // the whole value, at hand
  const expr::DimTensor* dims = nullptr;    // elements of a small integer tensor, as dimensions
};

// Hands out symbols for sizes that only running will tell.
class FreshDims {
 public:
  virtual Dim next() = 0;

 protected:
  ~FreshDims() = default;
};

// Types of what a nested graph gives; handed in by the layer that knows graphs.
class BodyTypes {
 public:
  // For arguments of these types, in the order of the body's inputs.
  virtual Result<std::vector<Type>> infer(const Body& body, std::span<const Type> arguments) const = 0;

 protected:
  ~BodyTypes() = default;
};

class OpContext {
 public:
  OpContext(const struct OpDef& op, const Attributes& attributes, std::span<const InputFact> inputs, std::size_t output_count, FreshDims* fresh,
            const BodyTypes* bodies = nullptr)
      : op_(op), attributes_(attributes), inputs_(inputs), output_count_(output_count), fresh_(fresh), bodies_(bodies) {}

  const OpDef& op() const { return op_; }
  const Attributes& attributes() const { return attributes_; }
  std::size_t input_count() const { return inputs_.size(); }   // trailing ones left out are not counted
  std::size_t output_count() const { return output_count_; }   // trailing ones not wanted are not counted
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].type != nullptr; }
  const InputFact& input(std::size_t i) const { return inputs_[i]; }
  const Type& type(std::size_t i) const { return *inputs_[i].type; }
  DType dtype(std::size_t i) const { return inputs_[i].type->dtype; }
  // The shape, if input i is there and its rank is known.
  const Shape* shape(std::size_t i) const { return has(i) && type(i).has_shape() ? &*type(i).shape : nullptr; }

  // The elements of integer input i as dimensions, each perhaps unknown; nothing if not even their number is known.
  std::optional<std::vector<std::optional<Dim>>> dims(std::size_t i) const;
  // The elements of input i as numbers, if all are known.
  std::optional<std::vector<std::int64_t>> ints(std::size_t i) const;
  std::optional<std::vector<double>> reals(std::size_t i) const;

  Dim fresh() const { return fresh_->next(); }
  std::vector<Dim> fresh(std::size_t count) const;
  const BodyTypes* bodies() const { return bodies_; }  // null: nested graphs cannot be looked into here

 private:
  const OpDef& op_;
  const Attributes& attributes_;
  std::span<const InputFact> inputs_;
  std::size_t output_count_;
  FreshDims* fresh_;
  const BodyTypes* bodies_;
};

// ---- bringing an older node to the newest opset ------------------------------------------------------------------------------------------

// One node on its way in. Values are opaque handles (-1: left out). What `upgrade` leaves in attributes() and inputs() must be the
// newest form; attributes that the definition does not know are an error afterwards.
class Upgrade {
 public:
  virtual int opset() const = 0;            // of the node's domain in its model or function
  virtual const OpDef& op() const = 0;
  virtual Attributes& attributes() = 0;
  virtual std::vector<int>& inputs() = 0;
  virtual std::vector<int>& outputs() = 0;
  virtual InputFact fact(int value) const = 0;
  virtual int constant(Tensor tensor) = 0;  // a new constant
  // A further node before this one, in its newest form; returns its first output.
  virtual int emit(std::string_view op, std::vector<int> inputs, Attributes attributes) = 0;
  // A further node after this one that turns the value this node now produces for output `i` into what the model calls output i.
  virtual void emit_after(std::size_t i, std::string_view op, std::vector<int> further_inputs, Attributes attributes) = 0;
  // This node becomes an `op`, and op() with it (Upsample -> Resize). It is given to that op's own upgrade as a node of the newest opset.
  virtual void become(std::string_view op) = 0;

  // Moves attribute `name` (integers, an integer, or a real) to input `position` as a constant of `dtype`; a left-out attribute leaves the input out.
  void attribute_to_input(std::string_view name, std::size_t position, DType dtype, bool as_scalar = false);
  void set_input(std::size_t position, int value);

 protected:
  ~Upgrade() = default;
};

// ---- the definition --------------------------------------------------------------------------------------------------------------------

// Runs nested graph number `body` of the node on `arguments`; handed in by exec, so that ops need not know graphs.
using RunBody = std::function<Result<std::vector<Value>>(const Body& body, std::span<const Value> arguments)>;

struct OpDef {
  std::string_view name;                         // ONNX's own
  std::string_view summary;                      // one line
  std::span<const int> versions;                 // every opset version taken, ascending; the last is the form of the definition
  std::span<const Param> inputs;
  std::span<const Param> outputs;
  std::span<const AttributeDef> attributes = {};

  // Types of the outputs. bad_input if shapes or attributes contradict (message with shapes; the caller adds the node's name).
  // Element types and the presence of inputs and attributes have been checked against the signature.
  Result<std::vector<Type>> (*infer)(const OpContext&) = nullptr;

  // Exactly one of the next four.
  Result<expr::Program> (*meaning)(const OpContext&) = nullptr;  // inputs of the program: the inputs present, in order
  Result<std::vector<Value>> (*reference)(const OpContext&, std::span<const Value* const> inputs) = nullptr;  // null: left out
  Result<std::vector<Value>> (*run_body)(const OpContext&, std::span<const Value* const> inputs, const RunBody&) = nullptr;
  bool effect = false;

  std::string_view reference_reason = {};        // why index notation cannot say it; non-empty with `reference`
  // For values that are no tensors (sequences, optionals), and tensors of strings where the meaning says unsupported, an operator with a
  // meaning has this as well.
  Result<std::vector<Value>> (*on_values)(const OpContext&, std::span<const Value* const> inputs) = nullptr;
  Status (*upgrade)(Upgrade&) = nullptr;         // null: attributes and inputs never changed
  std::string_view domain = {};                  // "" is ai.onnx; "infini" are ours
  std::span<const int> value_inputs = {};        // inputs whose *values* decide output shapes or the program itself (axes, shape, ...)
};

const AttributeDef* find_attribute(const OpDef& op, std::string_view name);

// Every operator; made once in main and handed down.
class OpTable {
 public:
  OpTable();  // of ops.def
  const OpDef* find(std::string_view domain, std::string_view name) const;
  std::span<const OpDef* const> all() const { return all_; }  // sorted by domain and name

 private:
  std::vector<const OpDef*> all_;
};

// Checks presence, element types and type groups of inputs and attributes against the signature, then infers. The one way in.
Result<std::vector<Type>> infer_types(const OpContext& context);

// The program of a node, if its operator has a meaning, all inputs are tensors of known rank, and its value inputs are known.
Result<expr::Program> meaning_of(const OpContext& context);

// Output values as dimensions, where they follow from shapes and small constants; one entry per output.
std::vector<std::optional<expr::DimTensor>> propagate_dims(const OpContext& context, std::span<const Type> outputs);

// Runs one node on values: by its meaning, reference or on_values. The context's types are the exact types of the inputs.
Result<std::vector<Value>> run_reference(const OpContext& context, std::span<const Value* const> inputs, const RunBody& run_body);

}  // namespace infini
