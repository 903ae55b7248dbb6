// Random programs: tiles of lanes, and single elements on demand, give the same bits.
#include <cmath>

#include "libcore/tensor/element.h"
#include "tests/expr/helpers.h"

namespace infini::expr {
namespace {

constexpr DType dtypes_used[] = {DType::f32, DType::f16, DType::bf16, DType::f64,     DType::i64, DType::i32,
                                 DType::u8,  DType::i8,  DType::u64,  DType::boolean, DType::i4};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Program program() {
    for (int i = below(3) + 1; i > 0; --i) tensors_.push_back(p_.input(any_dtype(), shape()));
    tensors_.push_back(p_.input(DType::i64, {7}));
    for (int i = below(3) + 1; i > 0; --i) {
      DType dtype = any_dtype();
      TensorRef made = p_.define(dtype, shape(), [&](const Indices& at) {
        iters_ = at;
        shared_.clear();
        return value(dtype, 4);
      });
      tensors_.push_back(made);
      p_.output(made);
    }
    return std::move(p_).finish();
  }

  Tensor input(const TensorInfo& info) {
    Extents extents = *constant_extents(info.shape);
    std::vector<double> elements(static_cast<std::size_t>(*element_count(extents)));
    for (double& element : elements) element = is_floating(info.dtype) ? (below(201) - 100) / 16.0 : below(24) - 8;
    return tensor(info.dtype, std::move(extents), elements);
  }

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

 private:
  DType any_dtype() { return dtypes_used[below(std::size(dtypes_used))]; }

  // Of few and of many elements, with long and with short innermost axes.
  Shape shape() {
    constexpr std::int64_t sizes[] = {1, 2, 3, 5, 7};
    Shape out;
    for (int rank = below(4); rank > 0; --rank) out.push_back(sizes[below(5)]);
    if (!out.empty()) out.back() = lengths[below(6)];
    return out;
  }

  // Near the end of some axis.
  Expr bound() { return index(lengths[below(6)] + below(5) - 3); }

  Expr any_index() { return iters_.empty() ? index(below(5) - 1) : iters_[static_cast<std::size_t>(below(static_cast<int>(iters_.size())))]; }

  // Affine or not, in range or not.
  Expr index_expression(int depth) {
    Expr a = any_index(), b = any_index();
    switch (below(depth > 0 ? 11 : 6)) {
      case 0:
        return a;
      case 1:
        return below(3) == 0 ? bound() - a : a + index(below(9) - 4);
      case 2:
        return a * index(below(5) - 2) + b;
      case 3:
        return floor_div(a + b, index(below(6) + 1));
      case 4:
        return floor_mod(a - b, index(below(6) + 1));
      case 5:
        return index(below(4));
      case 6:
        return maximum(minimum(a, bound()), b - index(3));
      case 7:
        return binary(Op::div, a - index(4), index(3));
      case 8:
        return select(binary(below(2) == 0 ? Op::lt : Op::le, a, below(2) == 0 ? bound() : b + index(below(50) - 20)), a, index_expression(0));
      case 9:
        return cast(DType::i64, value(DType::i32, depth - 1));
      default:
        return tensors_[static_cast<std::size_t>(index_tensor())]({floor_mod(a, index(9))});
    }
  }

  int index_tensor() const {
    for (const TensorRef& tensor : tensors_) {
      if (tensor.dtype() == DType::i64 && tensor.rank() == 1) return tensor.number();
    }
    return -1;
  }

  Expr read(DType dtype, int depth) {
    const TensorRef& from = tensors_[static_cast<std::size_t>(below(static_cast<int>(tensors_.size())))];
    Indices at;
    for (std::size_t axis = 0; axis < from.rank(); ++axis) at.push_back(index_expression(depth - 1));
    return cast(dtype, from(std::move(at)));
  }

  Expr reduction(DType dtype, int depth) {
    constexpr Op ops[] = {Op::sum, Op::prod, Op::max, Op::min};
    constexpr std::int64_t extents[] = {0, 1, 2, 3, 5};
    Indices outside = iters_;
    std::vector<Expr> shared = std::move(shared_);
    Shape box(static_cast<std::size_t>(below(2) + 1), Dim(0));
    for (Dim& extent : box) extent = extents[below(5)];
    Expr out = p_.reduce(ops[below(4)], box, [&](const Indices& at) {
      iters_.insert(iters_.end(), at.begin(), at.end());
      shared_.clear();
      return value(dtype, depth - 1);
    });
    iters_ = std::move(outside);
    shared_ = std::move(shared);
    return out;
  }

