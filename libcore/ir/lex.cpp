#include "libcore/ir/lex.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "libcore/base/text.h"

namespace infini {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// End of the longest bare value name at the start of `text`. A colon belongs to it as "::" or before a digit only, so that "%x: f32[2]"
// and "%x:f32[2]" are a name and a type.
std::size_t bare_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    char c = text[end];
    std::string_view after = text.substr(end + 1);
    if (is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '$') {
      end += 1;
    } else if (c == ':' && after.starts_with(':')) {
      end += 2;
    } else if (c == ':' && !after.empty() && is_digit(after[0])) {
      end += 1;
    } else {
      break;
    }
  }
  return end;
}

std::size_t word_end(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    bool inner_dot = text[end] == '.' && end > 0 && end + 1 < text.size() && is_letter(text[end + 1]);
    if (!is_letter(text[end]) && !(end > 0 && is_digit(text[end])) && !inner_dot) break;
    ++end;
  }
  return end;
}

}  // namespace

std::string value_name_text(std::string_view name) {
  bool bare = !name.empty() && bare_name(name) == name.size();
  return "%" + (bare ? std::string(name) : quoted(name));
}

std::string word_text(std::string_view word) {
  bool reserved = word == "_" || word == "symbol" || word == "metadata" || word == "constant";
  bool bare = !word.empty() && word_end(word) == word.size() && !reserved;
  return bare ? std::string(word) : quoted(word);
}

std::string Lexer::place(std::size_t offset) const {
  std::string_view before = text_.substr(0, offset);
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  std::size_t begin = before.rfind('\n');
  return text("line ", line, ", column ", begin == std::string_view::npos ? offset + 1 : offset - begin);
}

Error Lexer::fail(std::size_t at, std::string message) const { return within(place(at), bad_input(std::move(message))); }

// Blanks, and comments from "//" after a blank to the end of the line.
void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//" && (at_ == 0 || is_blank(text_[at_ - 1]))) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      break;
    }
  }
}

// From the opening quotation mark at at_ to behind the closing one.
Result<std::string> Lexer::quotation() {
  std::size_t begin = at_;
  char mark = text_[at_++];
  std::string out;
  while (at_ < text_.size() && text_[at_] != mark) {
    char c = text_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at_ == text_.size()) break;
    char escaped = text_[at_++];
    if (escaped == 'n' || escaped == 't') {
      out += escaped == 'n' ? '\n' : '\t';
    } else if (escaped == 'x') {
      unsigned byte = 0;
      std::string_view digits = text_.substr(at_, 2);
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return fail(at_, "expected two hexadecimal digits after \\x");
      out += static_cast<char>(byte);
      at_ += 2;
    } else if (escaped == '"' || escaped == '\'' || escaped == '\\') {
      out += escaped;
    } else {
      return fail(at_ - 2, text("found \\", escaped, ", expected one of \\n \\t \\\" \\' \\\\ \\xHH"));
    }
  }
  if (at_ >= text_.size()) return fail(begin, text("found ", mark, " with no other ", mark, " after it"));
  ++at_;
  return out;
}

std::size_t Lexer::number_end(std::size_t from) const {
  std::size_t end = from + 1;
  bool hexadecimal = text_.substr(from, 2) == "0x";
  while (end < text_.size()) {
    char c = text_[end];
    bool sign = (c == '+' || c == '-') && !hexadecimal && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    bool point = c == '.' && text_.substr(end, 2) != "..";
    if (!is_letter(c) && !is_digit(c) && !point && !sign) break;
    ++end;
  }
  return end;
}

Result<Token> Lexer::next() {
  skip_blanks();
  Token token;
  token.begin = at_;
  std::string_view rest = text_.substr(at_);
  if (rest.empty()) return token;
  char c = rest[0];
  char after = rest.size() > 1 ? rest[1] : '\0';
  std::size_t length = 1;
  token.kind = TokenKind::mark;
  if (c == '"' || c == '\'' || (c == '%' && after == '"')) {
    token.kind = c == '%' ? TokenKind::value : TokenKind::text;
    if (c == '%') ++at_;
    IT_TRY(token.value, quotation());
    length = at_ - token.begin;
  } else if (c == '%') {
    token.kind = TokenKind::value;
    length = 1 + bare_name(rest.substr(1));
    token.value = std::string(rest.substr(1, length - 1));
    if (length == 1) return fail(at_, "expected a name after %");
  } else if (is_letter(c)) {
    token.kind = TokenKind::word;
    length = word_end(rest);
  } else if (is_digit(c) || ((c == '-' || c == '+') && (is_digit(after) || is_letter(after)))) {
    token.kind = TokenKind::number;
    length = number_end(at_) - at_;
  } else {
    for (std::string_view mark : {"...", "..", "::", "->"}) {
      if (length == 1 && rest.starts_with(mark)) length = mark.size();
    }
  }
  token.text = rest.substr(0, length);
  at_ = token.begin + length;
  return token;
}

Result<Type> Lexer::type_at(std::size_t begin) {
  std::string_view rest = text_.substr(begin);
  Result<Type> type = parse_type_prefix(rest);
  if (!type) return within(place(begin), std::move(type));
  at_ = text_.size() - rest.size();
  return type;
}

Result<std::string> Lexer::symbol_at(std::size_t begin) {
  std::string_view rest = text_.substr(begin);
  std::size_t end = 0;
  while (end < rest.size() && !is_blank(rest[end])) ++end;
  if (rest.starts_with('\'')) {
    at_ = begin;
    IT_TRY_VOID(quotation());
    end = at_ - begin;
  }
  Result<Dim> dim = Dim::parse(rest.substr(0, end));
  if (!dim || !dim->symbol_name()) return fail(begin, text("found ", quoted(rest.substr(0, end)), ", expected the name of a dimension"));
  at_ = begin + end;
  return *dim->symbol_name();
}

}  // namespace infini
