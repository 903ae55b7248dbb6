#include "libcore/ir/infer_node.h"

#include <algorithm>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/ir/body_types.h"

namespace infini {
namespace {

constexpr std::size_t fresh_digits = 15;    // more is a model's own symbol, not one of ours
constexpr std::size_t solved_symbols = 3;   // fresh symbols in one dimension that matching tries
constexpr std::size_t candidate_symbols = 8;

// Looks into bodies with the same fresh numbers.
class NestedTypes final : public BodyTypes {
 public:
  explicit NestedTypes(FreshNumbers& fresh) : fresh_(fresh) {}
  Result<std::vector<Type>> infer(const Body& body, std::span<const Type> arguments) const override {
    return infer_body_outputs(*body.graph, arguments, fresh_);
  }

 private:
  FreshNumbers& fresh_;
};

// Finds what fresh symbols stand for, by laying inferred types beside declared ones.
class Matching {
 public:
  explicit Matching(std::uint64_t first_fresh) : first_fresh_(first_fresh) {}

  void match(const Type& inferred, const Type& declared) {
    if (inferred.element && declared.element) match(*inferred.element, *declared.element);
    if (!inferred.has_shape() || !declared.has_shape() || inferred.rank() != declared.rank()) return;
    for (std::size_t i = 0; i < inferred.rank(); ++i) match((*inferred.shape)[i], (*declared.shape)[i]);
  }

  // What was left over by match: dimensions that only hold a fresh symbol somewhere.
  void solve() {
    for (const auto& [inferred, declared] : compound_) solve(inferred, declared, 0);
  }

  Dim apply(Dim dim) const {
    for (const auto& [symbol, replacement] : bound_) dim = dim.substitute(symbol, replacement);
    return dim;
  }

  bool fresh(std::string_view symbol) const {
    std::optional<std::uint64_t> number = fresh_number(symbol);
    return number && *number >= first_fresh_;
  }

 private:
  void match(const Dim& inferred, const Dim& declared) {
    if (inferred.is_constant() || inferred == declared) return;
    std::optional<std::string> symbol = inferred.symbol_name();
    if (!symbol) {
      compound_.emplace_back(inferred, declared);
    } else if (fresh(*symbol) && apply(inferred) == inferred) {
      bound_.emplace_back(*symbol, declared);
    }
  }

  bool solve(const Dim& inferred, const Dim& declared, std::size_t depth) {
    Dim now = apply(inferred);
    if (now == declared) return true;
    std::vector<std::string> symbols = now.symbols();
    auto open = std::find_if(symbols.begin(), symbols.end(), [this](const std::string& s) { return fresh(s); });
    std::vector<std::string> candidates = declared.symbols();
    if (open == symbols.end() || depth >= solved_symbols || candidates.size() > candidate_symbols) return false;
    for (const std::string& candidate : candidates) {
      bound_.emplace_back(*open, Dim::symbol(candidate));
      if (solve(inferred, declared, depth + 1)) return true;
      bound_.pop_back();
    }
    return false;
  }

  std::uint64_t first_fresh_;
  std::vector<std::pair<std::string, Dim>> bound_;
  std::vector<std::pair<Dim, Dim>> compound_;
};

// `inferred` with gaps filled from `declared`, fresh symbols replaced.
Type merged(const Type& inferred, const Type& declared, const Matching& matching) {
  if (inferred.kind == TypeKind::unknown) return declared;
  Type out = inferred;
  bool same_kind = inferred.kind == declared.kind;
  if (same_kind && out.dtype == DType::none) out.dtype = declared.dtype;
  if (out.shape) {
    for (Dim& dim : *out.shape) dim = matching.apply(dim);
  } else if (same_kind && out.dtype == declared.dtype) {
    out.shape = declared.shape;
  }
  if (out.element) out.element = std::make_shared<const Type>(merged(*out.element, same_kind && declared.element ? *declared.element : Type{}, matching));
  return out;
}

void collect_symbols(const Type& type, std::vector<std::string>& out) {
  if (type.element) collect_symbols(*type.element, out);
  if (!type.shape) return;
  for (const Dim& dim : *type.shape) {
    if (dim.is_constant()) continue;
    for (std::string& symbol : dim.symbols()) out.push_back(std::move(symbol));
  }
}

// A fresh symbol that no type holds is a name for nothing: such an element is not known.
void drop_loose_symbols(std::vector<std::optional<expr::DimTensor>>& dims, const std::vector<Type>& types, const Matching& matching) {
  std::vector<std::string> bound;
  for (const Type& type : types) collect_symbols(type, bound);
  auto loose = [&](const std::string& symbol) { return matching.fresh(symbol) && std::find(bound.begin(), bound.end(), symbol) == bound.end(); };
  for (std::optional<expr::DimTensor>& tensor : dims) {
    if (!tensor) continue;
    for (std::optional<Dim>& element : tensor->elements) {
      if (!element || element->is_constant()) continue;
      std::vector<std::string> symbols = element->symbols();
      if (std::any_of(symbols.begin(), symbols.end(), loose)) element.reset();
    }
  }
}

}  // namespace

bool contradicts(const Type& type, const Type& declared) {
  if (declared.kind == TypeKind::unknown) return false;
  if (type.kind != declared.kind || type.dtype != declared.dtype) return true;
  if (type.element && declared.element && contradicts(*type.element, *declared.element)) return true;
  if (!type.shape || !declared.shape) return false;
  if (type.rank() != declared.rank()) return true;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const Dim& wanted = (*declared.shape)[i];
    if (!((*type.shape)[i] == wanted) && !wanted.symbol_name()) return true;
  }
  return false;
}

std::optional<std::uint64_t> fresh_number(std::string_view symbol) {
  if (symbol.size() < 2 || symbol[0] != '#' || symbol.size() > fresh_digits + 1) return std::nullopt;
  std::uint64_t number = 0;
  for (char c : symbol.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

std::vector<std::uint64_t> fresh_numbers(const Type& type) {
  std::vector<std::string> symbols;
  collect_symbols(type, symbols);
  std::vector<std::uint64_t> numbers;
  for (const std::string& symbol : symbols) {
    if (auto number = fresh_number(symbol)) numbers.push_back(*number);
  }
  return numbers;
}

Dim FreshNumbers::next() { return Dim::symbol(text("#", next_++)); }

void FreshNumbers::keep(const Type& type) {
  for (std::uint64_t number : fresh_numbers(type)) next_ = std::max(next_, number + 1);
}

Result<InferredOutputs> infer_node(const OpDef& op, const Attributes& attributes, std::span<const InputFact> inputs, std::size_t output_count,
                                   std::span<const Type> declared, FreshNumbers& fresh) {
  Matching matching(fresh.next_number());
  NestedTypes nested(fresh);
  OpContext context(op, attributes, inputs, output_count, &fresh, &nested);
  IT_TRY(std::vector<Type> inferred, infer_types(context));
  std::size_t hints = std::min(inferred.size(), declared.size());
  for (std::size_t i = 0; i < hints; ++i) matching.match(inferred[i], declared[i]);
  matching.solve();

  InferredOutputs out;
  for (std::size_t i = 0; i < inferred.size(); ++i) {
    out.types.push_back(merged(inferred[i], i < hints ? declared[i] : Type{}, matching));
    if (i < hints && contradicts(out.types[i], declared[i])) {
      out.conflicts.push_back(text("output ", i, " is ", to_string(out.types[i]), ", declared ", to_string(declared[i])));
    }
  }
  out.dims = propagate_dims(context, out.types);
  drop_loose_symbols(out.dims, out.types, matching);
  return out;
}

}  // namespace infini
