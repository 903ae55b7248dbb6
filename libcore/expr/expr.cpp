#include "libcore/expr/expr.h"

#include <array>
#include <utility>

#include "libcore/base/result.h"
#include "libcore/expr/operations.h"

namespace infini::expr {
namespace {

constexpr std::array<std::string_view, 56> names = {
    "literal", "dim",        "iter",        "read",        "cast",       "select",      "sum",        "prod",        "max",     "min",
    "add",     "sub",        "mul",         "div",         "floor_div",  "floor_mod",   "fmod",       "pow",         "minimum", "maximum",
    "eq",      "lt",         "le",          "logical_and", "logical_or", "logical_xor", "shift_left", "shift_right", "atan2",   "neg",
    "abs",     "sign",       "logical_not", "exp",         "log",        "sqrt",        "sin",        "cos",         "tan",     "asin",
    "acos",    "atan",       "sinh",        "cosh",        "tanh",       "asinh",       "acosh",      "atanh",       "erf",     "floor",
    "ceil",    "round_even", "trunc",       "is_nan",      "is_inf",     "reciprocal"};
constexpr std::size_t op_count = static_cast<std::size_t>(Op::reciprocal) + 1;
static_assert(!names[op_count - 1].empty());

Expr make(Term term) { return Expr(std::make_shared<Term>(std::move(term))); }

Expr literal(DType dtype, Number value) {
  Term term;
  term.dtype = dtype;
  term.real = value.real;
  term.integer = value.integer;
  return make(std::move(term));
}

bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }
bool is_literal(const Expr& e) { return e.term()->op == Op::literal; }
bool is_integer_literal(const Expr& e, std::int64_t value) { return is_literal(e) && is_whole(e.dtype()) && e.term()->integer == value; }

// Dimensions saturate where integers wrap; such a value is none of theirs.
bool is_saturated(const Dim& dim) { return dim == Dim(dim_limit) || dim == Dim(-dim_limit); }

// A dimension or an i64 literal, as a dimension.
std::optional<Dim> as_dim(const Expr& e) {
  if (e.dtype() != DType::i64 || !(e.term()->op == Op::dim || is_literal(e))) return std::nullopt;
  Dim dim = is_literal(e) ? Dim(e.term()->integer) : e.term()->dim;
  return is_saturated(dim) ? std::nullopt : std::optional(dim);
}

std::optional<Dim> fold_dims(Op op, const Dim& a, const Dim& b) {
  if (holds(OpList<Op::floor_div, Op::floor_mod>{}, op) && b == Dim(0)) return std::nullopt;
  if (op == Op::add) return a + b;
  if (op == Op::sub) return a - b;
  if (op == Op::mul) return a * b;
  if (op == Op::floor_div) return infini::floor_div(a, b);
  if (op == Op::floor_mod) return infini::floor_mod(a, b);
  if (op == Op::minimum) return infini::min(a, b);
  if (op == Op::maximum) return infini::max(a, b);
  return std::nullopt;
}

// Neutral and absorbing operands of an integer operation; a null handle if there are none.
Expr without_neutral(Op op, const Expr& a, const Expr& b) {
  DType dtype = a.dtype();
  if (op == Op::add && is_integer_literal(b, 0)) return a;
  if (op == Op::add && is_integer_literal(a, 0)) return b;
  if (op == Op::sub && is_integer_literal(b, 0)) return a;
  if (op == Op::mul && (is_integer_literal(a, 0) || is_integer_literal(b, 1))) return a;
  if (op == Op::mul && (is_integer_literal(b, 0) || is_integer_literal(a, 1))) return b;
  if ((op == Op::div || op == Op::floor_div) && is_integer_literal(b, 1)) return a;
  if ((op == Op::floor_mod || op == Op::fmod) && is_integer_literal(b, 1)) return constant_int(dtype, 0);
  if (dtype != DType::boolean) return {};
  if (op == Op::logical_and && (is_integer_literal(a, 0) || is_integer_literal(b, 1))) return a;
  if (op == Op::logical_and && (is_integer_literal(b, 0) || is_integer_literal(a, 1))) return b;
  if (op == Op::logical_or && (is_integer_literal(a, 1) || is_integer_literal(b, 0))) return a;
  if (op == Op::logical_or && (is_integer_literal(b, 1) || is_integer_literal(a, 0))) return b;
  return {};
}

bool takes(Op op, DType operand, bool two) {
  if (op == Op::eq) return true;
  if (is_floating(operand)) {
    if (two) return holds(RealBinaryOps{}, op) || holds(CompareOps{}, op);
    return holds(RealUnaryOps{}, op) || holds(RealTestOps{}, op);
  }
  if (!is_whole(operand)) return false;
  return two ? holds(IntBinaryOps{}, op) || holds(CompareOps{}, op) : holds(IntUnaryOps{}, op);
}

}  // namespace

