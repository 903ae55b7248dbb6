#include "libcore/exec/coverage.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "libcore/base/text.h"
#include "libcore/exec/executor.h"
#include "libcore/ir/body_types.h"
#include "libcore/ir/infer_node.h"
#include "libcore/ir/inline.h"

namespace infini {
namespace {

constexpr std::int64_t unknown_size = 1;  // what a size counts as that only running tells

// A tensor of plain elements, of which only running tells the shape.
bool is_open(const Type& type) { return type.kind == TypeKind::unknown || (type.is_tensor() && type.dtype != DType::str && !is_exact(type)); }

std::string kinds_of(const Graph& graph, const Node& node) {
  std::vector<std::string> kinds;
  for (ValueId input : node.inputs) {
    const Type* type = input ? &graph.value(input).type : nullptr;
    std::string kind = !type ? "-" : type->is_tensor() ? std::string(name(type->dtype)) : to_string(*type);
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(std::move(kind));
  }
  return join(kinds, ",");
}

// Whether run_reference runs the node on the host, as far as types tell.
Status runs_on_host(const OpContext& context) {
  const OpDef& op = context.op();
  if (op.run_body || op.reference || op.on_values) return {};
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && !context.type(i).is_tensor()) return unsupported(text(op.name, " takes tensors only"));
  }
  Result<expr::Program> program = meaning_of(context);
  return program ? Status() : std::move(program.error());
}

// The graph with those nodes' bodies in their places.
Result<std::shared_ptr<const Graph>> without(const Graph& graph, std::span<const NodeId> declined) {
  auto which = [&](const Node& node) { return std::ranges::any_of(declined, [&](NodeId id) { return &graph.node(id) == &node; }); };
  IT_TRY(Graph inlined, inline_bodies(graph, which));
  return std::make_shared<const Graph>(std::move(inlined));
}

// One graph, or one body: what is known of its values goes along from node to node.
class Survey {
 public:
  Survey(const Graph& graph, const Devices& devices, it_numerics cap)
      : graph_(graph), devices_(devices), cap_(cap), types_(graph.values().size()), values_(types_.size()),
        wanted_(std::make_unique<bool[]>(types_.size())), last_use_(last_uses(graph)), found_(graph.nodes().size()) {
    for (ValueId output : graph.outputs()) wanted_[output.at()] = true;
  }

  void enter(ValueId input, const Type& type, const std::optional<Value>& value) {
    const Type& declared = graph_.value(input).type;
    if (is_exact(type)) bind_symbols(declared, type, bindings_);
    if (declared.has_shape()) {
      for (const Dim& dim : *declared.shape) std::ranges::copy(dim.symbols(), std::inserter(of_inputs_, of_inputs_.end()));
    }
    types_[input.at()] = type;
    const Tensor* tensor = value ? value->tensor() : nullptr;
    if (tensor && tensor->dtype() != DType::str) values_[input.at()] = *tensor;
  }

  // For the body of a node: symbols mean what they mean outside, and what is not known there of its inputs is not known here.
  void enter_body(const Body& body, const Survey& outside) {
    bindings_ = outside.bindings_;
    of_inputs_ = outside.of_inputs_;
    lenient_ = true;
    for (ValueId input : graph_.inputs()) types_[input.at()] = sized(graph_.value(input).type);
    for (std::size_t i = 0; i < body.captures.size(); ++i) types_[graph_.captures()[i].at()] = outside.types_[body.captures[i].at()];
  }

  Status walk() {
    for (std::size_t v = 0; v < types_.size(); ++v) {
      const ValueInfo& info = graph_.values()[v];
      if (!info.constant) continue;
      IT_TRY(constants_[value_id(v)], within(text("constant '", info.name, "'"), load(*info.constant)));
      types_[v] = info.constant->type();
    }
    std::size_t position = 0;
    while (position < graph_.nodes().size() && declined_.empty()) IT_TRY_VOID(advance(position));
    return {};
  }

  // `fused` nodes that no device takes whole: they are to be inlined, and all looked at again.
  const std::vector<NodeId>& declined() const { return declined_; }

  Status report(Coverage& out) {
    out.copies += copies_;
    for (std::size_t n = 0; n < found_.size(); ++n) {
      const Node& node = graph_.nodes()[n];
      NodeCoverage& found = found_[n];
      found.op = operator_label(node);
      found.name = node.name;
      found.types = kinds_of(graph_, node);
      found.sizes = size_class(node);
      if (found.where != Where::planning) found.cost = cost(node);
      if (views_.contains(node_id(n))) found.cost = {};
      out.nodes.push_back(std::move(found));
      if (is_fused(node)) continue;
      for (const Body* body : bodies(node)) IT_TRY_VOID(report_body(*body, out));
    }
    return {};
  }

