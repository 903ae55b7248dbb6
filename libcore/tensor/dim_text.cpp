// Dimensions as text, both ways.
#include <algorithm>
#include <array>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/tensor/dim.h"
#include "libcore/tensor/dim_terms.h"

namespace infini {
namespace {

constexpr int most_nesting = 64;
constexpr std::array<std::pair<std::string_view, AtomKind>, 4> functions = {{
    {"floordiv", AtomKind::floor_div}, {"mod", AtomKind::floor_mod}, {"min", AtomKind::min}, {"max", AtomKind::max},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || std::string_view(".:/#?").find(c) != std::string_view::npos; }

std::string name_as_text(const std::string& name) {
  if (!name.empty() && starts_name(name[0]) && std::ranges::all_of(name, continues_name)) return name;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "'";
  for (char c : name) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '\'';
}

std::string atom_as_text(const DimAtom& atom) {
  for (const auto& [function, kind] : functions) {
    if (kind != atom.kind) continue;
    std::vector<std::string> operands;
    for (const Dim& operand : atom.operands) operands.push_back(operand.to_string());
    return text(function, "(", join(operands, ","), ")");
  }
  return name_as_text(atom.name);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Dim> sum() {
    if (++depth_ > most_nesting) return fail("at most 64 levels of nesting");
    bool minus = take('-');
    if (!minus) take('+');
    IT_TRY(Dim out, product());
    if (minus) out = out * Dim(-1);
    while (true) {
      if (take('+')) {
        IT_TRY(Dim next, product());
        out = out + next;
      } else if (take('-')) {
        IT_TRY(Dim next, product());
        out = out - next;
      } else {
        break;
      }
    }
    --depth_;
    return out;
  }

  std::string_view rest() const { return text_.substr(at_); }

 private:
  Result<Dim> product() {
    IT_TRY(Dim out, factor());
    while (take('*')) {
      IT_TRY(Dim next, factor());
      out = out * next;
    }
    return out;
  }

  Result<Dim> factor() {
    if (take('(')) {
      IT_TRY(Dim out, sum());
      if (!take(')')) return fail("')'");
      return out;
    }
    char c = peek();
    if (is_digit(c)) return number();
    if (c == '\'') return quoted_name();
    if (!starts_name(c)) return fail("a number, a name or '('");
    std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    if (peek() != '(') return Dim::symbol(word);
    for (const auto& [function, kind] : functions) {
      if (function == word) return call(kind);
    }
    return fail("an operator, since there is no function of that name");
  }

  Result<Dim> call(AtomKind kind) {
    take('(');
    IT_TRY(Dim out, sum());
    std::size_t count = 1;
    while (take(',')) {
      IT_TRY(Dim next, sum());
      std::array<Dim, 2> operands = {out, next};
      out = simplified(kind, operands);
      ++count;
    }
    if (!take(')')) return fail("',' or ')'");
    bool binary = kind == AtomKind::floor_div || kind == AtomKind::floor_mod;
    if (binary && count != 2) return fail("two operands of floordiv or mod");
    return out;
  }

  Result<Dim> number() {
    std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    std::int64_t value = 0;
    if (!parse_int(text_.substr(begin, at_ - begin), value)) return fail("a number below 2^63");
    return Dim(value);
  }

  Result<Dim> quoted_name() {
    std::string name;
    std::string_view left = rest();
    if (!unquote(left, name)) return fail("a name in quotes");
    at_ = text_.size() - left.size();
    return Dim::symbol(name);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Error fail(std::string_view expected) {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 20)) : "the end";
    return bad_input(infini::text("dimension: expected ", expected, " at column ", at_ + 1, ", found ", found));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string Dim::to_string() const {
  if (is_constant()) return text(constant_);
  std::string out;
  for (const DimTerm& term : DimAccess::terms(*this)) {
    if (!out.empty() && term.coefficient > 0) out += '+';
    if (term.coefficient == -1) out += '-';
    std::vector<std::string> factors;
    if (term.coefficient != 1 && term.coefficient != -1) factors.push_back(text(term.coefficient));
    for (const DimFactor& factor : term.factors) factors.insert(factors.end(), static_cast<std::size_t>(factor.power), atom_as_text(*factor.atom));
    out += join(factors, "*");
  }
  if (constant_ > 0) out += '+';
  if (constant_ != 0) out += text(constant_);
  return out;
}

Result<Dim> Dim::parse_prefix(std::string_view& rest) {
  Parser parser(rest);
  Result<Dim> out = parser.sum();
  if (out) rest = parser.rest();
  return out;
}

Result<Dim> Dim::parse(std::string_view text) {
  std::string_view rest = text;
  IT_TRY(Dim out, parse_prefix(rest));
  if (!trim(rest).empty()) return bad_input(infini::text("dimension: ", quoted(text), " goes on after an expression: ", quoted(trim(rest))));
  return out;
}

}  // namespace infini
