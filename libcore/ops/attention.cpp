// Attention: softmax(Q K^T * scale + bias) V per head, with grouped heads, masks and a cache of earlier keys and values.
#include <array>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/ops/meaning.h"
#include "libcore/ops/shape_rules.h"

namespace infini {
namespace {

using namespace expr;

enum Input : std::size_t { in_q, in_k, in_v, in_mask, in_past_key, in_past_value, in_nonpad };
enum Output : std::size_t { out_y, out_key, out_value, out_scores };

// Q, K and V are [batch, heads, sequence, head] or, with 3 axes, [batch, sequence, heads * head].
struct Sizes {
  bool flat = false;  // 3 axes
  Dim batch, queries, past, own, total;  // keys: past ones, those of this node, both
  Dim heads, kv_heads, per_group, head, v_head;
};

// ---- sizes ----------------------------------------------------------------------------------------------------------------------------------

Result<Dim> part(const Dim& whole, std::int64_t count, std::string_view what) {
  if (count < 1) return bad_input(text("attribute '", what, "' is ", count, ", expected at least 1 for inputs of 3 axes"));
  if (std::optional<Dim> exact = exact_div(whole, Dim(count))) return *exact;
  if (whole.is_constant()) return bad_input(text("a last axis of ", whole.to_string(), " is no multiple of ", what, "=", count));
  return floor_div(whole, Dim(count));
}

Status flat_sizes(const OpContext& context, Sizes& s) {
  const Shape &q = *context.shape(in_q), &k = *context.shape(in_k), &v = *context.shape(in_v);
  std::int64_t heads = context.attributes().integer("q_num_heads", 0), kv_heads = context.attributes().integer("kv_num_heads", 0);
  IT_TRY(s.head, part(q[2], heads, "q_num_heads"));
  IT_TRY(Dim k_head, part(k[2], kv_heads, "kv_num_heads"));
  IT_TRY(s.v_head, part(v[2], kv_heads, "kv_num_heads"));
  IT_TRY(s.head, same_dim(s.head, k_head, "elements of a head of Q and of K"));
  s.heads = Dim(heads);
  s.kv_heads = Dim(kv_heads);
  s.queries = q[1];
  IT_TRY(s.own, same_dim(k[1], v[1], "keys and values"));
  return {};
}

Status split_sizes(const OpContext& context, Sizes& s) {
  const Shape &q = *context.shape(in_q), &k = *context.shape(in_k), &v = *context.shape(in_v);
  IT_TRY(s.head, same_dim(q[3], k[3], "elements of a head of Q and of K"));
  IT_TRY(s.kv_heads, same_dim(k[1], v[1], "heads of K and of V"));
  IT_TRY(s.own, same_dim(k[2], v[2], "keys and values"));
  s.heads = q[1];
  s.queries = q[2];
  s.v_head = v[3];
  return {};
}

Status past_sizes(const OpContext& context, Sizes& s) {
  s.total = s.own;
  if (!context.has(in_past_key)) return {};
  const Shape *key = context.shape(in_past_key), *value = context.shape(in_past_value);
  if (!key || !value || key->size() != 4 || value->size() != 4) {
    return bad_input(text("past_key is ", to_string(context.type(in_past_key)), ", past_value is ", to_string(context.type(in_past_value)), ", expected 4 axes each"));
  }
  IT_TRY(s.kv_heads, same_dim(s.kv_heads, (*key)[1], "heads of K and of past_key"));
  IT_TRY(s.past, same_dim((*key)[2], (*value)[2], "past keys and values"));
  IT_TRY(s.head, same_dim(s.head, (*key)[3], "elements of a head of K and of past_key"));
  IT_TRY(s.v_head, same_dim(s.v_head, (*value)[3], "elements of a head of V and of past_value"));
  s.total = s.past + s.own;
  return {};
}

Status check_mask(const OpContext& context, const Sizes& s) {
  const Shape* mask = context.shape(in_mask);
  if (!mask) return {};
  Shape scores = {s.batch, s.heads, s.queries, s.total};
  if (mask->empty() || mask->size() > 4) return bad_input(text("attn_mask is ", to_string(*mask), ", expected 1 to 4 axes"));
  std::optional<std::int64_t> have = mask->back().constant(), most = s.total.constant();
  if (have && most && *have > *most) return bad_input(text("attn_mask is ", to_string(*mask), ", scores are ", to_string(scores), "; its last axis is too long"));
  Shape padded = *mask;
  padded.back() = s.total;
  return check_broadcasts_to(padded, scores, "attn_mask");
}

// Whether the shapes of Q, K and V, and of the past ones, are known.
bool shapes_known(const OpContext& context) {
  for (std::size_t i : {in_q, in_k, in_v}) {
    if (!context.shape(i)) return false;
  }
  return !context.has(in_past_key) || (context.shape(in_past_key) && context.shape(in_past_value));
}

Result<Sizes> sizes(const OpContext& context) {
  const Shape &q = *context.shape(in_q), &k = *context.shape(in_k), &v = *context.shape(in_v);
  std::string shapes = text("Q is ", to_string(q), ", K is ", to_string(k), ", V is ", to_string(v));
  Sizes s;
  s.flat = q.size() == 3;
  if ((q.size() != 3 && q.size() != 4) || k.size() != q.size() || v.size() != q.size()) return bad_input(text(shapes, "; expected 3 or 4 axes each"));
  IT_TRY(s.batch, within(shapes, same_dim(q[0], k[0], "batches")));
  IT_TRY(s.batch, within(shapes, same_dim(s.batch, v[0], "batches")));
  IT_TRY_VOID(within(shapes, s.flat ? flat_sizes(context, s) : split_sizes(context, s)));
  IT_TRY_VOID(within(shapes, past_sizes(context, s)));
  std::optional<std::int64_t> heads = s.heads.constant(), kv_heads = s.kv_heads.constant();
  if (heads && kv_heads && (*kv_heads == 0 || *heads % *kv_heads != 0)) return bad_input(text(shapes, "; ", *heads, " heads of Q are no multiple of ", *kv_heads, " of K and V"));
  s.per_group = s.heads == s.kv_heads ? Dim(1) : floor_div(s.heads, s.kv_heads);
  IT_TRY_VOID(check_mask(context, s));
  return s;
}

Result<DType> softmax_type(const OpContext& context) {
  std::int64_t number = context.attributes().integer("softmax_precision", 0);
  if (number == 0) return context.dtype(in_q);
  DType dtype = number > 0 && number < dtype_count ? static_cast<DType>(number) : DType::none;
  if (!dtypes::floats.contains(dtype)) return bad_input(text("attribute 'softmax_precision' is ", number, ", expected 1, 10, 11 or 16"));
  return dtype;
}

Status check_attributes(const OpContext& context) {
  const Attributes& a = context.attributes();
  std::int64_t mode = a.integer("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) return bad_input(text("attribute 'qk_matmul_output_mode' is ", mode, ", expected 0 to 3"));
  for (std::string_view window : {"left_window_size", "right_window_size"}) {
    if (a.integer(window, -1) < -1) return bad_input(text("attribute '", window, "' is ", a.integer(window), ", expected at least -1"));
  }
  if (context.has(in_past_key) != context.has(in_past_value)) return bad_input("past_key and past_value come together or not at all");
  if (context.has(in_past_key) && context.has(in_nonpad)) return bad_input("nonpad_kv_seqlen cannot be combined with past_key and past_value");
  IT_TRY_VOID(softmax_type(context));
  return {};
}

Result<std::vector<Type>> infer(const OpContext& context) {
  IT_TRY_VOID(check_attributes(context));
  DType dtype = context.dtype(in_q), value_dtype = context.dtype(in_v);
  std::vector<Type> types = {Type::tensor(dtype), Type::tensor(dtype), Type::tensor(value_dtype), Type::tensor(dtype)};
  if (!shapes_known(context)) return types;
  IT_TRY(Sizes s, sizes(context));
  types[out_y].shape = s.flat ? Shape{s.batch, s.queries, s.heads * s.v_head} : Shape{s.batch, s.heads, s.queries, s.v_head};
  types[out_key].shape = Shape{s.batch, s.kv_heads, s.total, s.head};
  types[out_value].shape = Shape{s.batch, s.kv_heads, s.total, s.v_head};
  types[out_scores].shape = Shape{s.batch, s.heads, s.queries, s.total};
  return types;
}

// ---- meaning --------------------------------------------------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const OpContext& context, const Sizes& sizes, DType softmax) : context_(context), s_(sizes), t_(context.dtype(in_q)), softmax_(softmax), m_(context) {}

  Program write() && {
    TensorRef keys = with_past(in_k, in_past_key, s_.head), values = with_past(in_v, in_past_value, s_.v_head);
    TensorRef raw = products(keys), capped = cap(raw);
    TensorRef biased = !has_bias() ? capped : m_.define(t_, scores(), [&](const Indices& at) { return capped(at) + bias(at); });
    TensorRef weights = normalised(biased);
    m_.output(result(weights, values));
    TensorRef shown[] = {raw, capped, biased, weights};
    std::size_t wanted = context_.output_count();
    if (wanted > out_key) m_.output(keys);
    if (wanted > out_value) m_.output(values);
    if (wanted > out_scores) m_.output(shown[context_.attributes().integer("qk_matmul_output_mode")]);
    return std::move(m_).finish();
  }

 private:
  Shape scores() const { return {s_.batch, s_.heads, s_.queries, s_.total}; }
  Expr literal(double value) const { return constant(t_, value); }
  Expr masked() const { return literal(-std::numeric_limits<double>::infinity()); }

  // Element (batch, head, row, inside) of Q, K or V.
  Expr element(std::size_t input, const Indices& at, const Dim& head) const {
    if (!s_.flat) return m_.in(input)(at);
    return m_.in(input)({at[0], at[2], at[1] * index(head) + at[3]});
  }

  // K or V per head, behind the past ones.
  TensorRef with_past(std::size_t input, std::size_t past, const Dim& head) {
    if (!context_.has(past) && !s_.flat) return m_.in(input);
    return m_.define(context_.dtype(input), {s_.batch, s_.kv_heads, s_.total, head}, [&](const Indices& at) {
      if (!context_.has(past)) return element(input, at, head);
      Indices own = at;
      own[2] = at[2] - index(s_.past);
      return select(less(at[2], index(s_.past)), m_.in(past)(at), element(input, own, head));
    });
  }

  // Q and K are multiplied by the root of the scale each.
  Expr root_of_scale() const {
    const float* given = context_.attributes().get<float>("scale");
    Expr scale = given ? constant(DType::f64, static_cast<double>(*given))
                       : unary(Op::reciprocal, unary(Op::sqrt, cast(DType::f64, index(s_.head))));
    return cast(t_, unary(Op::sqrt, scale));
  }

  TensorRef products(const TensorRef& keys) {
    Expr factor = root_of_scale();
    return m_.define(t_, scores(), [&](const Indices& at) {
      Expr group = floor_div(at[1], index(s_.per_group));
      return cast(t_, m_.sum(s_.head, [&](const Expr& d) {
        return wide(element(in_q, {at[0], at[1], at[2], d}, s_.head) * factor) * wide(keys({at[0], group, at[3], d}) * factor);
      }));
    });
  }

  TensorRef cap(const TensorRef& raw) {
    double limit = static_cast<double>(context_.attributes().real("softcap", 0));
    if (!(limit > 0)) return raw;
    return m_.define(t_, scores(), [&](const Indices& at) { return unary(Op::tanh, raw(at) / literal(limit)) * literal(limit); });
  }

  bool causal() const { return context_.attributes().integer("is_causal") != 0; }
  std::int64_t window(std::string_view side) const { return context_.attributes().integer(side, -1); }
  bool has_bias() const {
    return context_.has(in_mask) || context_.has(in_nonpad) || causal() || window("left_window_size") >= 0 || window("right_window_size") >= 0;
  }

  // Whether query and key of a score may meet, by everything but the mask; a null expression if they always may.
  Expr open(const Indices& at) const {
    Expr offset = index(s_.past), all;
    auto also = [&](Expr condition) { all = all ? both(all, condition) : condition; };
    if (context_.has(in_nonpad)) {
      Expr count = m_.in(in_nonpad)({at[0]});
      offset = count - index(s_.queries);
      also(less(at[3], count));
    }
    Expr position = at[2] + offset;
    if (causal()) also(less_equal(at[3], position));
    if (window("left_window_size") >= 0) also(less_equal(position - index(window("left_window_size")), at[3]));
    if (window("right_window_size") >= 0) also(less_equal(at[3], position + index(window("right_window_size"))));
    return all;
  }

  // Added to a score: -inf closes it. A mask shorter than the keys closes the rest.
  Expr bias(const Indices& at) const {
    Expr allowed = open(at), out = literal(0);
    if (context_.has(in_mask)) {
      const TensorRef& mask = m_.in(in_mask);
      Indices from(at.end() - static_cast<std::ptrdiff_t>(mask.rank()), at.end());
      for (std::size_t i = 0; i + 1 < from.size(); ++i) {
        if (mask.shape()[i] == Dim(1)) from[i] = index(0);
      }
      out = mask.dtype() == DType::boolean ? select(mask(from), literal(0), masked()) : cast(t_, mask(from));
      if (!(mask.shape().back() == s_.total)) out = select(less(at[3], index(mask.shape().back())), out, masked());
    }
    return allowed ? select(allowed, out, masked()) : out;
  }

  // Softmax over the keys; zeros for a query that meets no key.
  TensorRef normalised(const TensorRef& logits) {
    Shape rows = {s_.batch, s_.heads, s_.queries};
    auto with_key = [](const Indices& row, const Expr& key) { return Indices{row[0], row[1], row[2], key}; };
    Expr lowest = constant(softmax_, -std::numeric_limits<double>::infinity()), zero = constant(softmax_, 0), unit = constant(softmax_, 1);
    TensorRef highest = m_.define(softmax_, rows, [&](const Indices& row) {
      Expr top = m_.reduce(Op::max, s_.total, [&](const Expr& key) { return cast(softmax_, logits(with_key(row, key))); });
      return select(equal(top, lowest), zero, top);
    });
    TensorRef powers = m_.define(softmax_, scores(), [&](const Indices& at) {
      return unary(Op::exp, cast(softmax_, logits(at)) - highest({at[0], at[1], at[2]}));
    });
    TensorRef totals = m_.define(softmax_, rows, [&](const Indices& row) {
      Expr total = m_.sum(s_.total, [&](const Expr& key) { return powers(with_key(row, key)); });
      return select(equal(total, zero), unit, total);
    });
    TensorRef closed;
    if (has_bias()) {
      closed = m_.define(DType::boolean, rows, [&](const Indices& row) {
        return equal(m_.reduce(Op::max, s_.total, [&](const Expr& key) { return bias(with_key(row, key)); }), masked());
      });
    }
    return m_.define(t_, scores(), [&](const Indices& at) {
      Indices row = {at[0], at[1], at[2]};
      Expr weight = cast(t_, powers(at) / totals(row));
      return has_bias() ? select(closed(row), literal(0), weight) : weight;
    });
  }

  TensorRef result(const TensorRef& weights, const TensorRef& values) {
    DType computed = t_ == DType::f64 || values.dtype() == DType::f64 ? DType::f64 : DType::f32;
    auto at_head = [&](const Expr& batch, const Expr& head, const Expr& query, const Expr& inside) {
      Expr group = floor_div(head, index(s_.per_group));
      return cast(t_, m_.sum(s_.total, [&](const Expr& key) {
        return cast(computed, weights({batch, head, query, key})) * cast(computed, values({batch, group, key, inside}));
      }));
    };
    if (!s_.flat) {
      return m_.define(t_, {s_.batch, s_.heads, s_.queries, s_.v_head}, [&](const Indices& at) { return at_head(at[0], at[1], at[2], at[3]); });
    }
    return m_.define(t_, {s_.batch, s_.queries, s_.heads * s_.v_head}, [&](const Indices& at) {
      return at_head(at[0], floor_div(at[2], index(s_.v_head)), at[1], floor_mod(at[2], index(s_.v_head)));
    });
  }

  const OpContext& context_;
  const Sizes& s_;
  DType t_, softmax_;
  Meaning m_;
};

Result<Program> meaning(const OpContext& context) {
  IT_TRY_VOID(check_attributes(context));
  IT_TRY(Sizes s, sizes(context));
  IT_TRY(DType softmax, softmax_type(context));
  return Writer(context, s, softmax).write();
}

constexpr DTypeSet mask_types = dtypes::numeric | DType::boolean;
constexpr std::array<int, 3> versions = {23, 24, 25};
constexpr std::array<Param, 7> inputs = {
    Param{"Q", dtypes::floats, "T1"},
    Param{"K", dtypes::floats, "T1"},
    Param{"V", dtypes::floats, "T2"},
    Param{"attn_mask", mask_types, "U", Arity::optional},
    Param{"past_key", dtypes::floats, "T1", Arity::optional},
    Param{"past_value", dtypes::floats, "T2", Arity::optional},
    Param{"nonpad_kv_seqlen", DType::i64, {}, Arity::optional},
};
constexpr std::array<Param, 4> outputs = {Param{"Y", dtypes::floats, "T1"}, Param{"present_key", dtypes::floats, "T1", Arity::optional},
                                          Param{"present_value", dtypes::floats, "T2", Arity::optional},
                                          Param{"qk_matmul_output", dtypes::floats, "T1", Arity::optional}};
constexpr std::array<AttributeDef, 9> attributes = {
    int_attribute("is_causal", 0),
    optional_attribute("kv_num_heads", AttributeKind::integer),
    int_attribute("left_window_size", -1),
    optional_attribute("q_num_heads", AttributeKind::integer),
    int_attribute("qk_matmul_output_mode", 0),
    int_attribute("right_window_size", -1),
    optional_attribute("scale", AttributeKind::real),
    real_attribute("softcap", 0),
    optional_attribute("softmax_precision", AttributeKind::integer),
};

const std::array table = {OpDef{"Attention", "Scaled dot-product attention per head", versions, inputs, outputs, attributes, infer, meaning}};

}  // namespace

std::span<const OpDef> attention_ops() { return table; }

}  // namespace infini