bool is_reduction(Op op) { return op >= Op::sum && op <= Op::min; }
bool is_binary(Op op) { return op >= Op::add && op <= Op::atan2; }
bool is_unary(Op op) { return op >= Op::neg; }
std::string_view name(Op op) { return names[static_cast<std::size_t>(op)]; }

Term::~Term() {
  std::vector<Ref> pending = std::move(args);
  while (!pending.empty()) {
    Ref last = std::move(pending.back());
    pending.pop_back();
    if (last.use_count() != 1 || last->args.empty()) continue;
    auto& inner = const_cast<Term&>(*last).args;  // nobody else holds it, and it is about to go
    pending.insert(pending.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
    inner.clear();
  }
}

Expr constant(DType dtype, double value) {
  IT_CHECK(is_floating(dtype) || is_whole(dtype));
  return literal(dtype, convert(DType::f64, dtype, {value, 0}, {}));
}

Expr constant_int(DType dtype, std::int64_t value) {
  IT_CHECK(is_floating(dtype) || is_whole(dtype));
  return literal(dtype, convert(DType::i64, dtype, {0, value}, {}));
}

Expr index(std::int64_t value) { return literal(DType::i64, {0, value}); }

Expr index(const Dim& value) {
  if (auto number = value.constant()) return index(*number);
  Term term;
  term.op = Op::dim;
  term.dtype = DType::i64;
  term.dim = value;
  return make(std::move(term));
}

Expr cast(DType dtype, Expr a, ConversionRule rule) {
  DType from = a.dtype();
  if (from == dtype) return a;
  IT_CHECK((is_floating(from) || is_whole(from)) && (is_floating(dtype) || is_whole(dtype)));
  if (is_literal(a) && is_whole(from)) {
    Number value = convert(from, dtype, literal_of(*a.term()), rule);
    Number back = convert(dtype, from, value, {});
    if (is_whole(dtype) || back.integer == a.term()->integer) return literal(dtype, value);
  }
  Term term;
  term.op = Op::cast;
  term.dtype = dtype;
  term.args = {a.term()};
  term.rule = rule;
  return make(std::move(term));
}

Expr select(Expr condition, Expr then, Expr otherwise) {
  IT_CHECK(condition.dtype() == DType::boolean && then.dtype() == otherwise.dtype());
  if (is_literal(condition)) return condition.term()->integer != 0 ? then : otherwise;
  if (then.term() == otherwise.term()) return then;
  Term term;
  term.op = Op::select;
  term.dtype = then.dtype();
  term.args = {condition.term(), then.term(), otherwise.term()};
  return make(std::move(term));
}

Expr unary(Op op, Expr a) {
  DType dtype = a.dtype();
  IT_CHECK(is_unary(op) && takes(op, dtype, false));
  if (is_literal(a) && is_whole(dtype)) return literal(dtype, apply_unary(op, dtype, literal_of(*a.term())));
  Term term;
  term.op = op;
  term.dtype = op == Op::is_nan || op == Op::is_inf ? DType::boolean : dtype;
  term.args = {a.term()};
  return make(std::move(term));
}

Expr binary(Op op, Expr a, Expr b) {
  DType dtype = a.dtype();
  IT_CHECK(is_binary(op) && b.dtype() == dtype && takes(op, dtype, true));
  DType result = holds(CompareOps{}, op) ? DType::boolean : dtype;
  if (is_whole(dtype)) {
    if (is_literal(a) && is_literal(b)) return literal(result, apply_binary(op, dtype, literal_of(*a.term()), literal_of(*b.term())));
    if (Expr simpler = without_neutral(op, a, b)) return simpler;
    auto x = as_dim(a), y = as_dim(b);
    auto folded = x && y ? fold_dims(op, *x, *y) : std::nullopt;
    if (folded && !is_saturated(*folded)) return index(*folded);
  }
  Term term;
  term.op = op;
  term.dtype = result;
  term.args = {a.term(), b.term()};
  return make(std::move(term));
}

Expr TensorRef::operator()(Indices indices) const {
  IT_CHECK(number_ >= 0 && indices.size() == rank());
  Term term;
  term.op = Op::read;
  term.dtype = dtype_;
  term.integer = number_;
  for (const Expr& at : indices) {
    IT_CHECK(at.dtype() == DType::i64);
    term.args.push_back(at.term());
  }
  return make(std::move(term));
}

Expr TensorRef::broadcast(const Indices& indices) const {
  IT_CHECK(indices.size() >= rank());
  Indices own(indices.end() - static_cast<std::ptrdiff_t>(rank()), indices.end());
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    if (shape_[axis] == Dim(1)) own[axis] = index(0);
  }
  return (*this)(std::move(own));
}

