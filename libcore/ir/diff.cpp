#include "libcore/ir/diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/tensor/compare.h"

namespace infini {
namespace {

constexpr std::size_t longest_value = 80;  // characters of an attribute's value in a message

std::string changed(const std::string& from, const std::string& to) { return from + " became " + to; }

std::string shortened(std::string value) {
  if (value.size() > longest_value) value = value.substr(0, longest_value) + "...";
  return value;
}

using ValuePairs = std::vector<std::pair<ValueId, ValueId>>;

ValueId named(const Graph& graph, std::span<const ValueId> among, const std::string& name) {
  auto found = std::find_if(among.begin(), among.end(), [&](ValueId id) { return graph.value(id).name == name; });
  return found == among.end() ? ValueId() : *found;
}

// Inputs, or outputs, by name; those left over at the same position are partners as well, under another name.
ValuePairs by_name(const Graph& a, std::span<const ValueId> in_a, const Graph& b, std::span<const ValueId> in_b) {
  ValuePairs out;
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    ValueId partner = named(b, in_b, a.value(in_a[i]).name);
    bool left_over = !partner && i < in_b.size() && !named(a, in_a, b.value(in_b[i]).name);
    if (left_over) partner = in_b[i];
    if (partner) out.emplace_back(in_a[i], partner);
  }
  return out;
}

class Comparer {
 public:
  Comparer(const Graph& a, const Graph& b, std::string prefix, GraphDiff& out) : a_(a), b_(b), prefix_(std::move(prefix)), out_(out) {}

  // Of whole graphs.
  Status graphs() {
    ValuePairs inputs = by_name(a_, a_.inputs(), b_, b_.inputs()), outputs = by_name(a_, a_.outputs(), b_, b_.outputs());
    interface("input", a_.inputs(), b_.inputs(), inputs);
    interface("output", a_.outputs(), b_.outputs(), outputs);
    symbols();
    return insides(inputs, outputs);
  }

  // Of bodies, whose inputs and outputs go by position; `captures` are partners by what they capture.
  Status bodies(const ValuePairs& captures) {
    ValuePairs inputs = captures, outputs;
    if (a_.inputs().size() != b_.inputs().size()) add("input", "", changed(text(a_.inputs().size(), " inputs"), text(b_.inputs().size())));
    if (a_.outputs().size() != b_.outputs().size()) add("output", "", changed(text(a_.outputs().size(), " outputs"), text(b_.outputs().size())));
    for (std::size_t i = 0; i < std::min(a_.inputs().size(), b_.inputs().size()); ++i) inputs.emplace_back(a_.inputs()[i], b_.inputs()[i]);
    for (std::size_t i = 0; i < std::min(a_.outputs().size(), b_.outputs().size()); ++i) outputs.emplace_back(a_.outputs()[i], b_.outputs()[i]);
    for (auto [x, y] : inputs) type_changed(x, y, "input", text("input ", quoted(a_.value(x).name), ": "));
    return insides(inputs, outputs);
  }

 private:
  void add(std::string kind, const std::string& where, std::string what) { out_.differences.push_back({std::move(kind), prefix_ + where, std::move(what)}); }

  void interface(const std::string& kind, std::span<const ValueId> in_a, std::span<const ValueId> in_b, const ValuePairs& pairs) {
    for (ValueId x : in_a) {
      if (std::none_of(pairs.begin(), pairs.end(), [x](auto pair) { return pair.first == x; })) add(kind, "", text(quoted(a_.value(x).name), " is gone"));
    }
    for (ValueId y : in_b) {
      if (std::none_of(pairs.begin(), pairs.end(), [y](auto pair) { return pair.second == y; })) add(kind, "", text(quoted(b_.value(y).name), " is new"));
    }
    std::vector<std::string> order_a, order_b;
    for (auto [x, y] : pairs) {
      if (a_.value(x).name != b_.value(y).name) add(kind, "", changed(quoted(a_.value(x).name), quoted(b_.value(y).name)));
      type_changed(x, y, kind, text(quoted(a_.value(x).name), ": "));
    }
    for (ValueId y : in_b) {
      auto found = std::find_if(pairs.begin(), pairs.end(), [y](auto pair) { return pair.second == y; });
      if (found != pairs.end()) order_b.push_back(a_.value(found->first).name);
    }
    for (auto [x, y] : pairs) order_a.push_back(a_.value(x).name);
    if (order_a != order_b) add(kind, "", "the order changed");
  }

