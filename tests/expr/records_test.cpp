#include "libcore/expr/records.h"

#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

Program scaled_product() {
  ProgramBuilder p;
  TensorRef a = p.input(DType::f32, {8, 64}), b = p.input(DType::f32, {64, 4});
  TensorRef product = p.define(DType::f32, {8, 4}, [&](const Indices& at) {
    return p.sum(64, [&](Expr k) { return a({at[0], k}) * b({k, at[1]}); });
  });
  p.output(p.define(DType::f16, {8, 4}, [&](const Indices& at) {
    return cast(DType::f16, select(less(at[1], index(3)), product(at) * constant(DType::f32, 0.5), constant(DType::f32, 7)));
  }));
  return std::move(p).finish();
}

TEST_CASE("a program as records: every operand comes first, every field says what the header says") {
  auto made = ProgramRecords::of(scaled_product());
  REQUIRE(made.has_value());
  ProgramRecords records = std::move(*made);
  it_program p = records.view();
  CHECK(p.struct_size == sizeof(it_program));
  REQUIRE(p.input_count == 2);
  CHECK(p.inputs[0].dtype == 1);
  CHECK(p.inputs[1].rank == 2);
  CHECK(std::vector<std::int64_t>(p.inputs[1].extents, p.inputs[1].extents + 2) == std::vector<std::int64_t>{64, 4});
  REQUIRE(p.definition_count == 2);
  CHECK(p.definitions[1].type.dtype == 10);
  CHECK(std::vector<std::int64_t>(p.definitions[1].type.extents, p.definitions[1].type.extents + 2) == std::vector<std::int64_t>{8, 4});
  REQUIRE(p.output_count == 1);
  CHECK(p.outputs[0] == 3);

  const it_instr& sum = p.instrs[p.definitions[0].body];
  CHECK(sum.op == IT_EX_SUM);
  CHECK(sum.dtype == 1);
  CHECK(p.bounds[sum.b] == 64);
  const it_instr& product = p.instrs[sum.a];
  CHECK(product.op == IT_EX_MUL);
  const it_instr& read = p.instrs[product.a];
  CHECK(read.op == IT_EX_READ);
  CHECK(read.i == 0);
  REQUIRE(read.b == 2);
  const it_instr &row = p.instrs[p.operands[read.a]], &depth = p.instrs[p.operands[read.a + 1]];
  CHECK(row.op == IT_EX_ITER);
  CHECK(row.i == p.definitions[0].first_iter);
  CHECK(depth.op == IT_EX_ITER);
  CHECK(depth.i == sum.i);
  CHECK(depth.dtype == 7);

  const it_instr& last = p.instrs[p.definitions[1].body];
  CHECK(last.op == IT_EX_CAST);
  CHECK(last.dtype == 10);
  CHECK(last.i == 0);
  const it_instr& choice = p.instrs[last.a];
  CHECK(choice.op == IT_EX_SELECT);
  CHECK(p.instrs[choice.a].op == IT_EX_LT);
  CHECK(p.instrs[choice.a].dtype == 9);
  CHECK(p.instrs[p.instrs[choice.a].b].op == IT_EX_INT);
  CHECK(p.instrs[p.instrs[choice.a].b].i == 3);
  CHECK(p.instrs[choice.c].op == IT_EX_FLOAT);
  CHECK(p.instrs[choice.c].f == 7);
  CHECK(p.instrs[p.instrs[choice.b].a].op == IT_EX_READ);
  CHECK(p.instrs[p.instrs[choice.b].a].i == 2);

  for (std::int32_t i = 0; i < p.instr_count; ++i) {
    CHECK(p.instrs[i].a < (p.instrs[i].op == IT_EX_READ ? p.operand_count : i));
    if (p.instrs[i].op != IT_EX_READ) CHECK(p.instrs[i].c < i);
  }
}

TEST_CASE("names of operations agree between the language and the records") {
  auto code_of = [](DType dtype, const std::function<Expr(Expr)>& f) {
    Program program =
        map_program(dtype, {2}, f(Expr(constant(dtype, 1))).dtype(), {2}, [&](const TensorRef& x, const Indices& at) { return f(x(at)); });
    auto records = ProgramRecords::of(program);
    REQUIRE(records.has_value());
    it_program view = records->view();
    return view.instrs[view.definitions[0].body].op;
  };
  for (auto [op, code] :
       {std::pair{Op::neg, IT_EX_NEG}, {Op::exp, IT_EX_EXP}, {Op::erf, IT_EX_ERF}, {Op::is_inf, IT_EX_IS_INF}, {Op::reciprocal, IT_EX_RECIPROCAL}}) {
    CHECK(code_of(DType::f32, [which = op](Expr x) { return unary(which, x); }) == code);
  }
  for (auto [op, code] : {std::pair{Op::add, IT_EX_ADD},
                          {Op::fmod, IT_EX_FMOD},
                          {Op::maximum, IT_EX_MAXIMUM},
                          {Op::eq, IT_EX_EQ},
                          {Op::le, IT_EX_LE},
                          {Op::atan2, IT_EX_ATAN2}}) {
    CHECK(code_of(DType::f32, [which = op](Expr x) { return binary(which, x, x); }) == code);
  }
  for (auto [op, code] : {std::pair{Op::logical_and, IT_EX_AND}, {Op::logical_xor, IT_EX_XOR}, {Op::shift_right, IT_EX_SHIFT_RIGHT}}) {
    CHECK(code_of(DType::u8, [which = op](Expr x) { return binary(which, x, x); }) == code);
  }
}

TEST_CASE("a program with an open dimension has no records") {
  Dim n = Dim::symbol("n");
  auto records = ProgramRecords::of(map_program(DType::f32, {n}, DType::f32, {n}, [](const TensorRef& x, const Indices& at) { return x(at); }));
  REQUIRE(!records.has_value());
  CHECK(records.error().kind == ErrorKind::internal);
}

}  // namespace
}  // namespace infini::expr
