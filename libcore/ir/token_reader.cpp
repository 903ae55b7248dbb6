#include "libcore/ir/token_reader.h"

#include <charconv>

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr std::size_t most_axes = 64;

std::string found(const Token& token) {
  constexpr std::size_t shown = 40;
  if (token.kind == TokenKind::end) return "the end";
  std::string_view text = token.text.substr(0, shown);
  return token.kind == TokenKind::text ? std::string(text) : "'" + std::string(text) + "'";
}

Status check_extents(const Type& type) {
  if (type.element) return check_extents(*type.element);
  if (!type.shape) return {};
  if (type.rank() > most_axes) return bad_input(text("a type of ", type.rank(), " axes, at most ", most_axes, " are taken"));
  for (const Dim& dim : *type.shape) {
    if (dim.is_constant() && *dim.constant() < 0) return bad_input(text("found the dimension ", *dim.constant(), ", expected none below 0"));
  }
  return {};
}

}  // namespace

Error TokenReader::unexpected(std::string_view expected) const { return fail(now_.begin, text("found ", found(now_), ", expected ", expected)); }

Status TokenReader::advance() {
  IT_TRY(now_, lexer_.next());
  return {};
}

Result<bool> TokenReader::take_mark(std::string_view mark) {
  if (!is_mark(mark)) return false;
  IT_TRY_VOID(advance());
  return true;
}

Result<bool> TokenReader::take_word(std::string_view word) {
  if (!is_word(word)) return false;
  IT_TRY_VOID(advance());
  return true;
}

Status TokenReader::expect_mark(std::string_view mark) { return is_mark(mark) ? advance() : unexpected(text("'", mark, "'")); }

Status TokenReader::expect_word(std::string_view word) { return is_word(word) ? advance() : unexpected(text("'", word, "'")); }

Result<std::string> TokenReader::quotation() {
  if (now_.kind != TokenKind::text) return unexpected("a text in quotes");
  std::string out = std::move(now_.value);
  IT_TRY_VOID(advance());
  return out;
}

Result<std::string> TokenReader::word_or_quotation() {
  if (now_.kind == TokenKind::text) return quotation();
  if (now_.kind != TokenKind::word) return unexpected("a word or a text in quotes");
  std::string out(now_.text);
  IT_TRY_VOID(advance());
  return out;
}

Result<std::string> TokenReader::value_name() {
  if (now_.kind != TokenKind::value) return unexpected("a value such as %x");
  if (now_.value.empty()) return unexpected("a name that is not empty");
  std::string out = std::move(now_.value);
  IT_TRY_VOID(advance());
  return out;
}

Result<std::int64_t> TokenReader::integer(std::int64_t lowest, std::int64_t highest) {
  std::int64_t out = 0;
  if (now_.kind != TokenKind::number || !parse_int(now_.text, out)) return unexpected("an integer");
  if (out < lowest || out > highest) return unexpected(text("an integer from ", lowest, " to ", highest));
  IT_TRY_VOID(advance());
  return out;
}

Result<std::uint64_t> TokenReader::unsigned_integer() {
  std::uint64_t out = 0;
  const char* end = now_.text.data() + now_.text.size();
  auto read = std::from_chars(now_.text.data(), end, out);
  if (now_.kind != TokenKind::number || read.ec != std::errc() || read.ptr != end) return unexpected("an integer that is not negative");
  IT_TRY_VOID(advance());
  return out;
}

Result<Hash128> TokenReader::hash() {
  std::optional<Hash128> out = hash_from_hex(now_.text);
  if (!out) return unexpected("32 hexadecimal digits");
  IT_TRY_VOID(advance());
  return *out;
}

Result<std::string> TokenReader::symbol() {
  IT_TRY(std::string out, lexer_.symbol_at(now_.begin));
  IT_TRY_VOID(advance());
  return out;
}

Result<Type> TokenReader::type() {
  std::size_t begin = now_.begin;
  IT_TRY(Type out, lexer_.type_at(begin));
  IT_TRY_VOID(at(begin, check_extents(out)));
  IT_TRY_VOID(advance());
  return out;
}

}  // namespace infini
