#pragma once

#include <string_view>

#include "libcore/base/result.h"
#include "libcore/base/text.h"

namespace infini {

// A place in the short text inside an array file (a header, a table of types). `file` begins its messages.
class TextCursor {
 public:
  TextCursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}

 protected:
  // The next character that is no white space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Status expect(char c) {
    if (take(c)) return {};
    return fail(text("'", c, "'"));
  }

  // bad_input: what was expected here, and what stands here.
  Error fail(std::string_view expected) const {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 20)) : "the end";
    return bad_input(text(file_, ": expected ", expected, " at byte ", at_, ", found ", found));
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
};

}  // namespace infini
