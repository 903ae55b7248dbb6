#include "libcore/tensor/dim.h"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace infini;

namespace {

Dim dim(std::string_view text) {
  Result<Dim> parsed = Dim::parse(text);
  REQUIRE_MESSAGE(parsed.has_value(), std::string(text), ": ", parsed ? "" : parsed.error().text());
  return *parsed;
}

std::string canonical(std::string_view text) { return dim(text).to_string(); }

// A random expression, as a Dim and as the number it has under the bindings (nothing where a division is by zero).
struct Sample {
  Dim dim;
  std::optional<std::int64_t> value;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {
    for (const char* name : {"a", "b", "n"}) bindings_.push_back({name, pick(0, 9)});
  }
  const Bindings& bindings() const { return bindings_; }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random_); }

  Sample sample(int depth) {
    std::int64_t choice = pick(0, depth == 0 ? 3 : 10);
    if (choice <= 1) {
      const Binding& b = bindings_[static_cast<std::size_t>(pick(0, 2))];
      return {Dim::symbol(b.symbol), b.value};
    }
    if (choice <= 3) {
      std::int64_t number = pick(-6, 12);
      return {Dim(number), number};
    }
    Sample x = sample(depth - 1);
    Sample y = sample(depth - 1);
    bool known = x.value && y.value;
    std::int64_t p = x.value.value_or(0);
    std::int64_t q = y.value.value_or(0);
    auto value = [known](std::int64_t v) { return known ? std::optional(v) : std::nullopt; };
    auto quotient = [&] { return static_cast<std::int64_t>(std::floor(static_cast<double>(p) / static_cast<double>(q))); };
    switch (choice) {
      case 4: return {x.dim + y.dim, value(p + q)};
      case 5: return {x.dim - y.dim, value(p - q)};
      case 6: return {x.dim * y.dim, value(p * q)};
      case 7: return {min(x.dim, y.dim), value(std::min(p, q))};
      case 8: return {max(x.dim, y.dim), value(std::max(p, q))};
      case 9: return {floor_div(x.dim, y.dim), q == 0 ? std::nullopt : value(quotient())};
      default: return {floor_mod(x.dim, y.dim), q == 0 ? std::nullopt : value(p - q * quotient())};
    }
  }

 private:
  std::mt19937 random_;
  Bindings bindings_;
};

}  // namespace

TEST_CASE("equal polynomials are equal, and print in one form") {
  CHECK(canonical("1+seq*2") == "2*seq+1");
  CHECK(canonical("(a+b)*(a-b)") == "a*a-b*b");
  CHECK(canonical("n-n") == "0");
  CHECK(canonical("-n+1") == "-n+1");
  CHECK(canonical("(n+1)*(n+1)-n*n-1") == "2*n");
  CHECK(dim("batch*3") == Dim::symbol("batch") * Dim(3));
  CHECK_FALSE(dim("a*b") == dim("a+b"));
  CHECK(Dim::symbol("n").symbol_name() == "n");
  CHECK_FALSE(dim("2*n").symbol_name().has_value());
  CHECK(dim("min(q,a)*b+z").symbols() == std::vector<std::string>{"a", "b", "q", "z"});
}

TEST_CASE("division simplifies") {
  CHECK(canonical("floordiv(6*n+7,3)") == "2*n+2");
  CHECK(canonical("floordiv(n*m+k,m)") == "n+floordiv(k,m)");
  CHECK(canonical("floordiv(n*n-1,n+1)") == "n-1");
  CHECK(canonical("floordiv(2*n+1,4)") == "floordiv(n,2)");
  CHECK(canonical("floordiv(floordiv(h-1,2)+1-1,2)+1") == canonical("floordiv(h-1,4)+1"));
  CHECK(canonical("floordiv(n*a,n*b)") == "floordiv(a,b)");
  CHECK(canonical("mod(4*n+6,4)") == "2");
  CHECK(canonical("mod(2*n,4)") == "2*mod(n,2)");
  CHECK(canonical("mod(mod(n,4),4)") == "mod(n,4)");
  CHECK(canonical("floordiv(mod(n,4),4)") == "0");
  CHECK(ceil_div(Dim::symbol("n"), 2) == dim("floordiv(n+1,2)"));
  CHECK(ceil_div(7, 2) == Dim(4));
  CHECK(ceil_div(-7, 2) == Dim(-3));
  CHECK(floor_div(Dim(5), Dim(0)) == Dim(0));
  CHECK(floor_mod(Dim(-5), Dim(3)) == Dim(1));
  CHECK(floor_mod(Dim(5), Dim(-3)) == Dim(-1));
}

TEST_CASE("exact division of polynomials") {
  CHECK(exact_div(dim("12*a*b+8*a"), dim("4*a")) == dim("3*b+2"));
  CHECK(exact_div(dim("a*a*b-b"), dim("a-1")) == dim("a*b+b"));
  CHECK_FALSE(exact_div(dim("a+1"), dim("a")).has_value());
  CHECK_FALSE(exact_div(dim("3*a"), dim("2")).has_value());
  CHECK_FALSE(exact_div(dim("a"), Dim(0)).has_value());
  CHECK(exact_div(dim("floordiv(n,2)*6"), dim("floordiv(n,2)")) == Dim(6));
}