  Expr condition(int depth) {
    constexpr Op ops[] = {Op::eq, Op::lt, Op::le};
    DType of = any_dtype();
    return below(2) == 0 ? binary(ops[below(3)], index_expression(0), index_expression(0))
                         : binary(ops[below(3)], value(of, depth - 1), value(of, depth - 1));
  }

  Expr operation(DType dtype, int depth) {
    constexpr Op real[] = {Op::add, Op::sub, Op::mul, Op::div, Op::minimum, Op::maximum, Op::floor_mod, Op::floor_div};
    constexpr Op whole[] = {Op::add,     Op::sub,     Op::mul,         Op::div,         Op::floor_div,  Op::floor_mod,   Op::fmod,
                            Op::minimum, Op::maximum, Op::logical_and, Op::logical_xor, Op::shift_left, Op::shift_right, Op::pow};
    constexpr Op real_unary[] = {Op::neg, Op::abs, Op::sign, Op::exp, Op::sqrt, Op::tanh, Op::floor, Op::round_even, Op::reciprocal};
    constexpr Op whole_unary[] = {Op::neg, Op::abs, Op::sign, Op::logical_not};
    if (below(4) == 0) {
      Expr a = value(dtype, depth - 1);
      return is_floating(dtype) ? unary(real_unary[below(9)], a) : unary(whole_unary[below(4)], a);
    }
    Expr a = value(dtype, depth - 1), b = value(dtype, depth - 1);
    return is_floating(dtype) ? binary(real[below(8)], a, b) : binary(whole[below(14)], a, b);
  }

  // Sometimes a term made before, so that programs are no trees.
  Expr value(DType dtype, int depth) {
    for (const Expr& made : shared_) {
      if (made.dtype() == dtype && below(4) == 0) return made;
    }
    Expr out = fresh_value(dtype, depth);
    shared_.push_back(out);
    return out;
  }

  Expr fresh_value(DType dtype, int depth) {
    if (depth <= 0) return below(3) == 0 ? constant(dtype, below(9) - 4) : cast(dtype, below(2) == 0 ? any_index() : read(dtype, 0));
    switch (below(8)) {
      case 0:
        return read(dtype, depth);
      case 1:
        return reduction(dtype, depth);
      case 2:
        return select(condition(depth - 1), value(dtype, depth - 1), value(dtype, depth - 1));
      case 3:
        return cast(dtype, value(any_dtype(), depth - 1));
      case 4:
        return cast(dtype, index_expression(depth - 1));
      default:
        return operation(dtype, depth);
    }
  }

  static constexpr std::int64_t lengths[] = {1, 4, 30, 61, 130, 300};
  std::mt19937 random_;
  ProgramBuilder p_;
  std::vector<TensorRef> tensors_;
  Indices iters_;
  std::vector<Expr> shared_;
};

std::vector<std::int64_t> position(std::int64_t flat, const Extents& extents) {
  std::vector<std::int64_t> at(extents.size());
  for (std::size_t axis = at.size(); axis-- > 0; flat /= extents[axis]) at[axis] = flat % extents[axis];
  return at;
}

std::int64_t number_of(std::span<const std::int64_t> at, const Extents& extents) {
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) flat = flat * extents[axis] + at[axis];
  return flat;
}

bool same_bits(const Tensor& tensor, std::int64_t element, const Number& value) {
  DType dtype = tensor.dtype();
  std::uint64_t bits = load_bits(dtype, tensor.bytes().data(), element);
  if (!is_floating(dtype)) return bits == encode_int(dtype, value.integer);
  return std::isnan(value.real) ? std::isnan(decode_float(dtype, bits)) : bits == encode_float(dtype, value.real);
}

TEST_CASE("random programs give the same bits both ways") {
  for (unsigned seed = 0; seed < 6000; ++seed) {
    Generator generator(seed);
    Program program = generator.program();
    std::vector<Tensor> inputs;
    for (const TensorInfo& info : program.inputs) inputs.push_back(generator.input(info));
    CAPTURE(seed);
    std::vector<Tensor> outputs = run_all(program, inputs);
    auto single = elements<Typed>(program, [&inputs](int tensor, std::span<const std::int64_t> at) {
      const Tensor& input = inputs[static_cast<std::size_t>(tensor)];
      std::int64_t element = number_of(at, input.extents());
      return Number{input.as_double(element), input.as_int(element)};
    });
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& output = outputs[i];
      std::int64_t step = output.count() / 200 + 1;
      for (std::int64_t element = 0; element < output.count(); element += step) {
        Number value = single(i, position(element, output.extents()));
        if (same_bits(output, element, value)) continue;
        INFO(to_string(program));
        FAIL("output ", i, " element ", element, ": ", output.as_double(element), ", alone ", value.real, " or ", value.integer);
      }
    }
  }
}

}  // namespace
}  // namespace infini::expr
