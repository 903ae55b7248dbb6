#include "libcore/base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace infini {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t utf8_length(std::string_view text) {
  auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0 && follows(1)) return 2;
  if (first >= 0xe0 && first < 0xf0 && follows(1) && follows(2)) {
    bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first < 0xf5 && follows(1) && follows(2) && follows(3)) {
    bool overlong = first == 0xf0 && second < 0x90, beyond = first == 0xf4 && second >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace


std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    std::size_t end = text.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

namespace {

// Control bytes as \n, \t and \xHH; the characters of `also` behind a backslash.
std::string escaped(std::string_view text, std::string_view also) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (also.find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, ""); }

std::string quoted(std::string_view text) { return '"' + escaped(text, "\"\\") + '"'; }

// Bytes that are no UTF-8 become the characters of the same number.
std::string json_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    auto byte = static_cast<unsigned char>(text[0]);
    std::size_t length = utf8_length(text);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
      length = 1;
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

bool unquote(std::string_view& rest, std::string& out) {
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return false;
  char quote = rest.front();
  out.clear();
  for (std::size_t at = 1; at < rest.size(); ++at) {
    char c = rest[at];
    if (c == quote) {
      rest.remove_prefix(at + 1);
      return true;
    }
    if (c == '\\') {
      if (++at == rest.size()) return false;
      c = rest[at];
      if (c == 'x') {
        unsigned byte = 0;
        std::string_view digits = rest.substr(at + 1, 2);
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return false;
        c = static_cast<char>(byte);
        at += 2;
      } else if (c == 'n' || c == 't') {
        c = c == 'n' ? '\n' : '\t';
      } else if (c != '\\' && c != '"' && c != '\'') {
        return false;
      }
    }
    out += c;
  }
  return false;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return text(bytes, " B");
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10;
  while (tenths >= 10240 && unit + 1 < units.size()) {
    tenths /= 1024;
    ++unit;
  }
  return text(tenths / 10, ".", tenths % 10, " ", units[unit]);
}

bool parse_int(std::string_view text, std::int64_t& out) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_double(std::string_view text, double& out) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string closest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        std::size_t substituted = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace infini
