// Small text helpers for messages: concatenation, joining, numbers that never follow the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace infini {

namespace text_detail {
inline void append(std::string& out, std::string_view piece) { out += piece; }
inline void append(std::string& out, char piece) { out += piece; }
// A template, so that a string literal does not become a bool.
template <std::same_as<bool> T>
void append(std::string& out, T piece) {
  out += piece ? "true" : "false";
}
template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, char> && !std::same_as<T, bool>)
void append(std::string& out, T piece) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, piece).ptr;
  out.append(buffer, end);
}
}  // namespace text_detail

// text("x has ", 3, " axes") -> "x has 3 axes"; numbers in their shortest exact form.
template <class... Pieces>
std::string text(const Pieces&... pieces) {
  std::string out;
  (text_detail::append(out, pieces), ...);
  return out;
}

// join({1,2,3}, ",") -> "1,2,3"; elements are numbers or strings.
template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += separator;
    text_detail::append(out, element);
    first = false;
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);

// Control bytes as \n, \t and \xHH, all else as it is: what a name in a model may do to a terminal is be read.
std::string printable(std::string_view text);
// Quoted for a message or the text form: printable, with \" and \\.
std::string quoted(std::string_view text);
// Reads a text in " or ' with those escapes (and \') from the start of `rest`, which then begins behind it; false if it is malformed.
bool unquote(std::string_view& rest, std::string& out);

// Quoted as JSON wants it. Bytes that are no UTF-8 are written as if they were Latin-1, so that the text is always valid.
std::string json_text(std::string_view text);

// 3221225472 -> "3.0 GiB".
std::string human_bytes(std::uint64_t bytes);

// The whole of `text` as a number, or nothing.
bool parse_int(std::string_view text, std::int64_t& out);
bool parse_double(std::string_view text, double& out);

// The candidate closest to `word` by edit distance, if close enough to be a typing slip; else empty.
std::string closest(std::string_view word, std::span<const std::string> candidates);

// True if `name` matches `pattern`, where * stands for any run of characters and ? for one.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace infini
