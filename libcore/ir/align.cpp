#include "libcore/ir/align.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "libcore/base/text.h"
#include "libcore/ir/module.h"

namespace infini {
namespace {

constexpr std::int64_t telling_elements = 16;  // constants this large tell nodes apart

bool same_operator(const Node& x, const Node& y) { return x.type == y.type && x.domain == y.domain && x.overload == y.overload; }

std::string operator_key(const Node& node) { return text(node.domain, "\n", node.type, "\n", node.overload, "\n"); }

// Source nodes of both graphs under common numbers: by operator and name where that is unique in both, else by place as well.
class CommonSources {
 public:
  CommonSources(const Graph& a, const Graph& b) {
    std::array<std::map<std::string, int>, 2> count;
    for (const SourceNode& source : a.sources()) ++count[0][name_key(source)];
    for (const SourceNode& source : b.sources()) ++count[1][name_key(source)];
    auto number = [&](const Graph& graph, std::vector<std::size_t>& out) {
      for (const SourceNode& source : graph.sources()) {
        std::string key = name_key(source);
        bool unique = !source.name.empty() && count[0][key] <= 1 && count[1][key] <= 1;
        if (!unique) key += text(" at ", join(source.path, ","));
        out.push_back(numbers_.try_emplace(key, numbers_.size()).first->second);
      }
    };
    number(a, in_a_);
    number(b, in_b_);
  }

  std::size_t size() const { return numbers_.size(); }
  std::vector<std::size_t> of(const Node& node, bool in_b) const {
    std::vector<std::size_t> out;
    for (std::uint32_t source : node.origin) out.push_back((in_b ? in_b_ : in_a_)[source]);
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  static std::string name_key(const SourceNode& source) { return text(source.op, "\n", source.name, "\n"); }

  std::map<std::string, std::size_t> numbers_;
  std::vector<std::size_t> in_a_, in_b_;
};

class Aligner {
 public:
  Aligner(const Graph& a, const Graph& b, const ContentDigests& in_a, const ContentDigests& in_b)
      : a_(a), b_(b), digests_a_(in_a), digests_b_(in_b), sources_(a, b), uses_b_(uses_of(b)), busy_a_(a.nodes().size()), busy_b_(b.nodes().size()) {
    out_.node_in_b.resize(a.nodes().size());
    out_.node_in_a.resize(b.nodes().size());
    out_.value_in_b.resize(a.values().size());
    out_.value_in_a.resize(b.values().size());
  }

  Alignment take(std::span<const std::pair<ValueId, ValueId>> given) {
    for (auto [x, y] : given) {
      NodeId from_a = a_.value(x).producer, from_b = b_.value(y).producer;
      if (from_a && from_b) ends_.emplace_back(from_a, from_b);
      if (!from_a && !from_b) pair_values(x, y);
    }
    by_key([this](const Node& node, bool in_b) { return weight_key(node, in_b); }, false);
    if (origins_agree()) {
      by_key([this](const Node& node, bool in_b) { return origin_key(node, in_b); }, true);
      by_shared_origin();
    }
    spread();
    by_key([](const Node& node, bool) { return node.name.empty() ? "" : operator_key(node) + node.name; }, false);
    by_key([this](const Node& node, bool in_b) { return result_key(node, in_b); }, false);
    spread();
    return std::move(out_);
  }

 private:
  void pair_values(ValueId x, ValueId y) {
    if (!x || !y || out_.value_in_b[x.at()] || out_.value_in_a[y.at()]) return;
    out_.value_in_b[x.at()] = y;
    out_.value_in_a[y.at()] = x;
  }

  bool is_free(NodeId x, NodeId y) const { return !busy_a_[x.at()] && !busy_b_[y.at()] && same_operator(a_.node(x), b_.node(y)); }

  void pair(NodeId x, NodeId y) {
    busy_a_[x.at()] = busy_b_[y.at()] = changed_ = true;
    out_.node_in_b[x.at()] = y;
    out_.node_in_a[y.at()] = x;
    const Node &in_a = a_.node(x), &in_b = b_.node(y);
    for (std::size_t i = 0; i < std::min(in_a.outputs.size(), in_b.outputs.size()); ++i) pair_values(in_a.outputs[i], in_b.outputs[i]);
  }

