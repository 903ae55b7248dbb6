// The digests come from element_oracle.py (ml_dtypes and a search for the nearest value); the tables from ONNX's Cast 25.
#include "libcore/tensor/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace infini;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class Fnv {
 public:
  void add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x100000001b3u;
    hash_ ^= hash_ >> 32;
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::vector<double> decoded(DType dtype) {
  std::vector<double> values;
  std::uint64_t count = std::uint64_t{1} << info(dtype).bits;
  for (std::uint64_t bits = 0; bits < count; ++bits) values.push_back(decode_float(dtype, bits));
  return values;
}

// The same numbers, in the same order, as grid() of element_oracle.py.
std::vector<double> grid(DType dtype) {
  std::vector<double> values;
  for (double v : decoded(dtype)) {
    if (std::isfinite(v) && v >= 0) values.push_back(std::abs(v));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<double> middles;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) middles.push_back((values[i] + values[i + 1]) / 2);
  double last = values.back();
  double step = last - values[values.size() - 2];
  for (double end : {last + step / 2, last + step, last * 4}) middles.push_back(end);
  std::vector<double> out = values;
  out.insert(out.end(), middles.begin(), middles.end());
  for (double m : middles) out.push_back(std::nextafter(m, 0.0));
  for (double m : middles) out.push_back(std::nextafter(m, infinity));
  return out;
}

std::uint64_t digest_of_encoding(DType dtype, bool saturate) {
  Fnv fnv;
  std::vector<double> numbers = grid(dtype);
  for (double x : numbers) fnv.add(encode_float(dtype, x, {.saturate = saturate}));
  for (double x : numbers) fnv.add(encode_float(dtype, -x, {.saturate = saturate}));
  return fnv.hash();
}

struct Digests {
  DType dtype;
  std::uint64_t decode, encode, saturate;
};
constexpr std::array<Digests, 7> digests = {{
    {DType::f16, 0x675a38f966a5a730, 0x6deee87771ee6245, 0x6deee87771ee6245},
    {DType::bf16, 0x5ffc2ba218247857, 0x40337e6e7e3790da, 0x40337e6e7e3790da},
    {DType::f8e4m3fn, 0xcd061ef77dc7213d, 0xb67df089170f7cb4, 0xba3ba955cfe867d8},
    {DType::f8e4m3fnuz, 0x55e5b94c97fbf778, 0xf72199a088b15f07, 0xf064dbdf0ca14880},
    {DType::f8e5m2, 0x916e136321a97b80, 0xb4e65b70002c6c3b, 0x6a62e410f142f086},
    {DType::f8e5m2fnuz, 0x83086d6caef1692f, 0xf72199a088b15f07, 0xf064dbdf0ca14880},
    {DType::f4e2m1, 0xdf627ef8153981bc, 0x74d9825c6725feb5, 0x74d9825c6725feb5},
}};

std::uint64_t digest_of_decoding(DType dtype) {
  Fnv fnv;
  for (double v : decoded(dtype)) fnv.add(std::isnan(v) ? 0x7ff8000000000000u : std::bit_cast<std::uint64_t>(v));
  return fnv.hash();
}

}  // namespace

TEST_CASE("every bit pattern of every narrow float decodes as in ml_dtypes") {
  for (const Digests& d : digests) {
    CAPTURE(name(d.dtype));
    CHECK(digest_of_decoding(d.dtype) == d.decode);
  }
  CHECK(digest_of_decoding(DType::f8e8m0) == 0x5f37c66d4114179f);
}

TEST_CASE("encoding rounds once, to nearest, ties to even, with and without saturation") {
  for (const Digests& d : digests) {
    CAPTURE(name(d.dtype));
    CHECK(digest_of_encoding(d.dtype, false) == d.encode);
    CHECK(digest_of_encoding(d.dtype, true) == d.saturate);
  }
}

TEST_CASE("f8e8m0 rounds up or to nearest, and saturates, by the rule of Cast 25") {
  auto digest = [](Rounding rounding, bool saturate) {
    Fnv fnv;
    for (double x : grid(DType::f8e8m0)) fnv.add(encode_float(DType::f8e8m0, x, {saturate, rounding}));
    return fnv.hash();
  };
  CHECK(digest(Rounding::up, true) == 0xb0250d289c365fbd);
  CHECK(digest(Rounding::up, false) == 0xc83d3d800368cb76);
  CHECK(digest(Rounding::nearest_even, true) == 0x12bfd917318817e0);
  CHECK(digest(Rounding::nearest_even, false) == 0x423fd8e448c3d55f);
  auto bits = [](double x, bool saturate, Rounding r) { return encode_float(DType::f8e8m0, x, {saturate, r}); };
  CHECK(bits(0.0, true, Rounding::up) == 0);
  CHECK(bits(0.0, false, Rounding::nearest_even) == 255);
  CHECK(bits(infinity, true, Rounding::up) == 254);
  CHECK(bits(infinity, false, Rounding::nearest_even) == 255);
  CHECK(bits(not_a_number, true, Rounding::up) == 255);
  CHECK(bits(1.99, true, Rounding::down) == 127);
}

