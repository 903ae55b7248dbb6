#include "libcore/exec/cost.h"

#include <algorithm>
#include <array>
#include <set>

#include "libcore/expr/traverse.h"
#include "libcore/ir/body_types.h"
#include "libcore/ir/infer_node.h"
#include "libcore/ir/inline.h"

namespace infini {
namespace {

using Types = std::span<const Type* const>;

double product(const Extents& extents) {
  double out = 1;
  for (std::int64_t extent : extents) out *= static_cast<double>(extent);
  return out;
}

std::optional<Extents> extents_of(Types types, std::size_t i) {
  return i < types.size() && types[i] && types[i]->has_shape() ? constant_extents(*types[i]->shape) : std::nullopt;
}

double elements(Types types, std::size_t i) {
  std::optional<Extents> extents = extents_of(types, i);
  return extents ? product(*extents) : 0;
}

// How many of the weight's elements each output channel has.
double per_channel(Types inputs, std::size_t weight) {
  std::optional<Extents> extents = extents_of(inputs, weight);
  return extents && !extents->empty() && (*extents)[0] > 0 ? product(*extents) / static_cast<double>((*extents)[0]) : 0;
}

// The axis that a matrix product sums over.
double inner(const Node& node, Types inputs) {
  std::optional<Extents> a = extents_of(inputs, 0);
  if (!a || a->empty()) return 0;
  return static_cast<double>(node.type == "Gemm" && node.attributes.integer("transA") != 0 ? a->front() : a->back());
}

// Multiply-adds of every element of a program: sums, nested ones as one, over products.
double summed_products(const expr::Program& program) {
  double total = 0;
  for (const expr::Definition& definition : program.definitions) {
    std::optional<Extents> extents = constant_extents(definition.type.shape);
    std::set<const expr::Term*> nested;
    std::vector<const expr::Term*> terms = expr::postorder(definition.body);
    std::reverse(terms.begin(), terms.end());  // users before what they use
    for (const expr::Term* term : terms) {
      if (term->op != expr::Op::sum || nested.contains(term)) continue;
      double points = extents ? product(*extents) : 0;
      while (term->op == expr::Op::sum) {
        points *= static_cast<double>(term->dim.constant().value_or(0));
        term = term->args[0].get();
        nested.insert(term);
      }
      while (term->op == expr::Op::cast) term = term->args[0].get();
      if (term->op == expr::Op::mul) total += points;
    }
  }
  return total;
}

double by_meaning(const Node& node, Types inputs, Types outputs) {
  if (!node.op) return 0;
  FreshNumbers fresh(0);
  std::vector<InputFact> facts;
  for (const Type* type : inputs) facts.push_back({type, nullptr, nullptr});
  Result<expr::Program> program = meaning_of(OpContext(*node.op, node.attributes, facts, outputs.size(), &fresh));
  return program ? summed_products(*program) : 0;
}

double window(const Node&, Types inputs, Types outputs) { return elements(outputs, 0) * per_channel(inputs, 1); }
double quantised_window(const Node&, Types inputs, Types outputs) { return elements(outputs, 0) * per_channel(inputs, 3); }
double spread(const Node&, Types inputs, Types) { return elements(inputs, 0) * per_channel(inputs, 1); }
double matrix(const Node& node, Types inputs, Types outputs) { return elements(outputs, 0) * inner(node, inputs); }

// X is [steps, batch, size] or [batch, steps, size]; W and R are used once for each of them.
double recurrent(const Node&, Types inputs, Types) {
  std::optional<Extents> x = extents_of(inputs, 0);
  return x && x->size() == 3 ? static_cast<double>((*x)[0]) * static_cast<double>((*x)[1]) * (elements(inputs, 1) + elements(inputs, 2)) : 0;
}

struct Counted {
  std::string_view op;
  double (*multiply_adds)(const Node& node, Types inputs, Types outputs);
};
constexpr std::array counted = {
    Counted{"Attention", by_meaning}, Counted{"Conv", window},   Counted{"ConvInteger", window},    Counted{"ConvTranspose", spread},
    Counted{"DeformConv", window},    Counted{"Einsum", by_meaning}, Counted{"GRU", recurrent},     Counted{"Gemm", matrix},
    Counted{"LSTM", recurrent},       Counted{"MatMul", matrix}, Counted{"MatMulInteger", matrix},  Counted{"QLinearConv", quantised_window},
    Counted{"QLinearMatMul", matrix}, Counted{"RNN", recurrent}};

double flops_of(const Node& node, Types inputs, Types outputs);

// Of the nodes inside, for these operands.
double body_flops(const Body& body, Types inputs) {
  std::vector<Type> arguments;
  for (const Type* type : inputs) arguments.push_back(type ? *type : Type());
  Result<std::vector<Type>> types = infer_body(*body.graph, arguments);
  if (!types) return 0;
  double total = 0;
  for (const Node& node : body.graph->nodes()) {
    auto of = [&](const std::vector<ValueId>& ids) {
      std::vector<const Type*> out;
      for (ValueId id : ids) out.push_back(id ? &(*types)[id.at()] : nullptr);
      return out;
    };
    total += flops_of(node, of(node.inputs), of(node.outputs));
  }
  return total;
}

double flops_of(const Node& node, Types inputs, Types outputs) {
  if (is_fused(node)) return body_flops(*node.attributes.get<Body>("body"), inputs);
  auto entry = std::find_if(counted.begin(), counted.end(), [&](const Counted& c) { return node.domain.empty() && c.op == node.type; });
  double products = entry == counted.end() ? 0 : entry->multiply_adds(node, inputs, outputs);
  if (products > 0) return 2 * products;
  double total = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) total += elements(outputs, i);
  return total;
}

double bytes_of(Types types) {
  double total = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i]) total += elements(types, i) * info(types[i]->dtype).bits / 8;
  }
  return total;
}

}  // namespace

Cost cost_of(const Node& node, Types inputs, Types outputs) { return {flops_of(node, inputs, outputs), bytes_of(inputs) + bytes_of(outputs)}; }

}  // namespace infini
