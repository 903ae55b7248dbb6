// Tokens of the text form.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/tensor/type.h"

namespace infini {

enum class TokenKind : std::uint8_t {
  end,
  word,    // letter or _, then letters, digits, _ and inner dots: Conv, com.microsoft
  value,   // %name or %"name": `value` is the name
  text,    // "...": `value` is what it stands for
  number,  // digits after an optional sign, with everything that integers, floats, hexadecimals need; -inf, -nan
  mark,    // ( ) { } [ ] < > , : :: = @ -> .. ... or any other single character
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;   // as it stands in the input
  std::string value;       // of `value` and `text`
  std::size_t begin = 0;   // byte offset
};

// A name as a token of kind `value`, and a word that may need quotes.
std::string value_name_text(std::string_view name);
std::string word_text(std::string_view word);

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; bad_input on an unterminated or malformed quotation.
  Result<Token> next();
  // A type that begins at byte `begin`; the next token is what follows it.
  Result<Type> type_at(std::size_t begin);
  // A dimension symbol, bare or in single quotes, that begins at `begin`.
  Result<std::string> symbol_at(std::size_t begin);
  // "line 3, column 7" of a byte offset.
  std::string place(std::size_t offset) const;

 private:
  void skip_blanks();
  Result<std::string> quotation();
  std::size_t number_end(std::size_t from) const;
  Error fail(std::size_t at, std::string message) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace infini
