#include "libcore/onnx/upgrade.h"

#include <deque>

#include "libcore/base/text.h"
#include "libcore/onnx/onnx.h"

namespace infini::onnx_files {
namespace {

constexpr int become_limit = 4;  // operators that turn into others, one after the other

class NodeUpgrade final : public Upgrade {
 public:
  NodeUpgrade(GraphBuilder& builder, const OpTable& ops, const OpDef& op, int opset, GraphBuilder::NodeSpec spec)
      : builder_(builder), ops_(ops), op_(&op), opset_(opset), spec_(std::move(spec)) {
    for (ValueId id : spec_.inputs) inputs_.push_back(id.value);
    for (std::size_t i = 0; i < spec_.output_names.size(); ++i) outputs_.push_back(spec_.wanted[i] ? static_cast<int>(i) : -1);
  }

  int opset() const override { return opset_; }
  const OpDef& op() const override { return *op_; }
  Attributes& attributes() override { return spec_.attributes; }
  std::vector<int>& inputs() override { return inputs_; }
  std::vector<int>& outputs() override { return outputs_; }

  InputFact fact(int value) const override {
    if (value < 0) return {};
    const ValueInfo& known = builder_.value({value});
    Held& held = facts_.emplace_back(Held{known.type, known.dims, known.constant});
    return {&held.type, held.constant ? held.constant->at_hand() : nullptr, held.dims ? &*held.dims : nullptr};
  }

  int constant(Tensor tensor) override { return builder_.add_constant(builder_.fresh_name(stem() + "/constant"), make_constant(std::move(tensor))).value; }

  int emit(std::string_view op, std::vector<int> inputs, Attributes attributes) override {
    GraphBuilder::NodeSpec spec = around(op, inputs, std::move(attributes));
    spec.output_names = {builder_.fresh_name(stem() + "/" + lower(op))};
    return add(std::move(spec));
  }

  void emit_after(std::size_t i, std::string_view op, std::vector<int> further_inputs, Attributes attributes) override {
    after_.push_back({i, std::string(op), std::move(further_inputs), std::move(attributes)});
  }

  void become(std::string_view op) override {
    became_ = ops_.find("", op);
    if (!became_) note(unsupported(text(op_->name, " is brought to its newest form by ", op, ", which is not defined here")));
  }

  // Until the node is what it has become, in its newest form.
  Status run() {
    for (int round = 0; round < become_limit; ++round) {
      became_ = nullptr;
      if (op_->upgrade) IT_TRY_VOID(op_->upgrade(*this));
      if (error_) return std::move(*error_);
      if (!became_) return {};
      op_ = became_;
      opset_ = newest_opset;
    }
    return internal_error(text(op_->name, " turns into other operators without end"));
  }

  Result<std::vector<ValueId>> build() {
    std::vector<ValueId> results(spec_.output_names.size());
    GraphBuilder::NodeSpec main = spec_;
    main.op = op_;
    main.inputs = ids(inputs_);
    main.output_names.clear();
    main.wanted.clear();
    main.declared.clear();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      auto handle = static_cast<std::size_t>(outputs_[i]);
      bool wanted = outputs_[i] >= 0, final = wanted && !has_after(i);
      main.wanted.push_back(wanted);
      main.output_names.push_back(final ? spec_.output_names[handle] : "");
      main.declared.push_back(final ? spec_.declared[handle] : Type{});
    }
    IT_TRY(std::vector<ValueId> made, builder_.add_node(std::move(main)));
    IT_TRY_VOID(add_after(made));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] >= 0) results[static_cast<std::size_t>(outputs_[i])] = made[i];
    }
    return results;
  }

 private:
  struct Held {
    Type type;
    std::optional<expr::DimTensor> dims;
    ConstantRef constant;
  };
  struct After {
    std::size_t output;
    std::string op;
    std::vector<int> further_inputs;
    Attributes attributes;
  };

  std::string stem() const {
    for (const std::string& name : spec_.output_names) {
      if (!name.empty()) return name;
    }
    return spec_.name;
  }

  static std::vector<ValueId> ids(const std::vector<int>& handles) {
    std::vector<ValueId> out;
    for (int handle : handles) out.push_back({handle < 0 ? -1 : handle});
    return out;
  }

  void note(Error error) {
    if (!error_) error_ = std::move(error);
  }

  GraphBuilder::NodeSpec around(std::string_view op, const std::vector<int>& inputs, Attributes attributes) {
    GraphBuilder::NodeSpec spec;
    spec.op = ops_.find("", op);
    if (!spec.op) note(unsupported(text(op_->name, " is brought to its newest form with ", op, ", which is not defined here")));
    spec.inputs = ids(inputs);
    spec.attributes = std::move(attributes);
    spec.origin = spec_.origin;
    return spec;
  }

  int add(GraphBuilder::NodeSpec spec) {
    if (error_) return -1;
    Result<std::vector<ValueId>> made = builder_.add_node(std::move(spec));
    if (made) return (*made)[0].value;
    note(std::move(made.error()));
    return -1;
  }

  bool has_after(std::size_t output) const {
    return std::any_of(after_.begin(), after_.end(), [&](const After& step) { return step.output == output; });
  }

  // The nodes after this one, in the order they were asked for; the last for an output has its name.
  Status add_after(std::vector<ValueId>& made) {
    for (std::size_t k = 0; k < after_.size(); ++k) {
      After& step = after_[k];
      if (step.output >= made.size() || !made[step.output]) continue;
      bool last = std::none_of(after_.begin() + static_cast<std::ptrdiff_t>(k) + 1, after_.end(), [&](const After& other) { return other.output == step.output; });
      std::vector<int> inputs = {made[step.output].value};
      inputs.insert(inputs.end(), step.further_inputs.begin(), step.further_inputs.end());
      GraphBuilder::NodeSpec spec = around(step.op, inputs, std::move(step.attributes));
      auto handle = static_cast<std::size_t>(outputs_[step.output]);
      spec.output_names = {last ? spec_.output_names[handle] : builder_.fresh_name(stem() + "/" + lower(step.op))};
      if (last) spec.declared = {spec_.declared[handle]};
      made[step.output] = {add(std::move(spec))};
      if (error_) return std::move(*error_);
    }
    return {};
  }

  GraphBuilder& builder_;
  const OpTable& ops_;
  const OpDef* op_;
  const OpDef* became_ = nullptr;
  int opset_;
  GraphBuilder::NodeSpec spec_;          // as the file has it
  std::vector<int> inputs_, outputs_;    // values; positions in the spec's outputs
  std::vector<After> after_;
  mutable std::deque<Held> facts_;       // what facts handed out point to
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<ValueId>> add_upgraded(GraphBuilder& builder, const OpTable& ops, const OpDef& op, int opset, GraphBuilder::NodeSpec spec) {
  NodeUpgrade node(builder, ops, op, opset, std::move(spec));
  IT_TRY_VOID(node.run());
  return node.build();
}

}  // namespace infini::onnx_files