 private:
  const Type* live(ValueId id) const { return types_[id.at()] ? &*types_[id.at()] : nullptr; }
  const Tensor* constant(ValueId id) const {
    auto found = constants_.find(id);
    return found == constants_.end() ? nullptr : &found->second;
  }

  // The type with symbols replaced by numbers: the inputs' own, and unknown_size for the others.
  Type sized(Type type) {
    if (!type.shape) return type;
    for (Dim& dim : *type.shape) {
      for (const std::string& symbol : dim.substitute(bindings_).symbols()) bindings_.push_back({symbol, unknown_size});
      if (auto number = dim.evaluate(bindings_); number && *number >= 0) dim = Dim(*number);
    }
    return type;
  }

  SizeClass size_class(const Node& node) const {
    SizeClass worst = SizeClass::fixed;
    auto look = [&](ValueId id) {
      if (!id) return;
      const Type& type = graph_.value(id).type;
      if (type.kind == TypeKind::unknown || (type.is_tensor() && !type.has_shape())) worst = SizeClass::dynamic;
      if (!type.has_shape()) return;
      for (const Dim& dim : *type.shape) {
        for (const std::string& symbol : dim.symbols()) {
          worst = std::max(worst, of_inputs_.contains(symbol) ? SizeClass::symbolic : SizeClass::dynamic);
        }
      }
    };
    std::ranges::for_each(node.inputs, look);
    std::ranges::for_each(node.outputs, look);
    return worst;
  }

  Cost cost(const Node& node) const {
    auto of = [&](const std::vector<ValueId>& ids) {
      std::vector<const Type*> out;
      for (ValueId id : ids) out.push_back(id ? live(id) : nullptr);
      return out;
    };
    return cost_of(node, of(node.inputs), of(node.outputs));
  }

  // Deals with the node at `position` and those that are planned with it, as Executor::run does.
  Status advance(std::size_t& position) {
    const Node& node = graph_.nodes()[position];
    std::vector<ValueId> forced;
    if (node.op) {
      for (int i : node.op->value_inputs) {
        auto at = static_cast<std::size_t>(i);
        if (at >= node.inputs.size() || !node.inputs[at] || constant(node.inputs[at])) continue;
        if (!values_[node.inputs[at].at()]) return later(position++, text("the value of '", graph_.value(node.inputs[at]).name, "' decides it"));
        forced.push_back(node.inputs[at]);
      }
    }
    PlanRequest request{.graph = graph_,
                        .devices = devices_,
                        .cap = cap_,
                        .begin = position,
                        .live = [this](ValueId id) { return live(id); },
                        .known = [&](ValueId id) -> const Tensor* {
                          if (const Tensor* tensor = constant(id)) return tensor;
                          return std::find(forced.begin(), forced.end(), id) == forced.end() ? nullptr : &*values_[id.at()];
                        },
                        .wanted = std::span(wanted_.get(), types_.size()),
                        .last_use = last_use_,
                        .survey = true};
    Result<Planned> planned = make_plan(request);
    if (!planned && lenient_ && planned.error().kind == ErrorKind::bad_input) return later(position++, planned.error().message);
    if (!planned) return std::move(planned.error());
    declined_ = planned->declined_bodies;
    if (planned->plan.end == position) return outside(position++);
    adopt(std::move(*planned));
    position = planned->plan.end;
    return {};
  }

  // What was planned together.
  void adopt(Planned planned) {
    for (std::size_t n = planned.plan.begin; n < planned.plan.end; ++n) found_[n].where = Where::planning;
    for (const Refusal& refusal : planned.unsupported) found_[refusal.node.at()].where = Where::nowhere;
    for (std::vector<Refusal>* list : {&planned.refusals, &planned.unsupported}) {
      for (Refusal& refusal : *list) found_[refusal.node.at()].reasons.push_back({std::move(refusal.device), std::move(refusal.reason)});
    }
    for (Placement& placement : planned.placements) {
      NodeCoverage& found = found_[placement.node.at()];
      found.where = Where::device;
      found.device = devices_[static_cast<std::size_t>(placement.device)]->name();
      found.kernel = std::move(placement.kernel);
      if (placement.view) views_.insert(placement.node);
    }
    for (std::size_t v = 0; v < planned.types.size(); ++v) {
      if (planned.types[v]) types_[v] = std::move(planned.types[v]);
    }
    for (auto& [id, tensor] : planned.plan.known) values_[id.at()] = tensor;
    copies_ += copies_of(planned.plan, devices_);
  }

