// Reading the text form token by token, and the parts of it that are no graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/ir/lex.h"
#include "libcore/ir/module.h"

namespace infini {

// One token at hand, with the questions a recursive descent asks. Every error says where, what was found and what was expected.
class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : lexer_(text) {}

  const Token& now() const { return now_; }
  Status advance();
  bool is(TokenKind kind, std::string_view text) const { return now_.kind == kind && now_.text == text; }
  bool is_mark(std::string_view mark) const { return is(TokenKind::mark, mark); }
  bool is_word(std::string_view word) const { return is(TokenKind::word, word); }
  // Whether it was there, and is behind us now.
  Result<bool> take_mark(std::string_view mark);
  Result<bool> take_word(std::string_view word);
  Status expect_mark(std::string_view mark);
  Status expect_word(std::string_view word);
  Result<std::string> quotation();           // "..."
  Result<std::string> word_or_quotation();
  Result<std::string> value_name();          // %x
  Result<std::int64_t> integer(std::int64_t lowest = INT64_MIN, std::int64_t highest = INT64_MAX);
  Result<std::uint64_t> unsigned_integer();
  Result<Hash128> hash();
  Result<std::string> symbol();
  // A type whose numbers are extents: none negative, no more than 64 axes.
  Result<Type> type();

  Error unexpected(std::string_view expected) const;
  Error fail(std::size_t offset, std::string message) const { return within(lexer_.place(offset), bad_input(std::move(message))); }
  // The same result; a failure says that it happened at `offset`. (Counting lines takes time, so that is done for failures alone.)
  template <class T>
  Result<T> at(std::size_t offset, Result<T> result) const {
    if (!result) return within(lexer_.place(offset), std::move(result.error()));
    return result;
  }

 private:
  Lexer lexer_;
  Token now_;
};

// "{1, 2}" as a tensor of that type, whose extents are numbers.
Result<Tensor> read_elements(TokenReader& in, const Type& type);
// What follows "constant": a type and a payload.
Result<ConstantRef> read_constant(TokenReader& in);
// The value of an attribute that is no graph; `def` decides what the value leaves open (null: nothing is known).
Result<AttributeValue> read_attribute(TokenReader& in, const AttributeDef* def);
// "sources {...}" and "ledger {...}", each empty if it is not there.
Result<std::vector<SourceNode>> read_sources(TokenReader& in);
Result<std::vector<LedgerEntry>> read_ledger(TokenReader& in);

}  // namespace infini
