// Small integer tensors followed through symbolic dimensions.
#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

DimTensor vector_of(std::vector<std::optional<Dim>> elements) {
  auto count = static_cast<std::int64_t>(elements.size());
  return {{count}, std::move(elements)};
}

std::string shown(const std::optional<DimTensor>& tensor) {
  if (!tensor) return "nothing";
  std::string out;
  for (const std::optional<Dim>& element : tensor->elements) out += (out.empty() ? "" : " ") + (element ? element->to_string() : "?");
  return out;
}

std::optional<DimTensor> followed(const Program& program, const std::vector<const DimTensor*>& inputs) { return evaluate_dims(program, 0, inputs); }

const Dim batch = Dim::symbol("batch");
const Dim seq = Dim::symbol("seq");

TEST_CASE("a shape is gathered, scaled and joined with constants") {
  // Shape -> Gather([0, 1]) -> Mul(2) -> Concat with [-1]
  ProgramBuilder p;
  TensorRef shape = p.input(DType::i64, {3}), at_axis = p.input(DType::i64, {2});
  TensorRef gathered = p.define(DType::i64, {2}, [&](const Indices& at) { return shape({at_axis(at)}) * index(2); });
  p.output(p.define(DType::i64, {3}, [&](const Indices& at) { return select(less(at[0], index(2)), gathered(at), index(-1)); }));
  Program program = std::move(p).finish();
  DimTensor dims = vector_of({batch, seq + Dim(1), Dim(64)}), axes = vector_of({Dim(1), Dim(0)});
  CHECK(shown(followed(program, {&dims, &axes})) == (Dim(2) * seq + Dim(2)).to_string() + " " + (Dim(2) * batch).to_string() + " -1");
  CHECK(shown(followed(program, {&dims, nullptr})) == "? ? -1");
  CHECK(shown(followed(program, {nullptr, &axes})) == "? ? -1");
}

TEST_CASE("a dimension of the program itself is a value") {
  ProgramBuilder p;
  p.input(DType::f32, {batch, 3, seq});
  p.output(p.define(DType::i64, {2}, [&](const Indices& at) { return select(equal(at[0], index(0)), index(batch), index(seq) + index(batch)); }));
  CHECK(shown(followed(std::move(p).finish(), {nullptr})) == "batch " + (batch + seq).to_string());
}

TEST_CASE("a product of dimensions, as Size or ReduceProd") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {3});
  p.output(p.define(DType::i64, {}, [&](const Indices&) { return p.reduce(Op::prod, 3, [&](Expr k) { return x({k}); }); }));
  DimTensor dims = vector_of({batch, Dim(4), seq});
  CHECK(shown(followed(std::move(p).finish(), {&dims})) == (Dim(4) * batch * seq).to_string());
}

std::string binary_of(Op op, const Dim& a, const Dim& b, DType dtype = DType::i64) {
  ProgramBuilder p;
  TensorRef x = p.input(dtype, {2});
  DType result = op == Op::lt || op == Op::le || op == Op::eq ? DType::boolean : dtype;
  p.output(p.define(result, {}, [&](const Indices&) { return binary(op, x({index(0)}), x({index(1)})); }));
  DimTensor both = vector_of({a, b});
  return shown(followed(std::move(p).finish(), {&both}));
}

TEST_CASE("division is followed where its meaning is certain") {
  CHECK(binary_of(Op::div, batch * Dim(6), Dim(3)) == (Dim(2) * batch).to_string());
  CHECK(binary_of(Op::div, batch, Dim(2)) == infini::floor_div(batch, Dim(2)).to_string());
  CHECK(binary_of(Op::floor_div, batch - Dim(5), Dim(2)) == infini::floor_div(batch - Dim(5), Dim(2)).to_string());
  CHECK(binary_of(Op::div, batch - Dim(5), Dim(2)) == "?");  // truncates or floors? it depends on the sign
  CHECK(binary_of(Op::div, batch, seq) == "?");              // seq may be 0
  CHECK(binary_of(Op::div, batch * seq, seq) == "batch");
  CHECK(binary_of(Op::floor_mod, batch * Dim(4) + Dim(3), Dim(2)) == "1");
  CHECK(binary_of(Op::div, Dim(-7), Dim(2)) == "-3");
  CHECK(binary_of(Op::div, Dim(7), Dim(0)) == "0");
}