  // Results that nothing more is known of than what the graph says.
  Status leave(std::size_t n, Where where, std::vector<Reason> reasons) {
    found_[n].where = where;
    found_[n].reasons = std::move(reasons);
    for (ValueId output : graph_.nodes()[n].outputs) {
      if (output && !types_[output.at()]) types_[output.at()] = sized(graph_.value(output).type);
    }
    return {};
  }

  Status later(std::size_t n, std::string why) {
    lenient_ = true;
    return leave(n, Where::later, {{"", std::move(why)}});
  }

  // A node that is no device's.
  Status outside(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    if (!node.op) return leave(n, Where::nowhere, {{"", std::string(undefined_operator)}});
    std::vector<InputFact> facts;
    for (ValueId input : node.inputs) {
      const Type* type = input ? live(input) : nullptr;
      if (type && is_open(*type)) return later(n, text("the type of '", graph_.value(input).name, "' is not known before it runs"));
      facts.push_back({type, input ? constant(input) : nullptr, nullptr});
    }
    FreshNumbers fresh(0);
    OpContext context(*node.op, node.attributes, facts, node.outputs.size(), &fresh, &graph_body_types());
    Result<std::vector<Type>> types = infer_types(context);
    if (!types && lenient_) return later(n, types.error().message);
    if (!types) return within(describe(graph_, node), std::move(types.error()));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      bool told = node.outputs[i] && i < types->size() && !is_open((*types)[i]);
      if (told && is_exact((*types)[i])) IT_TRY_VOID(within(describe(graph_, node), check_size((*types)[i])));
      if (told) types_[node.outputs[i].at()] = std::move((*types)[i]);
      lenient_ = lenient_ || (node.outputs[i] && !told);
    }
    Status runs = runs_on_host(context);
    if (runs) return leave(n, Where::at_host, {});
    return leave(n, Where::nowhere, {{"host", runs.error().message}});
  }

  Status report_body(const Body& body, Coverage& out) {
    std::shared_ptr<const Graph> graph = body.graph;
    while (true) {
      Survey inside(*graph, devices_, cap_);
      inside.enter_body(body, *this);
      IT_TRY_VOID(inside.walk());
      if (inside.declined().empty()) return inside.report(out);
      IT_TRY(graph, without(*graph, inside.declined()));
    }
  }

  const Graph& graph_;
  const Devices& devices_;
  it_numerics cap_;
  Bindings bindings_;
  std::set<std::string> of_inputs_;             // symbols
  std::vector<std::optional<Type>> types_;      // by value
  std::vector<std::optional<Tensor>> values_;   // by value: given, or known from planning
  std::map<ValueId, Tensor> constants_;
  std::unique_ptr<bool[]> wanted_;
  std::vector<std::size_t> last_use_;
  std::vector<NodeCoverage> found_;             // by node
  std::set<NodeId> views_;
  std::vector<NodeId> declined_;
  Copies copies_;
  bool lenient_ = false;                        // sizes are not all those of a run: a contradiction is no fault of the graph
};

}  // namespace

std::string operator_label(const Node& node) {
  if (!is_fused(node)) return text(node.domain.empty() ? "" : node.domain + "::", node.type);
  std::vector<std::string_view> inside;
  for (const Node& part : node.attributes.get<Body>("body")->graph->nodes()) inside.push_back(part.type);
  return text("fused ", join(inside, "+"));
}

Copies copies_of(const Plan& plan, const Devices& devices) {
  Copies out;
  auto add = [&](int place) {
    ++out.count;
    out.bytes += static_cast<double>(plan.places[static_cast<std::size_t>(place)].bytes);
  };
  for (const Step& step : plan.steps) {
    if (step.kind == Step::Kind::transfer) add(step.outputs[0]);
  }
  for (const auto& [value, place] : plan.live_out) {
    if (!on_host(devices, plan.places[static_cast<std::size_t>(place)].device)) add(place);
  }
  return out;
}

Result<Coverage> cover(const Graph& graph, const CoverageRequest& request) {
  std::shared_ptr<const Graph> current(std::shared_ptr<const Graph>(), &graph);  // not owned
  while (true) {
    Survey survey(*current, request.devices, request.cap);
    for (std::size_t i = 0; i < request.types.size(); ++i) {
      ValueId input = current->inputs()[i];
      if (is_exact(request.types[i])) IT_TRY_VOID(within(text("input '", current->value(input).name, "'"), check_size(request.types[i])));
      survey.enter(input, request.types[i], request.given[i]);
    }
    IT_TRY_VOID(survey.walk());
    if (survey.declined().empty()) {
      Coverage out;
      IT_TRY_VOID(survey.report(out));
      return out;
    }
    IT_TRY(current, without(*current, survey.declined()));
  }
}

}  // namespace infini