TEST_CASE("minimum, maximum and certain order, every symbol being at least 0") {
  CHECK(canonical("max(0,n)") == "n");
  CHECK(canonical("min(n,n+1)") == "n");
  CHECK(canonical("min(b,min(a,b))") == "min(a,b)");
  CHECK(surely_at_most(dim("floordiv(n,2)"), dim("n")));
  CHECK(surely_at_most(dim("min(a,b)"), dim("b")));
  CHECK(surely_at_most(dim("a"), dim("max(a,b)")));
  CHECK(surely_at_most(dim("mod(n,8)"), 7));
  CHECK(surely_at_most(dim("2*floordiv(n,2)"), dim("n")));
  CHECK_FALSE(surely_at_most(dim("n"), dim("2*floordiv(n,2)")));
  CHECK_FALSE(surely_at_most(dim("a"), dim("b")));
  CHECK_FALSE(surely_at_most(dim("n"), dim("a*n")));
}

TEST_CASE("random expressions keep their value, their text and their order") {
  int checked = 0;
  for (std::uint32_t seed = 0; seed < 20000; ++seed) {
    Generator generator(seed);
    Sample s = generator.sample(4);
    std::string printed = s.dim.to_string();
    CAPTURE(seed);
    CAPTURE(printed);
    Result<Dim> again = Dim::parse(printed);
    REQUIRE(again.has_value());
    REQUIRE(*again == s.dim);
    if (!s.value || s.dim == Dim(dim_limit)) continue;
    std::optional<std::int64_t> value = s.dim.evaluate(generator.bindings());
    if (!value) continue;  // a division by zero that the number 0 multiplies has gone from one of them only
    ++checked;
    REQUIRE(*value == *s.value);
    Dim substituted = s.dim.substitute(generator.bindings());
    REQUIRE(substituted == Dim(*s.value));
    Sample t = generator.sample(3);
    if (t.value && surely_at_most(s.dim, t.dim)) REQUIRE(*s.value <= *t.value);
  }
  CHECK(checked > 10000);
}

TEST_CASE("substitution of a symbol by an expression") {
  CHECK(dim("floordiv(n,2)+n").substitute("n", dim("2*m")) == dim("3*m"));
  CHECK(dim("n*m").substitute(Bindings{{"n", 4}}) == dim("4*m"));
  CHECK_FALSE(dim("n*m").evaluate({{"n", 4}}).has_value());
  CHECK_FALSE(dim("floordiv(n,m)").evaluate({{"n", 4}, {"m", 0}}).has_value());
}

TEST_CASE("names of every kind survive the text form") {
  for (const char* name : {"batch", "a:0", "x/y.z#1?", "?", "", "it's", "back\\slash", "1st", "a b", "tab\there", "min", "a-b", "\xc3\xa9"}) {
    Dim d = Dim::symbol(name) * Dim(2) + Dim(1);
    CAPTURE(d.to_string());
    CHECK(dim(d.to_string()) == d);
  }
  CHECK(Dim::symbol("?").to_string() == "'?'");
  CHECK(dim(" 2 * ( n + 1 ) ") == dim("2*n+2"));
}

TEST_CASE("malformed text is refused with its place") {
  for (const char* text : {"", "2*", "(n", "n)", "3n", "floordiv(n)", "mod(a,b,c)", "foo(n)", "'abc", "'a\\x2'", "99999999999999999999", "a,b", "n n"}) {
    CAPTURE(text);
    Result<Dim> parsed = Dim::parse(text);
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().kind == ErrorKind::bad_input);
  }
  CHECK(Dim::parse("2*)").error().text().find("column 3") != std::string::npos);
  CHECK_FALSE(Dim::parse(std::string(100000, '(')).has_value());
}

TEST_CASE("hostile sizes saturate at 2^62 and stay there") {
  Dim huge(dim_limit - 1);
  CHECK(huge * huge == Dim(dim_limit));
  CHECK(huge + huge == Dim(dim_limit));
  CHECK(huge * huge - huge == Dim(dim_limit));
  CHECK(huge * Dim(-8) == Dim(-dim_limit));
  CHECK(Dim(INT64_MAX) * Dim(INT64_MIN) == Dim(-dim_limit));
  CHECK(floor_div(Dim(INT64_MIN), Dim(-1)) == Dim(dim_limit));
  CHECK(dim("4000000000000000000*n") * Dim(2) == Dim(dim_limit));
  CHECK(element_count(to_shape({1 << 30, 1 << 30, 1 << 30})) == Dim(dim_limit));
  CHECK(element_count(to_shape({1 << 30, 1 << 30, 1 << 30, 0})) == Dim(0));
  CHECK(dim("n*n*n").evaluate({{"n", dim_limit}}) == dim_limit);
  Dim sum(0);
  for (int i = 0; i < 5000; ++i) sum = sum + Dim::symbol("s" + std::to_string(i));
  CHECK(sum == Dim(dim_limit));
  Dim nested = Dim::symbol("n");
  for (int i = 0; i < 100; ++i) nested = floor_div(nested, Dim::symbol("m")) + Dim(1);
  CHECK(nested == Dim(dim_limit));
  Dim doubled = Dim::symbol("n");
  for (int i = 0; i < 100; ++i) doubled = floor_mod(doubled, Dim::symbol("m")) * floor_div(doubled, Dim::symbol("k"));
  CHECK(doubled == Dim(dim_limit));
  Dim power = Dim::symbol("n");
  for (int i = 0; i < 40; ++i) power = power * power;
  CHECK(power == Dim(dim_limit));
}

TEST_CASE("shapes print and evaluate") {
  Shape shape = {2, dim("batch"), dim("3*n")};
  CHECK(to_string(shape) == "[2,batch,3*n]");
  CHECK(to_string(Extents{4, 5}) == "[4,5]");
  CHECK(to_string(Shape{}) == "[]");
  CHECK(element_count(shape) == dim("6*batch*n"));
  CHECK_FALSE(constant_extents(shape).has_value());
  CHECK(evaluate(shape, {{"batch", 7}, {"n", 2}}) == Extents{2, 7, 6});
}
