#include "tests/graphs/random_graph.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "libcore/base/text.h"
#include "libcore/tensor/random.h"
#include "tests/graphs/runs.h"

namespace infini::tests {
namespace {

using Ints = std::vector<std::int64_t>;

class Maker {
 public:
  Maker(const OpTable& ops, const RandomGraph& wish) : ops_(ops), wish_(wish), random_(wish.seed, "graph") { builder_.set_name("random"); }

  Graph make() && {
    add_inputs();
    for (int i = 0, tries = 0; i < wish_.nodes && tries < 20 * wish_.nodes; ++tries) i += step() ? 1 : 0;
    add_outputs();
    Result<Graph> graph = std::move(builder_).build();
    if (!graph) check_failed(graph.error().text().c_str(), __FILE__, __LINE__);
    return std::move(*graph);
  }

 private:
  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(limit), counter_++)); }
  template <std::size_t n>
  std::string_view one_of(const std::array<std::string_view, n>& names) { return names[static_cast<std::size_t>(below(n))]; }
  const Shape& shape(ValueId id) const { return *builder_.value(id).type.shape; }
  std::size_t rank(ValueId id) const { return shape(id).size(); }
  // Late values are likelier, so that chains grow.
  ValueId pick() {
    auto count = static_cast<std::int64_t>(values_.size());
    return values_[static_cast<std::size_t>(count - 1 - std::min(below(count), below(count)))];
  }

  void add_inputs() {
    constexpr std::array<std::array<std::int64_t, 4>, 3> forms = {{{2, 4, 3, 3}, {2, 3, 4, 0}, {4, 6, 0, 0}}};
    for (std::int64_t i = 0, count = 1 + below(3); i < count; ++i) {
      Shape made;
      for (std::int64_t extent : forms[static_cast<std::size_t>(below(3))]) {
        if (extent) made.emplace_back(extent);
      }
      if (wish_.symbolic) made[0] = Dim::symbol("n");
      values_.push_back(builder_.add_input(text("x", i), Type::tensor(wish_.dtype, made)));
    }
  }

  ValueId constant(const Extents& extents) {
    return builder_.add_constant(builder_.fresh_name("c"), make_constant(some_tensor(wish_.dtype, extents, wish_.seed * 131 + counter_++)));
  }
  ValueId filled(const Extents& extents, double number) {
    Result<TensorWriter> writer = TensorWriter::make(wish_.dtype, extents);
    for (std::int64_t i = 0; i < writer->tensor().count(); ++i) writer->set_double(i, number);
    return builder_.add_constant(builder_.fresh_name("k"), make_constant(std::move(*writer).finish()));
  }
  ValueId integers(const Ints& numbers) { return builder_.add_constant(builder_.fresh_name("i"), make_constant(Tensor::vector_i64(numbers))); }

  // The results, those that may be read further; nothing where the operator refuses.
  std::vector<ValueId> emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}, std::size_t outputs = 1) {
    GraphBuilder::NodeSpec spec;
    spec.op = ops_.find("", op);
    if (!spec.op) return {};
    spec.inputs = std::move(inputs);
    spec.attributes = std::move(attributes);
    spec.wanted.assign(outputs, true);
    spec.name = text(op, counter_);
    Result<std::vector<ValueId>> made = builder_.add_node(std::move(spec));
    bool shaped = made && std::ranges::all_of(*made, [&](ValueId id) { return builder_.value(id).type.has_shape(); });
    return shaped ? *made : std::vector<ValueId>();
  }
  bool keep(const std::vector<ValueId>& made) {
    for (ValueId id : made) {
      const Type& type = builder_.value(id).type;
      if (type.rank() <= 5 && type.dtype == wish_.dtype) values_.push_back(id);
    }
    return !made.empty();
  }
  bool put(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {}, std::size_t outputs = 1) {
    return keep(emit(op, std::move(inputs), std::move(attributes), outputs));
  }

  bool step() {
    std::int64_t kind = below(wish_.products ? 16 : 11);
    switch (kind) {
      case 0: case 1: case 2: return unary(pick());
      case 3: case 4: case 5: return binary(pick());
      case 6: case 7: return transpose(pick());
      case 8: return reshape(pick());
      case 9: return move(pick());
      case 10: return nothing(pick());
      case 11: return convolution(pick());
      case 12: return product(pick());
      case 13: return gelu(pick());
      case 14: return layer_norm(pick());
      default: return reduction(pick());
    }
  }

  bool unary(ValueId x) {
    constexpr std::array<std::string_view, 10> names = {"Relu", "Neg", "Abs", "Tanh", "Sigmoid", "Erf", "LeakyRelu", "HardSwish", "Elu", "Gelu"};
    constexpr std::array<std::string_view, 6> rough = {"Exp", "Sqrt", "Floor", "Sign", "Reciprocal", "Round"};
    return put(!wish_.tame && below(5) == 0 ? one_of(rough) : one_of(names), {x});
  }

  bool binary(ValueId x) {
    constexpr std::array<std::string_view, 5> names = {"Add", "Sub", "Mul", "Max", "Min"};
    std::vector<ValueId> inputs = {x, second_operand(x)};
    if (below(4) == 0) std::swap(inputs[0], inputs[1]);
    if (below(6) == 0) return put("Div", {x, filled({}, below(2) ? 8 : -0.25)});
    if (below(8) == 0) return put("Clip", {x, filled({}, -1), filled({}, 1)});
    return put(one_of(names), inputs);
  }
  // Of the same shape, or one that broadcasts, constant or not.
  ValueId second_operand(ValueId x) {
    std::vector<ValueId> alike;
    for (ValueId id : values_) {
      if (shape(id) == shape(x)) alike.push_back(id);
    }
    if (!alike.empty() && below(2)) return alike[static_cast<std::size_t>(below(static_cast<std::int64_t>(alike.size())))];
    Extents extents;
    std::size_t drop = rank(x) ? static_cast<std::size_t>(below(static_cast<std::int64_t>(rank(x)) + 1)) : 0;
    for (std::size_t i = drop; i < rank(x); ++i) {
      auto number = shape(x)[i].constant();
      extents.push_back(number && below(3) ? *number : 1);
    }
    if (below(4) == 0) return pick();
    return constant(below(4) == 0 ? Extents{} : extents);
  }

  bool transpose(ValueId x) {
    Ints perm(rank(x));
    std::iota(perm.begin(), perm.end(), 0);
    for (std::size_t i = perm.size(); i > 1; --i) std::swap(perm[i - 1], perm[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    std::vector<ValueId> made = emit("Transpose", {x}, {{"perm", perm}});
    if (!keep(made) || below(2)) return !made.empty();
    // Its inverse as well, behind something elementwise.
    Ints inverse(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i) inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    std::vector<ValueId> middle = below(2) ? emit("Relu", made) : emit("Mul", {made[0], filled({}, 0.5)});
    return keep(middle) && put("Transpose", middle, {{"perm", inverse}});
  }

  bool reshape(ValueId x) {
    if (rank(x) == 0) return false;
    switch (below(5)) {
      case 0: return put("Flatten", {x}, {{"axis", below(static_cast<std::int64_t>(rank(x)) + 1)}});
      case 1: return put("Unsqueeze", {x, integers({below(static_cast<std::int64_t>(rank(x)) + 1)})});
      case 2: return put("Squeeze", {x});
      case 3: return computed_reshape(x);
      default: return put("Reshape", {x, integers(below(2) ? Ints{0, -1} : Ints{-1})});
    }
  }
  // The shape comes from Shape, Gather and Concat, as exporters write it.
  bool computed_reshape(ValueId x) {
    std::vector<ValueId> shape_of = emit("Shape", {x});
    std::vector<ValueId> first = shape_of.empty() ? shape_of : emit("Gather", {shape_of[0], integers({0})}, {{"axis", std::int64_t{0}}});
    if (first.empty()) return false;
    std::vector<ValueId> joined = emit("Concat", {first[0], integers({-1})}, {{"axis", std::int64_t{0}}});
    return !joined.empty() && put("Reshape", {x, joined[0]});
  }

  bool move(ValueId x) {
    if (rank(x) == 0) return false;
    std::int64_t axis = below(static_cast<std::int64_t>(rank(x)));
    switch (below(5)) {
      case 0: return put("Concat", {x, second_operand(x)}, {{"axis", axis}});
      case 1: return put("Split", {x}, {{"axis", axis}, {"num_outputs", std::int64_t{2}}}, 2);
      case 2: return put("Slice", {x, integers({below(2)}), integers({below(2) ? 1000 : -1}), integers({axis})});
      case 3: return put("Slice", {x, integers({-1}), integers({-1000}), integers({axis}), integers({-1})});
      default: {
        Ints ones(rank(x), 1);
        if (below(2)) ones.insert(ones.begin(), 2);
        return put("Expand", {x, integers(ones)});
      }
    }
  }

  bool nothing(ValueId x) {
    switch (below(4)) {
      case 0: return put("Identity", {x});
      case 1: return put("Cast", {x}, {{"to", static_cast<std::int64_t>(wish_.dtype)}});
      case 2: return put("Sum", {x});
      default: return put("Add", {constant({}), constant({1})});
    }
  }

  bool convolution(ValueId x) {
    if (rank(x) < 3 || !shape(x)[1].is_constant()) return false;
    std::int64_t channels = *shape(x)[1].constant(), out = 1 + below(5), taps = below(2) ? 1 : 3;
    if (channels > 32) return false;
    std::size_t spatial = rank(x) - 2;
    bool transposed = below(4) == 0;
    Extents weight = transposed ? Extents{channels, out} : Extents{out, channels};
    weight.insert(weight.end(), spatial, taps);
    std::vector<ValueId> inputs = {x, constant(weight)};
    if (below(3) == 0) inputs.push_back(constant({out}));
    std::vector<ValueId> made = emit(transposed ? "ConvTranspose" : "Conv", inputs, {{"kernel_shape", Ints(spatial, taps)}, {"pads", Ints(2 * spatial, taps / 2)}});
    if (made.empty()) return false;
    if (below(2)) {
      ValueId variance = emit("Abs", {constant({out})})[0];
      made = emit("BatchNormalization", {made[0], constant({out}), constant({out}), constant({out}), below(2) ? variance : filled({out}, 0.75)});
      if (made.empty()) return false;
    }
    if (below(3) == 0) return keep(made) && behind(made[0]);
    return behind(made[0]);
  }
  // Bias, residual and activation.
  bool behind(ValueId x) {
    if (below(3) == 0) {
      Extents bias(rank(x), 1);
      if (auto channels = shape(x)[1].constant()) bias[1] = *channels;
      std::vector<ValueId> made = emit("Add", {x, constant(bias)});
      if (!made.empty()) x = made[0];
    }
    if (below(3) == 0) {
      std::vector<ValueId> made = emit("Add", {x, second_operand(x)});
      if (!made.empty()) x = made[0];
    }
    return unary(x) && (below(3) != 0 || keep({x}));
  }

  bool product(ValueId x) {
    if (rank(x) == 0 || !shape(x).back().is_constant() || *shape(x).back().constant() > 64) return false;
    std::int64_t inner = *shape(x).back().constant(), out = 1 + below(5);
    bool gemm = rank(x) == 2 && below(2);
    if (!gemm) {
      std::vector<ValueId> made = emit("MatMul", {x, constant({inner, out})});
      return !made.empty() && rank(made[0]) >= 2 && behind(made[0]);
    }
    std::vector<ValueId> inputs = {x, constant({inner, out})};
    if (below(3) == 0) inputs.push_back(constant({out}));
    std::vector<ValueId> made = emit("Gemm", inputs, {{"beta", below(2) ? 1.0f : 0.5f}, {"alpha", below(2) ? 1.0f : 2.0f}});
    return !made.empty() && behind(made[0]);
  }

  bool gelu(ValueId x) {
    bool odd = below(4) == 0;  // a constant of higher rank lifts the result's
    ValueId half = filled(odd ? Extents{1, 1, 1, 1} : Extents{}, 0.5);
    std::vector<ValueId> erf = emit("Erf", emit("Div", {x, filled({}, 1.4142135381698608)}));
    std::vector<ValueId> plus = erf.empty() ? erf : emit("Add", {erf[0], filled({}, below(5) ? 1 : 2)});
    std::vector<ValueId> scaled = plus.empty() ? plus : emit("Mul", {x, plus[0]});
    return !scaled.empty() && put("Mul", {scaled[0], half}) && (below(3) != 0 || keep(plus));
  }

  bool layer_norm(ValueId x) {
    if (rank(x) == 0 || !shape(x).back().is_constant()) return false;
    std::vector<ValueId> mean = emit("ReduceMean", {x, integers({below(4) ? -1 : 0})});
    std::vector<ValueId> centred = mean.empty() ? mean : emit("Sub", {x, mean[0]});
    std::vector<ValueId> square = centred.empty() ? centred : emit("Mul", {centred[0], centred[0]});
    std::vector<ValueId> variance = square.empty() ? square : emit("ReduceMean", {square[0], integers({-1})});
    if (variance.empty()) return false;
    std::vector<ValueId> root = emit("Sqrt", emit("Add", {variance[0], filled(below(4) ? Extents{} : Extents{1, 1, 1, 1, 1}, 1e-3)}));
    std::vector<ValueId> made = root.empty() ? root : emit("Div", {centred[0], root[0]});
    if (made.empty()) return false;
    if (below(2) && rank(made[0])) made = emit("Mul", {made[0], constant({*shape(x).back().constant()})});
    if (below(3) == 0) keep(centred);
    return keep(made);
  }

  bool reduction(ValueId x) {
    if (rank(x) == 0) return false;
    std::int64_t axis = below(static_cast<std::int64_t>(rank(x)));
    if (below(3) == 0) return put("Softmax", {x}, {{"axis", axis}});
    return put(below(2) ? "ReduceMean" : "ReduceMax", {x, integers({axis})}, {{"keepdims", below(2)}});
  }

  void add_outputs() {
    std::vector<ValueId> chosen = {values_.back()};
    for (std::int64_t i = 0, count = below(4); i < count; ++i) {
      ValueId id = pick();
      const ValueInfo& info = builder_.value(id);
      if (!wish_.odd_outputs && (!info.producer || std::ranges::find(chosen, id) != chosen.end())) continue;
      chosen.push_back(id);
    }
    if (wish_.odd_outputs && below(4) == 0) chosen.push_back(constant({2, 2}));
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (ValueId id : chosen) builder_.add_output(id);
  }

  const OpTable& ops_;
  const RandomGraph& wish_;
  RandomNumbers random_;
  std::uint64_t counter_ = 0;
  GraphBuilder builder_;
  std::vector<ValueId> values_;
};

}  // namespace

Graph random_graph(const OpTable& ops, const RandomGraph& wish) { return Maker(ops, wish).make(); }

}  // namespace infini::tests