  // True, and said unless `what` is empty, if the types are not the same.
  bool type_changed(ValueId x, ValueId y, const std::string& kind, const std::string& what, const std::string& where = "") {
    if (a_.value(x).type == b_.value(y).type) return false;
    if (!what.empty()) add(kind, where, what + changed(to_string(a_.value(x).type), to_string(b_.value(y).type)));
    return true;
  }

  void symbols() {
    std::map<std::string, std::array<std::string, 2>> bounds;
    for (const Symbol& symbol : a_.symbols()) bounds[symbol.name][0] = to_string(symbol.bounds);
    for (const Symbol& symbol : b_.symbols()) bounds[symbol.name][1] = to_string(symbol.bounds);
    for (auto& [name, ends] : bounds) {
      for (std::string& end : ends) end = end.empty() ? "any" : end;
      if (ends[0] != ends[1]) add("symbol", "", text(quoted(name), ": ", changed(ends[0], ends[1])));
    }
  }

  Status insides(const ValuePairs& inputs, const ValuePairs& outputs) {
    IT_TRY(digests_a_, constant_digests(a_));
    IT_TRY(digests_b_, constant_digests(b_));
    ValuePairs ends = inputs;
    ends.insert(ends.end(), outputs.begin(), outputs.end());
    alignment_ = align(a_, b_, digests_a_, digests_b_, ends);
    for (std::size_t r = 0; r < alignment_.rewrites.size(); ++r) {
      rewritten(r);
      IT_TRY_VOID(weights_of(alignment_.rewrites[r]));
    }
    for (std::size_t n = 0; n < a_.nodes().size(); ++n) {
      NodeId partner = alignment_.node_in_b[n];
      std::size_t before = out_.differences.size(), following = out_.shapes_that_follow;
      if (partner) IT_TRY_VOID(nodes(a_.nodes()[n], b_.node(partner)));
      if (partner && prefix_.empty() && out_.differences.size() == before && out_.shapes_that_follow == following) ++out_.alike;
      if (!partner && !rewrite_of_a_.contains(node_id(n))) add("removed", describe(a_, a_.nodes()[n]), "");
    }
    for (std::size_t n = 0; n < b_.nodes().size(); ++n) {
      if (!alignment_.node_in_a[n] && !rewrite_of_b_.contains(node_id(n))) add("added", describe(b_, b_.nodes()[n]), "");
    }
    for (auto [x, y] : outputs) IT_TRY_VOID(read(x, y, "output", "", text(quoted(a_.value(x).name), ": ")));
    return {};
  }

  void rewritten(std::size_t number) {
    auto list = [&](const Graph& graph, const std::vector<NodeId>& nodes, std::map<NodeId, std::size_t>& known) {
      std::vector<std::string> out;
      for (NodeId node : nodes) {
        known[node] = number;
        out.push_back(describe(graph, graph.node(node)));
      }
      return join(out, ", ");
    };
    const Alignment::Rewrite& rewrite = alignment_.rewrites[number];
    std::string from = list(a_, rewrite.a, rewrite_of_a_), to = list(b_, rewrite.b, rewrite_of_b_);
    add("rewritten", from, "became " + to);
  }

  // Constants that both sides of a rewrite read, under one name and with one type: a fused node has the weights of what it was made of.
  Status weights_of(const Alignment::Rewrite& rewrite) {
    auto each_constant = [](const Graph& graph, const std::vector<NodeId>& nodes, auto&& visit) -> Status {
      for (NodeId node : nodes) {
        for (ValueId input : graph.node(node).inputs) {
          if (input && graph.value(input).constant) IT_TRY_VOID(visit(node, input));
        }
      }
      return {};
    };
    return each_constant(a_, rewrite.a, [&](NodeId reader, ValueId x) {
      return each_constant(b_, rewrite.b, [&](NodeId, ValueId y) -> Status {
        bool same = a_.value(x).name == b_.value(y).name && a_.value(x).type == b_.value(y).type;
        return same ? constants(x, y, describe(a_, a_.node(reader)), "") : Status();
      });
    });
  }