TEST_CASE("special values follow the two tables of Cast 25") {
  struct Row {
    DType dtype;
    std::uint64_t minus_zero, nan, infinity_saturated, minus_infinity_saturated, infinity, minus_infinity;
  };
  constexpr std::array<Row, 4> rows = {{
      {DType::f8e4m3fn, 0x80, 0x7f, 0x7e, 0xfe, 0x7f, 0xff},
      {DType::f8e4m3fnuz, 0x00, 0x80, 0x7f, 0xff, 0x80, 0x80},
      {DType::f8e5m2, 0x80, 0x7e, 0x7b, 0xfb, 0x7c, 0xfc},
      {DType::f8e5m2fnuz, 0x00, 0x80, 0x7f, 0xff, 0x80, 0x80},
  }};
  for (const Row& row : rows) {
    CAPTURE(name(row.dtype));
    CHECK(encode_float(row.dtype, -0.0) == row.minus_zero);
    CHECK(encode_float(row.dtype, not_a_number) == row.nan);
    CHECK(encode_float(row.dtype, infinity) == row.infinity_saturated);
    CHECK(encode_float(row.dtype, -infinity) == row.minus_infinity_saturated);
    CHECK(encode_float(row.dtype, infinity, {.saturate = false}) == row.infinity);
    CHECK(encode_float(row.dtype, -infinity, {.saturate = false}) == row.minus_infinity);
  }
  CHECK(encode_float(DType::f16, infinity) == 0x7c00);
  CHECK(encode_float(DType::f16, 65520.0) == 0x7c00);
  CHECK(encode_float(DType::bf16, not_a_number) == 0x7fc0);
  CHECK(encode_float(DType::f4e2m1, -infinity) == 0xf);
}

TEST_CASE("a double goes to f16 in one rounding, not by way of f32") {
  double above_tie = 1.0 + 0x1p-11 + 0x1p-40;
  CHECK(encode_float(DType::f16, above_tie) == 0x3c01);
}

TEST_CASE("integers wrap, keep their sign and truncate toward zero") {
  CHECK(encode_int(DType::i8, 200) == 200);
  CHECK(decode_int(DType::i8, 200) == -56);
  CHECK(decode_int(DType::u8, 200) == 200);
  CHECK(decode_int(DType::i4, 0xf) == -1);
  CHECK(decode_int(DType::i2, 2) == -2);
  CHECK(encode_int(DType::u4, -1) == 0xf);
  CHECK(decode_float(DType::u64, ~std::uint64_t{0}) == 0x1p64);
  CHECK(encode_int(DType::boolean, 36) == 1);
  CHECK(truncate_to_int(-2.9) == -2);
  CHECK(truncate_to_int(not_a_number) == 0);
  CHECK(truncate_to_int(1e30) == std::numeric_limits<std::int64_t>::max());
  CHECK(truncate_to_int(-1e30) == std::numeric_limits<std::int64_t>::min());
  CHECK(round_to(DType::i8, 300.7) == 44);
  CHECK(round_to(DType::f8e4m3fn, 0.47892547) == 0.46875);
  CHECK(round_to(DType::boolean, -3.5) == 1);
}

TEST_CASE("rounding leaves alone what the type holds") {
  for (int number = 1; number < dtype_count; ++number) {
    DType dtype = *dtype_from_onnx(number);
    if (!is_floating(dtype) || info(dtype).bits > 16) continue;
    CAPTURE(name(dtype));
    for (double v : decoded(dtype)) {
      double rounded = round_to(dtype, v);
      REQUIRE((rounded == v || (std::isnan(v) && (std::isnan(rounded) || dtype == DType::f4e2m1))));
    }
  }
}

TEST_CASE("packed elements lie first in the low bits, and a store leaves its neighbours alone") {
  std::array<std::byte, 2> bytes{};
  for (std::int64_t i = 0; i < 4; ++i) store_bits(DType::u4, bytes.data(), i, static_cast<std::uint64_t>(i + 1));
  CHECK(bytes[0] == std::byte{0x21});
  CHECK(bytes[1] == std::byte{0x43});
  store_bits(DType::i2, bytes.data(), 1, 3);
  CHECK(bytes[0] == std::byte{0x2d});
  CHECK(load_bits(DType::i2, bytes.data(), 1) == 3);
  CHECK(load_bits(DType::u4, bytes.data(), 3) == 4);
  CHECK(load_bits(DType::u16, bytes.data(), 0) == 0x432d);
}