  // Equal constants, inputs that are partners: how many inputs speak for the pair, and how many against it. What has no partner yet says nothing.
  struct Votes {
    std::size_t yes = 0, no = 0, open = 0;
  };
  Votes votes(const Node& x, const Node& y) const {
    Votes out;
    for (std::size_t i = 0; i < std::max(x.inputs.size(), y.inputs.size()); ++i) {
      ValueId in_a = i < x.inputs.size() ? x.inputs[i] : ValueId(), in_b = i < y.inputs.size() ? y.inputs[i] : ValueId();
      if (!in_a && !in_b) continue;
      bool constant_a = in_a && a_.value(in_a).constant, constant_b = in_b && b_.value(in_b).constant;
      bool equal = in_a && in_b && (constant_a ? digests_a_[in_a.at()] == digests_b_[in_b.at()] : out_.value_in_b[in_a.at()] == in_b);
      bool settled = !in_a || !in_b || constant_a || constant_b || (out_.value_in_b[in_a.at()] && out_.value_in_a[in_b.at()]);
      ++(constant_a == constant_b && equal ? out.yes : settled ? out.no : out.open);
    }
    return out;
  }

  std::string weight_key(const Node& node, bool in_b) const {
    const Graph& graph = in_b ? b_ : a_;
    std::string key;
    for (ValueId input : node.inputs) {
      const std::optional<Hash128>* digest = input ? &(in_b ? digests_b_ : digests_a_)[input.at()] : nullptr;
      if (digest && *digest && graph.value(input).constant->count() >= telling_elements) key += to_hex(**digest);
    }
    return key.empty() ? key : operator_key(node) + key;
  }

  std::string origin_key(const Node& node, bool in_b) const {
    return node.origin.empty() ? "" : operator_key(node) + join(sources_.of(node, in_b), ",");
  }

  std::string result_key(const Node& node, bool in_b) const {
    bool named = !node.outputs.empty() && node.outputs[0];
    return named ? operator_key(node) + (in_b ? b_ : a_).value(node.outputs[0]).name : "";
  }

  // Pairs nodes of equal keys in their order, where there are as many on both sides; careful: not those whose inputs are all known to differ.
  void by_key(const std::function<std::string(const Node&, bool)>& key_of, bool careful) {
    std::map<std::string, std::array<std::vector<NodeId>, 2>> found;
    auto collect = [&](const Graph& graph, const std::vector<bool>& busy, bool in_b) {
      for (std::size_t n = 0; n < busy.size(); ++n) {
        std::string key = busy[n] ? "" : key_of(graph.nodes()[n], in_b);
        if (!key.empty()) found[key][in_b ? 1 : 0].push_back(node_id(n));
      }
    };
    collect(a_, busy_a_, false);
    collect(b_, busy_b_, true);
    // In the order of A, so that what comes first speaks for what comes later.
    std::vector<std::pair<NodeId, NodeId>> pairs;
    for (const auto& [key, nodes] : found) {
      if (nodes[0].size() != nodes[1].size()) continue;
      for (std::size_t i = 0; i < nodes[0].size(); ++i) pairs.emplace_back(nodes[0][i], nodes[1][i]);
    }
    std::sort(pairs.begin(), pairs.end());
    for (auto [x, y] : pairs) {
      Votes given = votes(a_.node(x), b_.node(y));
      if (!careful || given.yes > 0 || given.no == 0) pair(x, y);
    }
  }

  // Exporters number their nodes: one more at the front, and every name that follows means another node. Those paired by their weights tell.
  bool origins_agree() const {
    std::ptrdiff_t agree = 0;
    for (std::size_t n = 0; n < a_.nodes().size(); ++n) {
      NodeId partner = out_.node_in_b[n];
      if (!partner || a_.nodes()[n].origin.empty() || b_.node(partner).origin.empty()) continue;
      agree += origin_key(a_.nodes()[n], false) == origin_key(b_.node(partner), true) ? 1 : -1;
    }
    return agree >= 0;
  }

