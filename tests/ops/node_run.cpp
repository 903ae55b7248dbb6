#include "node_run.h"

#include "libcore/base/text.h"

namespace infini::tests {
namespace {

// Runs what an upgrade emits before its node at once; handles are positions in values_.
class Bringing final : public Upgrade {
 public:
  Bringing(const OpTable& ops, const OpDef* op, const Case& c) : ops_(ops), op_(op), opset_(c.opset), attributes_(c.attributes) {
    for (const std::optional<Tensor>& input : c.inputs) inputs_.push_back(input ? keep(*input) : -1);
    for (std::size_t i = 0; i < c.outputs.size(); ++i) outputs_.push_back(c.outputs[i] ? 1000 + static_cast<int>(i) : -1);
  }

  int opset() const override { return opset_; }
  const OpDef& op() const override { return *op_; }
  Attributes& attributes() override { return attributes_; }
  std::vector<int>& inputs() override { return inputs_; }
  std::vector<int>& outputs() override { return outputs_; }
  InputFact fact(int value) const override {
    if (value < 0) return {};
    auto at = static_cast<std::size_t>(value);
    return {&types_[at], &values_[at], nullptr};
  }
  int constant(Tensor tensor) override { return keep(std::move(tensor)); }
  int emit(std::string_view op, std::vector<int> inputs, Attributes attributes) override {
    const OpDef* def = ops_.find("", op);
    if (!def) return fail(internal_error(text("emitted ", op, ", which has no definition")));
    Result<std::vector<Tensor>> results = run_node(*def, std::move(attributes), tensors(inputs), 1);
    return results ? keep(results->front()) : fail(within(text("emitted ", op), results.error()));
  }
  void emit_after(std::size_t i, std::string_view op, std::vector<int> further, Attributes attributes) override {
    const OpDef* def = ops_.find("", op);
    if (!def) {
      fail(internal_error(text("emitted ", op, ", which has no definition")));
    } else {
      after_.push_back({i, def, tensors(further), std::move(attributes)});
    }
  }
  void become(std::string_view op) override { op_ = ops_.find("", op); }

  Result<ReadyNode> finish() && {
    if (failure_) return std::move(*failure_);
    ReadyNode node{op_, std::move(attributes_), tensors(inputs_), {}, std::move(after_)};
    for (int output : outputs_) node.wanted.push_back(output >= 0);
    return node;
  }

 private:
  int keep(Tensor tensor) {
    types_.push_back(tensor.type());
    values_.push_back(std::move(tensor));
    return static_cast<int>(values_.size()) - 1;
  }
  int fail(Error error) {
    if (!failure_) failure_ = std::move(error);
    return -1;
  }
  std::vector<std::optional<Tensor>> tensors(const std::vector<int>& handles) const {
    std::vector<std::optional<Tensor>> out;
    for (int handle : handles) out.push_back(handle < 0 ? std::optional<Tensor>() : values_[static_cast<std::size_t>(handle)]);
    return out;
  }

  const OpTable& ops_;
  const OpDef* op_;
  int opset_;
  Attributes attributes_;
  std::vector<int> inputs_, outputs_;
  std::vector<Type> types_;
  std::vector<Tensor> values_;
  std::vector<ReadyNode::After> after_;
  std::optional<Error> failure_;
};

}  // namespace

Attributes with_defaults(const OpDef& op, Attributes attributes) {
  for (const AttributeDef& def : op.attributes) {
    if (attributes.has(def.name)) continue;
    if (def.standard == AttributeDef::Standard::integer) attributes.set(std::string(def.name), def.integer);
    if (def.standard == AttributeDef::Standard::real) attributes.set(std::string(def.name), def.real);
    if (def.standard == AttributeDef::Standard::text) attributes.set(std::string(def.name), std::string(def.text));
  }
  return attributes;
}

Result<ReadyNode> make_ready(const OpTable& ops, const Case& c) {
  const OpDef* op = ops.find("", c.op);
  if (!op) return unsupported(text(c.op, " has no definition"));
  Bringing node(ops, op, c);
  if (c.opset != 0 && c.opset < 6) node.attributes().erase("consumed_inputs");
  if (c.opset != 0 && op->upgrade) IT_TRY_VOID(op->upgrade(node));
  return std::move(node).finish();
}

Result<std::vector<Tensor>> run_node(const OpDef& op, Attributes attributes, const std::vector<std::optional<Tensor>>& inputs, std::size_t output_count) {
  Attributes all = with_defaults(op, std::move(attributes));
  std::vector<Type> types(inputs.size());
  std::vector<InputFact> facts(inputs.size());
  std::vector<Value> held(inputs.size());
  std::vector<const Value*> values(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    types[i] = inputs[i]->type();
    facts[i] = {&types[i], &*inputs[i], nullptr};
    held[i] = Value(*inputs[i]);
    values[i] = &held[i];
  }
  NumberedDims fresh;
  OpContext context(op, all, facts, output_count, &fresh);
  IT_TRY(std::vector<Type> inferred, infer_types(context));
  IT_TRY(std::vector<Value> results, run_reference(context, values, {}));
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < output_count && i < results.size(); ++i) {
    const Tensor* tensor = results[i].tensor();
    if (!tensor) return internal_error(text("output ", i, " is no tensor"));
    if (!(tensor->type() == inferred[i])) {
      return internal_error(text("output ", i, " is ", to_string(tensor->type()), ", inferred was ", to_string(inferred[i])));
    }
    out.push_back(*tensor);
  }
  return out;
}

}  // namespace infini::tests
