// The words of generate.h, read and printed.
#include <cmath>

#include "libcore/base/text.h"
#include "libcore/tensor/generate.h"

namespace infini {
namespace {

constexpr std::size_t most_nesting = 32;

// Reads a literal: brackets around elements, which blanks or commas separate.
class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  Result<ValueSpec> run() {
    spec_.kind = ValueKind::literal;
    if (peek() == '[') {
      IT_TRY_VOID(list(0));
    } else {
      IT_TRY_VOID(element());
      spec_.fills = peek() == '\0';
      while (peek() != '\0') {
        if (peek() == '[') return fail("an element");
        IT_TRY_VOID(element());
      }
      if (!spec_.fills) spec_.extents = {static_cast<std::int64_t>(spec_.elements.size())};
    }
    if (peek() != '\0') return fail("the end");
    return std::move(spec_);
  }

 private:
  Status list(std::size_t depth) {
    if (depth == most_nesting) return fail("at most 32 levels of brackets");
    if (leaf_ != 0 && depth >= leaf_) return fail("an element, like those before it");
    if (spec_.extents.size() <= depth) spec_.extents.push_back(-1);
    ++at_;
    std::int64_t count = 0;
    for (; peek() != ']'; ++count) {
      if (peek() == '[') {
        IT_TRY_VOID(list(depth + 1));
        continue;
      }
      if (leaf_ == 0) leaf_ = depth + 1;
      if (leaf_ != depth + 1 || spec_.extents.size() != leaf_) return fail("a list, like those before it");
      IT_TRY_VOID(element());
    }
    ++at_;
    std::int64_t& extent = spec_.extents[depth];
    if (extent == -1) extent = count;
    if (extent != count) return usage_error(infini::text("literal: a list of ", count, " beside one of ", extent, " in ", quoted(text_)));
    return {};
  }

  Status element() {
    char c = peek();
    if (c == '\0' || c == ']') return fail("an element");
    std::string out;
    if (c == '"' || c == '\'') {
      std::string_view left = text_.substr(at_);
      if (!unquote(left, out)) return fail("a text in quotes");
      at_ = text_.size() - left.size();
    } else {
      std::size_t end = text_.find_first_of(" \t\r\n,[]", at_);
      if (end == std::string_view::npos) end = text_.size();
      out = text_.substr(at_, end - at_);
      at_ = end;
    }
    spec_.elements.push_back(std::move(out));
    return {};
  }

  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n,").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Error fail(std::string_view expected) {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 20)) : "the end";
    return usage_error(infini::text("literal: expected ", expected, " at column ", at_ + 1, ", found ", found));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t leaf_ = 0;  // levels of brackets around each element; 0: none seen yet
  ValueSpec spec_;
};

// What stands between the brackets of name(...), if `text` is that.
std::optional<std::string_view> call(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(name.size());
  text = trim(text);
  if (!text.starts_with('(')) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

Status two_numbers(std::string_view text, double& first, double& second) {
  std::vector<std::string> parts = split(text, ',');
  bool fine = parts.size() == 2 && parse_double(trim(parts[0]), first) && parse_double(trim(parts[1]), second);
  if (!fine || !std::isfinite(first) || !std::isfinite(second)) return usage_error(infini::text("expected two finite numbers, found ", quoted(text)));
  return {};
}

Result<ValueSpec> parse_function(std::string_view text) {
  ValueSpec spec;
  if (auto inner = call(text, "const")) {
    IT_TRY(spec, LiteralParser(*inner).run());
    if (!spec.fills) return usage_error(infini::text("const takes one element, found ", quoted(*inner)));
  } else if (auto bounds = call(text, "uniform")) {
    spec.kind = ValueKind::uniform;
    IT_TRY_VOID(within("uniform", two_numbers(*bounds, spec.first, spec.second)));
    if (!(spec.first < spec.second) || std::isinf(spec.second - spec.first)) {
      return usage_error(infini::text("uniform: from ", spec.first, " to below ", spec.second, " is no range"));
    }
  } else if (auto moments = call(text, "normal")) {
    spec.kind = ValueKind::normal;
    IT_TRY_VOID(within("normal", two_numbers(*moments, spec.first, spec.second)));
    if (spec.second < 0) return usage_error(infini::text("normal: the deviation ", spec.second, " is negative"));
  } else if (auto limits = call(text, "randint")) {
    spec.kind = ValueKind::randint;
    std::vector<std::string> parts = split(*limits, ',');
    bool fine = parts.size() == 2 && parse_int(trim(parts[0]), spec.low) && parse_int(trim(parts[1]), spec.high);
    if (!fine || spec.low >= spec.high) return usage_error(infini::text("randint takes two integers, the first below the second, found ", quoted(*limits)));
  } else if (auto probability = call(text, "mask")) {
    spec.kind = ValueKind::mask;
    if (!parse_double(trim(*probability), spec.first) || !(spec.first >= 0 && spec.first <= 1)) {
      return usage_error(infini::text("mask takes a probability from 0 to 1, found ", quoted(*probability)));
    }
  } else if (text.find('(') != std::string_view::npos && text.find_first_of("\"'[") == std::string_view::npos) {
    return usage_error(infini::text(quoted(text), " is none of zeros, ones, iota, const(v), uniform(a,b), normal(m,s), randint(a,b), mask(p), index, a literal"));
  } else {
    return LiteralParser(text).run();
  }
  return spec;
}

std::string nested(const ValueSpec& spec, std::size_t axis, std::size_t& next) {
  if (axis == spec.extents.size()) return quoted(spec.elements[next++]);
  std::vector<std::string> parts;
  for (std::int64_t i = 0; i < spec.extents[axis]; ++i) parts.push_back(nested(spec, axis + 1, next));
  return text("[", join(parts, " "), "]");
}

}  // namespace

Result<ValueSpec> parse_value_spec(std::string_view text) {
  text = trim(text);
  if (text == "zeros") return ValueSpec{};
  if (text == "ones") return LiteralParser("1").run();
  if (text == "iota") return ValueSpec{.kind = ValueKind::iota, .elements = {}, .extents = {}};
  if (text == "index") return ValueSpec{.kind = ValueKind::index, .elements = {}, .extents = {}};
  return parse_function(text);
}

std::string to_string(const ValueSpec& spec) {
  std::size_t next = 0;
  switch (spec.kind) {
    case ValueKind::zeros: return "zeros";
    case ValueKind::iota: return "iota";
    case ValueKind::index: return "index";
    case ValueKind::literal: return spec.fills ? text("const(", quoted(spec.elements[0]), ")") : nested(spec, 0, next);
    case ValueKind::uniform: return text("uniform(", spec.first, ",", spec.second, ")");
    case ValueKind::normal: return text("normal(", spec.first, ",", spec.second, ")");
    case ValueKind::randint: return text("randint(", spec.low, ",", spec.high, ")");
    case ValueKind::mask: return text("mask(", spec.first, ")");
  }
  return {};
}

}  // namespace infini