  // Of the nodes left over, those that share source nodes, directly or by others: one and one of the same operator are partners, else it is a rewrite.
  void by_shared_origin() {
    std::vector<std::size_t> parent(sources_.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    auto root = [&parent](std::size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    auto each = [&](const auto& visit) {
      for (bool in_b : {false, true}) {
        const Graph& graph = in_b ? b_ : a_;
        for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
          if (!(in_b ? busy_b_ : busy_a_)[n] && !graph.nodes()[n].origin.empty()) visit(node_id(n), sources_.of(graph.nodes()[n], in_b), in_b);
        }
      }
    };
    each([&](NodeId, const std::vector<std::size_t>& sources, bool) {
      for (std::size_t source : sources) parent[root(source)] = root(sources[0]);
    });
    std::map<std::size_t, Alignment::Rewrite> groups;
    each([&](NodeId node, const std::vector<std::size_t>& sources, bool in_b) { (in_b ? groups[root(sources[0])].b : groups[root(sources[0])].a).push_back(node); });
    for (auto& [key, group] : groups) {
      if (group.a.empty() || group.b.empty()) continue;
      if (group.a.size() == 1 && group.b.size() == 1 && is_free(group.a[0], group.b[0])) {
        if (fits(group.a[0], group.b[0], false)) pair(group.a[0], group.b[0]);
        continue;
      }
      for (NodeId node : group.a) busy_a_[node.at()] = true;
      for (NodeId node : group.b) busy_b_[node.at()] = true;
      out_.rewrites.push_back(std::move(group));
    }
  }

  // From partners to their neighbours, till nothing changes; first to those that are alike in all, then to those that have the operator alone.
  void spread() {
    for (bool alike : {true, false, true}) {
      do {
        changed_ = false;
        for (std::size_t n = 0; n < a_.nodes().size(); ++n) forward(node_id(n), alike);
        for (auto [x, y] : ends_) {
          if (fits(x, y, alike)) pair(x, y);
        }
        for (std::size_t n = a_.nodes().size(); n-- > 0;) backward(node_id(n), alike);
      } while (changed_);
    }
  }

  bool fits(NodeId x, NodeId y, bool alike) const {
    if (!is_free(x, y)) return false;
    Votes given = votes(a_.node(x), b_.node(y));
    return alike ? given.no == 0 && same(a_.node(x).attributes, b_.node(y).attributes) : given.yes > 0 || given.no == 0;
  }

  // The first reader in B of what is a partner of an input of x.
  void forward(NodeId x, bool alike) {
    if (busy_a_[x.at()]) return;
    for (ValueId input : a_.node(x).inputs) {
      ValueId partner = input ? out_.value_in_b[input.at()] : ValueId();
      if (!partner) continue;
      for (NodeId y : uses_b_.readers[partner.at()]) {
        Votes given = votes(a_.node(x), b_.node(y));
        if (given.open > 0 || !fits(x, y, alike)) continue;
        pair(x, y);
        return;
      }
    }
  }

  void backward(NodeId x, bool alike) {
    NodeId y = out_.node_in_b[x.at()];
    if (!y) return;
    const Node &in_a = a_.node(x), &in_b = b_.node(y);
    for (std::size_t i = 0; i < std::min(in_a.inputs.size(), in_b.inputs.size()); ++i) {
      if (!in_a.inputs[i] || !in_b.inputs[i]) continue;
      const ValueInfo &from_a = a_.value(in_a.inputs[i]), &from_b = b_.value(in_b.inputs[i]);
      if (from_a.producer && from_b.producer && from_a.output == from_b.output && fits(from_a.producer, from_b.producer, alike)) pair(from_a.producer, from_b.producer);
    }
  }

  const Graph &a_, &b_;
  const ContentDigests &digests_a_, &digests_b_;
  CommonSources sources_;
  Uses uses_b_;
  std::vector<bool> busy_a_, busy_b_;  // has a partner, or is part of a rewrite
  std::vector<std::pair<NodeId, NodeId>> ends_;  // what makes results of one name
  bool changed_ = false;
  Alignment out_;
};

}  // namespace

Result<ContentDigests> constant_digests(const Graph& graph) {
  ContentDigests out(graph.values().size());
  for (std::size_t v = 0; v < out.size(); ++v) {
    const ValueInfo& value = graph.values()[v];
    if (!value.constant || (std::holds_alternative<AbsentPayload>(value.constant->payload) && !value.constant->digest)) continue;
    IT_TRY(out[v], within(text("constant '", value.name, "'"), content_digest(*value.constant)));
  }
  return out;
}

Alignment align(const Graph& a, const Graph& b, const ContentDigests& in_a, const ContentDigests& in_b, std::span<const std::pair<ValueId, ValueId>> given) {
  return Aligner(a, b, in_a, in_b).take(given);
}

}  // namespace infini
