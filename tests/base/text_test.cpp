#include "libcore/base/text.h"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

using namespace infini;

TEST_CASE("pieces of every kind become text, numbers exactly") {
  CHECK(text("x has ", 3, " axes") == "x has 3 axes");
  CHECK(text(std::string("a"), 'b', true, std::int64_t{-5}, 0.1, 1e300, 2.5F) == "abtrue-50.11e+3002.5");
  CHECK(text(std::uint8_t{7}, " ", std::int8_t{-7}) == "7 -7");
  CHECK(text() == "");
  CHECK(join(std::vector<int>{1, 2, 3}, ",") == "1,2,3");
  CHECK(join(std::vector<std::string>{}, ",") == "");
}

TEST_CASE("quoting survives every byte") {
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
  std::string written = quoted(bytes) + "rest";
  std::string_view rest = written;
  std::string read;
  REQUIRE(unquote(rest, read));
  CHECK(read == bytes);
  CHECK(rest == "rest");
  CHECK(quoted("a\"b\\c\n\t\x01") == "\"a\\\"b\\\\c\\n\\t\\x01\"");
  for (const char* malformed : {"", "abc", "\"abc", "\"a\\", "\"a\\x1\"", "\"a\\xg0\"", "\"\\q\"", "'a\""}) {
    rest = malformed;
    CHECK_FALSE(unquote(rest, read));
  }
}

TEST_CASE("numbers are read whole or not at all") {
  std::int64_t integer = 0;
  CHECK((parse_int("+42", integer) && integer == 42));
  CHECK((parse_int("-9223372036854775808", integer) && integer == INT64_MIN));
  for (const char* bad : {"", "+", "+-4", "4 ", "4x", "9223372036854775808", "0x10"}) CHECK_FALSE(parse_int(bad, integer));
  double number = 0;
  CHECK((parse_double("1e-5", number) && number == 1e-5));
  CHECK((parse_double("-inf", number) && std::isinf(number)));
  for (const char* bad : {"", "1,5", "1.5 ", "e5"}) CHECK_FALSE(parse_double(bad, number));
}

TEST_CASE("splitting, trimming, sizes") {
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(trim(" \t x y\n") == "x y");
  CHECK(lower("AbC-1") == "abc-1");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(std::uint64_t{3} << 30) == "3.0 GiB");
}

TEST_CASE("the closest candidate, and globs") {
  std::vector<std::string> names = {"relu", "sigmoid", "softmax"};
  CHECK(closest("sigmiod", names) == "sigmoid");
  CHECK(closest("conv", names) == "");
  CHECK(matches_glob("*.weight", "layer.0.weight"));
  CHECK(matches_glob("a?c*", "abc"));
  CHECK_FALSE(matches_glob("a?c", "ac"));
  CHECK(matches_glob("*", ""));
}
