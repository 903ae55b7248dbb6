// RotaryEmbedding: pairs of elements of each head turned by an angle that grows with the position in the sequence.
#include <array>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

// x is [batch, heads, sequence, head] or [batch, sequence, heads * head]; the first `turned` elements of a head are turned.
struct Geometry {
  Dim sequence, head, turned;
};

Result<Geometry> geometry(const OpContext& context) {
  const Shape& x = *context.shape(0);
  if (x.size() != 3 && x.size() != 4) return bad_input(text("input is ", to_string(x), ", expected 3 or 4 axes"));
  Geometry g{x[x.size() - 2], x.back(), x.back()};
  if (x.size() == 3) {
    std::int64_t heads = context.attributes().integer("num_heads", 0);
    if (heads < 1) return bad_input(text("attribute 'num_heads' is ", heads, ", expected at least 1 for an input of 3 axes"));
    std::optional<Dim> head = exact_div(x[2], Dim(heads));
    if (!head && x[2].is_constant()) return bad_input(text("input is ", to_string(x), ", whose last axis num_heads=", heads, " does not divide"));
    g.sequence = x[1];
    g.head = g.turned = head ? *head : floor_div(x[2], Dim(heads));
  }
  std::int64_t turned = context.attributes().integer("rotary_embedding_dim", 0);
  if (turned < 0 || turned % 2 != 0) return bad_input(text("attribute 'rotary_embedding_dim' is ", turned, ", expected an even number >= 0"));
  if (turned > 0) g.turned = Dim(turned);
  std::optional<std::int64_t> part = g.turned.constant(), whole = g.head.constant();
  if (part && (*part % 2 != 0 || (whole && *part > *whole))) return bad_input(text("a head of ", g.head.to_string(), " elements cannot be turned in ", *part));
  return g;
}

Result<std::vector<Type>> infer(const OpContext& context) {
  if (!context.shape(0)) return infer_same(context);
  IT_TRY(Geometry g, geometry(context));
  std::size_t rank = context.has(3) ? 2 : 3;
  for (std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const Shape* cache = context.shape(i);
    if (!cache) continue;
    std::string_view name = context.op().inputs[i].name;
    if (cache->size() != rank) {
      return bad_input(text("input '", name, "' is ", to_string(*cache), ", expected ", rank, " axes ", rank == 2 ? "with" : "without", " position_ids"));
    }
    IT_TRY_VOID(within(text("input '", name, "' is ", to_string(*cache)), same_dim(floor_div(g.turned, Dim(2)), cache->back(), "half of what is turned, and its last axis")));
  }
  return infer_same(context);
}

Result<Program> meaning(const OpContext& context) {
  IT_TRY(Geometry g, geometry(context));
  const Shape& x = *context.shape(0);
  bool split_heads = x.size() == 4, interleaved = context.attributes().integer("interleaved") != 0;
  Dim half = floor_div(g.turned, Dim(2));
  Meaning m(context);
  if (context.has(3)) require_in_range(m, m.in(3), [&](const Indices&) { return (*context.shape(1))[0]; });
  m.output(m.define(context.dtype(0), x, [&](const Indices& at) {
    Expr position = at[split_heads ? 2 : 1];
    Expr own = split_heads ? at[3] : floor_mod(at[2], index(g.head));  // inside the head
    auto element = [&](Expr inside) {
      Indices from = at;
      from.back() = split_heads ? inside : (at[2] - own) + inside;
      return m.in(0)(from);
    };
    Expr pair = interleaved ? floor_div(own, index(2)) : floor_mod(own, index(half));
    Expr is_first = interleaved ? equal(floor_mod(own, index(2)), index(0)) : less(own, index(half));
    Expr first = element(interleaved ? pair * index(2) : pair), second = element(interleaved ? pair * index(2) + index(1) : pair + index(half));
    auto angle = [&](std::size_t i) {
      if (!context.has(3)) return m.in(i)({at[0], position, pair});
      return m.in(i)({from_either_end(m.in(3)({at[0], position}), (*context.shape(1))[0]), pair});
    };
    Expr cosine = angle(1), sine = angle(2);
    Expr turned = select(is_first, cosine * first - sine * second, sine * first + cosine * second);
    return g.turned == g.head ? turned : select(less(own, index(g.turned)), turned, m.in(0)(at));
  }));
  return std::move(m).finish();
}

constexpr DTypeSet types = dtypes::floats - DType::f64;
constexpr std::array<int, 1> versions = {23};
constexpr std::array<Param, 4> inputs = {Param{"X", types, "T"}, Param{"cos_cache", types, "T"}, Param{"sin_cache", types, "T"},
                                         Param{"position_ids", DType::i64, {}, Arity::optional}};
constexpr std::array<Param, 1> outputs = {Param{"Y", types, "T"}};
constexpr std::array<AttributeDef, 3> attributes = {int_attribute("interleaved", 0), optional_attribute("num_heads", AttributeKind::integer),
                                                    int_attribute("rotary_embedding_dim", 0)};

const std::array table = {OpDef{"RotaryEmbedding", "Pairs of elements turned by an angle per position", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> rotary_embedding_ops() { return table; }

}  // namespace infini
