// A pass: a graph in, a graph out.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ir/graph.h"

namespace infini {

// What a pass may do to results (DESIGN: safety classes). A pass says the most it does.
enum class Safety : std::uint8_t {
  exact,     // bit-identical on the reference device
  rounding,  // other roundings: sums in another order, factors folded into weights
  approx,    // another formula
  lossy,     // less precision
};
std::string_view name(Safety safety);

struct PassOption {
  std::string_view name;
  std::string_view standard;  // as written
  std::string_view summary;
};

// What an option says: a number, perhaps with KiB, MiB or GiB behind it. Nothing: it is none, or beyond 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

// What a running pass is given, and where it leaves what it has to say.
class PassContext {
 public:
  PassContext(const OpTable& ops, bool assume_finite) : ops_(ops), assume_finite_(assume_finite) {}

  const OpTable& ops() const { return ops_; }
  const OpDef* op(std::string_view name, std::string_view domain = "") const { return ops_.find(domain, name); }
  // The user has said that no activation is infinite or NaN.
  bool assume_finite() const { return assume_finite_; }

  // The tensor of a constant, if it is at most `limit` bytes; reads or pulls it when asked.
  Result<Tensor> bytes(const Constant& constant, std::uint64_t limit) const { return load(constant, limit); }

  // Option `name` of the pass that runs ("1MiB" is in bytes); all options are sizes, which the pipeline's reader has checked.
  std::uint64_t size_option(std::string_view name) const;
  const std::string& option(std::string_view name) const { return options_.at(std::string(name)); }

  // One more rewrite is about to happen; false: the limit of --stop-after is reached, leave things as they are.
  bool may_rewrite();
  std::size_t rewrites() const { return rewrites_; }
  // Why a place that looked right was left alone (--explain).
  void near_miss(const Graph& graph, NodeId node, std::string why);
  std::span<const std::string> near_misses() const { return near_misses_; }

 private:
  friend class PassDriver;
  const OpTable& ops_;
  bool assume_finite_;
  std::map<std::string, std::string> options_;
  std::size_t rewrites_ = 0;
  std::size_t rewrite_limit_ = SIZE_MAX;
  std::vector<std::string> near_misses_;
};

struct Pass {
  std::string_view name;     // kebab-case
  std::string_view summary;  // one line
  Safety safety = Safety::exact;
  std::span<const PassOption> options = {};
  Result<Graph> (*run)(const Graph&, PassContext&) = nullptr;
  bool bodies = true;        // also run on nested graphs (not on those of `fused` nodes)
};

// Every pass, in the order of passes.def.
std::span<const Pass* const> all_passes();
const Pass* find_pass(std::string_view name);

// ---- what many passes ask ---------------------------------------------------------------------------------------------------------------

inline bool is_op(const Node& node, std::string_view type) { return node.op && node.domain.empty() && node.type == type; }
// It draws random numbers: computing it twice, or now instead of later, is not the same.
bool is_random(const Node& node);
// The node that makes a value, if one does and it is of that operator.
const Node* producer(const Graph& graph, ValueId value, std::string_view type);
// The constant behind a value, or null.
const Constant* constant_of(const Graph& graph, ValueId value);
// True if its bytes can be had and are at most `limit`.
bool loadable(const Constant& constant, std::uint64_t limit);
// Its elements if it is a constant in memory of at most 64 elements.
std::optional<std::vector<double>> small_constant(const Graph& graph, ValueId value);
// The one number, if the value is a small constant of one element.
std::optional<double> scalar_constant(const Graph& graph, ValueId value);
// True if what the value holds is known, as numbers or as sizes: nothing is left for running to find wrong in it.
bool is_known_shape(const Graph& graph, ValueId value);
// An elementwise operator of one tensor result: output[i] depends on the inputs at i, broadcast.
bool is_elementwise(const Node& node);

}  // namespace infini