TEST_CASE("comparisons are decided only when certain") {
  CHECK(binary_of(Op::lt, batch, batch + Dim(1)) == "1");
  CHECK(binary_of(Op::lt, batch, seq) == "?");
  CHECK(binary_of(Op::le, Dim(0), batch) == "1");
  CHECK(binary_of(Op::lt, Dim(0), batch) == "?");
  CHECK(binary_of(Op::lt, batch, Dim(0)) == "0");
  CHECK(binary_of(Op::eq, batch, batch) == "1");
  CHECK(binary_of(Op::eq, batch + Dim(2), batch) == "0");
  CHECK(binary_of(Op::eq, batch, Dim(-1)) == "0");
  CHECK(binary_of(Op::eq, batch, Dim(4)) == "?");
  CHECK(binary_of(Op::minimum, batch, Dim(0)) == "0");
}

TEST_CASE("casts: between index types a dimension is kept, a constant goes through floats") {
  auto cast_chain = [](const Dim& value, DType through) {
    ProgramBuilder p;
    TensorRef x = p.input(DType::i64, {1});
    p.output(p.define(DType::i64, {1}, [&](const Indices& at) { return cast(DType::i64, cast(through, x(at))); }));
    DimTensor in = vector_of({value});
    return shown(followed(std::move(p).finish(), {&in}));
  };
  CHECK(cast_chain(batch, DType::i32) == "batch");
  CHECK(cast_chain(batch, DType::i8) == "?");
  CHECK(cast_chain(Dim(300), DType::i8) == "44");
  CHECK(cast_chain(batch, DType::f32) == "?");
  CHECK(cast_chain(Dim(16777217), DType::f32) == "16777216");
  // floor(7 * 1.5), as Resize computes an extent
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {1});
  p.output(p.define(DType::i64, {1},
                    [&](const Indices& at) { return cast(DType::i64, unary(Op::floor, cast(DType::f32, x(at)) * constant(DType::f32, 1.5))); }));
  DimTensor in = vector_of({Dim(7)});
  CHECK(shown(followed(std::move(p).finish(), {&in})) == "10");
}

TEST_CASE("an open condition hides only what depends on it") {
  ProgramBuilder p;
  TensorRef x = p.input(DType::i64, {2});
  p.output(p.define(DType::i64, {3}, [&](const Indices& at) {
    Expr open = less(x({index(0)}), x({index(1)}));
    Expr first = select(open, x({index(0)}), x({index(1)})), second = select(open, x({index(0)}), x({index(0)}) + index(0));
    return select(equal(at[0], index(0)), first, select(equal(at[0], index(1)), second, index(9)));
  }));
  DimTensor in = vector_of({batch, seq});
  CHECK(shown(followed(std::move(p).finish(), {&in})) == "? batch 9");
}

TEST_CASE("what is too large or not of constant shape gives nothing") {
  auto copy = [](const Shape& shape) {
    return map_program(DType::i64, shape, DType::i64, shape, [](const TensorRef& x, const Indices& at) { return x(at); });
  };
  CHECK(!followed(copy({65}), {nullptr}).has_value());
  CHECK(shown(followed(copy({64}), {nullptr})).size() == 127);
  CHECK(!followed(copy({batch}), {nullptr}).has_value());
  // A loop of 2^40 steps is given up.
  ProgramBuilder p;
  p.input(DType::i64, {});
  p.output(p.define(DType::i64, {}, [&](const Indices&) { return p.sum(std::int64_t{1} << 40, [&](Expr k) { return k; }); }));
  CHECK(!followed(std::move(p).finish(), {nullptr}).has_value());
  // A sum over an extent that is not a number is not known.
  ProgramBuilder q;
  q.input(DType::i64, {});
  q.output(q.define(DType::i64, {2},
                    [&](const Indices& at) { return select(equal(at[0], index(0)), q.sum(batch, [&](Expr k) { return k; }), index(5)); }));
  CHECK(shown(followed(std::move(q).finish(), {nullptr})) == "? 5");
}

}  // namespace
}  // namespace infini::expr