  // Whether x and y stand for the same: nothing, or partners, or what came of one rewrite.
  bool correspond(ValueId x, ValueId y) const {
    if (!x || !y) return x == y;
    if (alignment_.value_in_b[x.at()] == y) return true;
    auto in_a = rewrite_of_a_.find(a_.value(x).producer), in_b = rewrite_of_b_.find(b_.value(y).producer);
    return in_a != rewrite_of_a_.end() && in_b != rewrite_of_b_.end() && in_a->second == in_b->second;
  }

  static std::string value_text(const Graph& graph, ValueId id) {
    if (!id) return "nothing";
    const ValueInfo& value = graph.value(id);
    std::string maker = value.producer ? graph.node(value.producer).type + "'s " : value.constant ? "constant " : "";
    return maker + quoted(value.name);
  }

  // An input of a node, or an output of the graph; `what` begins the message.
  Status read(ValueId x, ValueId y, const std::string& kind, const std::string& where, const std::string& what) {
    bool both = x && y && a_.value(x).constant && b_.value(y).constant;
    if (both) return constants(x, y, where, what);
    if (!correspond(x, y)) add(kind, where, what + changed(value_text(a_, x), value_text(b_, y)));
    return {};
  }

  Status constants(ValueId x, ValueId y, const std::string& where, const std::string& what) {
    if (!compared_.insert({x, y}).second) return {};
    std::string name = text(what, quoted(a_.value(x).name), ": ");
    if (type_changed(x, y, "weight", name, where)) return {};
    if (!digests_a_[x.at()] || !digests_b_[y.at()]) {
      out_.unknown.push_back(prefix_ + a_.value(x).name);
      return {};
    }
    if (digests_a_[x.at()] == digests_b_[y.at()]) return {};
    const Constant &in_a = *a_.value(x).constant, &in_b = *b_.value(y).constant;
    if (std::holds_alternative<AbsentPayload>(in_a.payload) || std::holds_alternative<AbsentPayload>(in_b.payload)) {
      add("weight", where, name + "the digests differ");
      return {};
    }
    IT_TRY(Tensor from, load(in_a));
    IT_TRY(Tensor to, load(in_b));
    Comparison found = compare(to, from, {.relative = 0, .absolute = 0});
    std::string size = text("largest difference ", found.max_absolute, ", relative L2 ", found.relative_l2);
    add("weight", where, text(name, found.mismatches == 0 ? "the same numbers in other bits" : text(found.mismatches, " of ", found.count, " elements differ, ", size)));
    return {};
  }

  Status nodes(const Node& x, const Node& y) {
    std::string where = describe(a_, x);
    if (x.version != y.version) add("version", where, changed(text(x.version), text(y.version)));
    IT_TRY_VOID(attributes(x, y, where));
    bool cause = false;  // for types of the results to change
    for (std::size_t i = 0; i < std::max(x.inputs.size(), y.inputs.size()); ++i) {
      ValueId in_a = i < x.inputs.size() ? x.inputs[i] : ValueId(), in_b = i < y.inputs.size() ? y.inputs[i] : ValueId();
      IT_TRY_VOID(read(in_a, in_b, "wiring", where, text("input ", i, " ")));
      cause = cause || (in_a && in_b && !(a_.value(in_a).type == b_.value(in_b).type));
    }
    for (std::size_t i = 0; i < std::max(x.outputs.size(), y.outputs.size()); ++i) {
      ValueId out_a = i < x.outputs.size() ? x.outputs[i] : ValueId(), out_b = i < y.outputs.size() ? y.outputs[i] : ValueId();
      if (out_a.valid() != out_b.valid()) add("wiring", where, text("result ", i, " ", changed(value_text(a_, out_a), value_text(b_, out_b))));
      if (!out_a || !out_b) continue;
      bool differs = type_changed(out_a, out_b, "shape", cause ? "" : text(quoted(a_.value(out_a).name), ": "), where);
      if (differs && cause) ++out_.shapes_that_follow;
    }
    return {};
  }

