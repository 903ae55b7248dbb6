#include "libcore/tensor/tensor.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace infini;

TEST_CASE("types survive their text form") {
  for (const char* text : {"f32[1,batch,3]", "f32[?]", "i64[]", "seq(i64[2])", "optional(seq(str[n]))", "map(i64,f32[])", "unknown",
                           "sparse(f32[4,n])", "bool['?',floordiv(n,2)+1]", "seq(unknown)", "f8e4m3fn[2]", "c128[0]"}) {
    Result<Type> type = parse_type(text);
    REQUIRE_MESSAGE(type.has_value(), std::string(text));
    CHECK(to_string(*type) == text);
    CHECK(*type == *parse_type(text));
  }
  CHECK_FALSE(*parse_type("f32[2]") == *parse_type("f32[3]"));
  CHECK_FALSE(*parse_type("seq(f32[2])") == *parse_type("seq(f64[2])"));
}

TEST_CASE("malformed types are refused") {
  for (const char* text : {"", "f33[2]", "f32", "f32[2", "f32[2,]", "f32[?,2]", "seq(f32[2]", "map(f99,f32[])", "none[2]", "f32[2]x", "sparse(seq(f32[]))"}) {
    CAPTURE(text);
    Result<Type> type = parse_type(text);
    REQUIRE_FALSE(type.has_value());
    CHECK(type.error().kind == ErrorKind::bad_input);
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "seq(";
  CHECK_FALSE(parse_type(deep).has_value());
}

TEST_CASE("tensors count their elements and refuse what cannot be") {
  CHECK(element_count(Extents{}) == 1);
  CHECK(element_count(Extents{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}) == 0);
  CHECK_FALSE(element_count(Extents{std::int64_t{1} << 40, std::int64_t{1} << 40}).has_value());
  CHECK_FALSE(element_count(Extents{-1, 0}).has_value());
  CHECK_FALSE(element_count(Extents{dim_limit, 0}).has_value());
  CHECK(element_count(Extents{dim_limit - 1, 0}) == 0);
  CHECK(Tensor::zeros(DType::f32, {-1}).error().kind == ErrorKind::run_failed);
  CHECK(Tensor::zeros(DType::f64, {std::int64_t{1} << 60}).error().kind == ErrorKind::run_failed);
  CHECK(Tensor::zeros(DType::u8, {std::int64_t{1} << 60}).error().kind == ErrorKind::run_failed);
  Result<Tensor> zeros = Tensor::zeros(DType::f32, {2, 3});
  REQUIRE(zeros.has_value());
  CHECK(zeros->bytes().size() == 24);
  CHECK(reinterpret_cast<std::uintptr_t>(zeros->bytes().data()) % 64 == 0);
  CHECK(zeros->as_double(5) == 0);
  CHECK(Tensor::zeros(DType::u4, {3})->bytes().size() == 2);
  CHECK(Tensor::owning(DType::f32, {2}, std::vector<std::byte>(7)).error().kind == ErrorKind::bad_input);
}

TEST_CASE("elements of every type read and write as numbers") {
  for (int i = 1; i < dtype_count; ++i) {
    DType dtype = *dtype_from_onnx(i);
    if (dtype == DType::str) continue;
    CAPTURE(name(dtype));
    Result<TensorWriter> writer = TensorWriter::make(dtype, {5});
    REQUIRE(writer.has_value());
    for (std::int64_t at = 0; at < 5; ++at) writer->set_double(at, at % 2 == 0 ? 1 : 0);
    writer->set_int(4, 1);
    Tensor tensor = std::move(*writer).finish();
    CHECK(tensor.count() == 5);
    double least = dtype == DType::f8e8m0 ? 0x1p-127 : 0;
    CHECK(tensor.as_double(0) == 1);
    CHECK(tensor.as_double(1) == least);
    CHECK(tensor.as_double(4) == 1);
    CHECK(tensor.to_ints() == std::vector<std::int64_t>{1, 0, 1, 0, 1});
  }
}

TEST_CASE("numbers convert at their edges") {
  Result<TensorWriter> u64 = TensorWriter::make(DType::u64, {2});
  u64->set_double(0, 0x1p63);
  u64->set_int(1, -1);
  CHECK(u64->tensor().as_double(0) == 0x1p63);
  CHECK(u64->tensor().as_double(1) == 0x1p64);
  CHECK(u64->tensor().as_int(1) == -1);
  Result<TensorWriter> i8 = TensorWriter::make(DType::i8, {2});
  i8->set_int(0, 200);
  i8->set_double(1, -1.9);
  CHECK(i8->tensor().to_ints() == std::vector<std::int64_t>{-56, -1});
  Tensor floats = Tensor::of<float>(DType::f32, {3}, {-2.5F, std::numeric_limits<float>::quiet_NaN(), 3e9F});
  CHECK(floats.to_ints() == std::vector<std::int64_t>{-2, 0, 3000000000});
  Tensor complex = Tensor::of<float>(DType::c64, {2}, {1.5F, 2, -3, 4});
  CHECK(complex.as_double(1) == -3);
}

TEST_CASE("strings, reshaping and the types of values") {
  Tensor words = Tensor::of_strings({2}, {"one", "two"});
  CHECK(words.strings()[1] == "two");
  CHECK(to_string(Value(words).type()) == "str[2]");
  Tensor numbers = Tensor::vector_i64({1, 2, 3, 4});
  CHECK(to_string(numbers.reshaped({2, 2}).type()) == "i64[2,2]");
  CHECK(numbers.reshaped({2, 2}).bytes().data() == numbers.bytes().data());
  CHECK(to_string(Tensor::scalar_i64(7).type()) == "i64[]");
  Sequence sequence{Type::tensor(DType::f32), {Value(numbers)}};
  CHECK(to_string(Value(sequence).type()) == "seq(f32[?])");
  Optional nothing{Type::sequence(Type::tensor(DType::f32)), nullptr};
  CHECK(to_string(Value(nothing).type()) == "optional(seq(f32[?]))");
  Map map{DType::str, {"a"}, {}, {Value(words)}};
  CHECK(to_string(Value(map).type()) == "map(str,str[2])");
}