Indices ProgramBuilder::fresh_iters(std::size_t count) {
  Indices out;
  for (std::size_t i = 0; i < count; ++i) {
    Term term;
    term.op = Op::iter;
    term.dtype = DType::i64;
    term.integer = program_.iter_count++;
    out.push_back(make(std::move(term)));
  }
  return out;
}

TensorRef ProgramBuilder::input(DType dtype, Shape shape) {
  IT_CHECK(program_.definitions.empty());
  program_.inputs.push_back({dtype, shape});
  return {static_cast<int>(program_.inputs.size()) - 1, dtype, std::move(shape)};
}

TensorRef ProgramBuilder::define(DType dtype, Shape shape, const std::function<Expr(const Indices&)>& element) {
  int first_iter = program_.iter_count;
  Expr body = element(fresh_iters(shape.size()));
  IT_CHECK(body && body.dtype() == dtype);
  program_.definitions.push_back({{dtype, shape}, first_iter, body.term()});
  auto number = static_cast<int>(program_.inputs.size() + program_.definitions.size()) - 1;
  return {number, dtype, std::move(shape)};
}

void ProgramBuilder::require(Shape box, const std::function<Expr(const Indices&)>& condition, std::string message) {
  int first_iter = program_.iter_count;
  Expr body = condition(fresh_iters(box.size()));
  IT_CHECK(body && body.dtype() == DType::boolean);
  program_.requirements.push_back({std::move(box), first_iter, body.term(), std::move(message)});
}

Expr ProgramBuilder::reduce(Op reduction, const Dim& extent, const std::function<Expr(Expr)>& body) {
  return reduce(reduction, Shape{extent}, [&](const Indices& at) { return body(at[0]); });
}

Expr ProgramBuilder::reduce(Op reduction, const Shape& extents, const std::function<Expr(const Indices&)>& body) {
  IT_CHECK(is_reduction(reduction));
  Indices iters = fresh_iters(extents.size());
  Expr out = body(iters);
  IT_CHECK(is_floating(out.dtype()) || is_whole(out.dtype()));
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    Term term;
    term.op = reduction;
    term.dtype = out.dtype();
    term.integer = iters[axis].term()->integer;
    term.dim = extents[axis];
    term.args = {out.term()};
    out = make(std::move(term));
  }
  return out;
}

Expr flat_index(const Indices& indices, const Shape& shape) {
  IT_CHECK(indices.size() == shape.size());
  Expr out = index(0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) out = out * index(shape[axis]) + indices[axis];
  return out;
}

Indices unflatten(Expr flat, const Shape& shape) {
  Indices out(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    out[axis] = axis == 0 ? flat : floor_mod(flat, index(shape[axis]));
    flat = floor_div(flat, index(shape[axis]));
  }
  return out;
}

}  // namespace infini::expr