  Status attributes(const Node& x, const Node& y, const std::string& where) {
    for (const Attribute& attribute : x.attributes) {
      const AttributeValue* other = y.attributes.find(attribute.name);
      if (!other) {
        add("attribute", where, text(attribute.name, ": ", shortened(print(a_, attribute.value)), " is gone"));
      } else if (kind(attribute.value) == kind(*other) && kind(*other) == AttributeKind::body) {
        IT_TRY_VOID(body(std::get<Body>(attribute.value), std::get<Body>(*other), text(where, " ", attribute.name, ": ")));
      } else if (kind(attribute.value) == kind(*other) && kind(*other) == AttributeKind::bodies) {
        const auto &in_a = std::get<std::vector<Body>>(attribute.value), &in_b = std::get<std::vector<Body>>(*other);
        if (in_a.size() != in_b.size()) add("attribute", where, text(attribute.name, ": ", changed(text(in_a.size(), " graphs"), text(in_b.size()))));
        for (std::size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) IT_TRY_VOID(body(in_a[i], in_b[i], text(where, " ", attribute.name, "[", i, "]: ")));
      } else if (!same(attribute.value, *other)) {
        std::string from = shortened(print(a_, attribute.value)), to = shortened(print(b_, *other));
        add("attribute", where, text(attribute.name, ": ", from == to ? "other elements" : changed(from, to)));
      }
    }
    for (const Attribute& attribute : y.attributes) {
      if (!x.attributes.has(attribute.name)) add("attribute", where, text(attribute.name, ": ", shortened(print(b_, attribute.value)), " is new"));
    }
    return {};
  }

  // Captures are partners if what they capture is; those left over at the same position as well, and what they capture is said to differ.
  Status body(const Body& x, const Body& y, const std::string& prefix) {
    ValuePairs captures;
    std::vector<bool> taken_a(x.captures.size()), taken_b(y.captures.size());
    auto take = [&](std::size_t i, std::size_t j) {
      taken_a[i] = taken_b[j] = true;
      captures.emplace_back(x.graph->captures()[i], y.graph->captures()[j]);
    };
    for (std::size_t i = 0; i < taken_a.size(); ++i) {
      for (std::size_t j = 0; j < taken_b.size() && !taken_a[i]; ++j) {
        if (!taken_b[j] && captured_alike(x.captures[i], y.captures[j])) take(i, j);
      }
    }
    for (std::size_t i = 0; i < std::min(taken_a.size(), taken_b.size()); ++i) {
      if (taken_a[i] || taken_b[i]) continue;
      take(i, i);
      IT_TRY_VOID(read(x.captures[i], y.captures[i], "wiring", prefix.substr(0, prefix.size() - 2), text("captures ")));
    }
    return Comparer(*x.graph, *y.graph, prefix_ + prefix, out_).bodies(captures);
  }

  bool captured_alike(ValueId x, ValueId y) const {
    bool both = a_.value(x).constant && b_.value(y).constant;
    return both ? digests_a_[x.at()] == digests_b_[y.at()] && a_.value(x).type == b_.value(y).type : correspond(x, y);
  }

  const Graph &a_, &b_;
  std::string prefix_;
  GraphDiff& out_;
  Alignment alignment_;
  ContentDigests digests_a_, digests_b_;
  std::map<NodeId, std::size_t> rewrite_of_a_, rewrite_of_b_;  // the number of the rewrite
  std::set<std::pair<ValueId, ValueId>> compared_;             // constants
};

}  // namespace

Result<GraphDiff> diff(const Graph& a, const Graph& b) {
  GraphDiff out;
  out.nodes_a = a.nodes().size();
  out.nodes_b = b.nodes().size();
  IT_TRY_VOID(Comparer(a, b, "", out).graphs());
  return out;
}

}  // namespace infini
