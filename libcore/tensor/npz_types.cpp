#include "libcore/tensor/npz_types.h"

#include <unordered_set>

#include "libcore/base/text.h"
#include "libcore/tensor/npy_text.h"
#include "libcore/tensor/text_cursor.h"

namespace infini {
namespace {

constexpr int most_nesting = 16;

class Parser : TextCursor {
 public:
  explicit Parser(std::string_view text) : TextCursor(text, "npz: __dtypes__.json") {}

  Result<NpzTypes> object() {
    NpzTypes out;
    std::unordered_set<std::string> names;
    IT_TRY_VOID(expect('{'));
    if (!take('}')) {
      do {
        IT_TRY(std::string name, string());
        IT_TRY_VOID(expect(':'));
        IT_TRY(std::string value, string());
        if (!names.insert(name).second) return bad_input(infini::text("npz: __dtypes__.json: ", quoted(name), " stands there twice"));
        out.emplace_back(std::move(name), std::move(value));
      } while (take(','));
      IT_TRY_VOID(expect('}'));
    }
    if (peek() != '\0' || at_ < text_.size()) return fail("the end");
    return out;
  }

 private:
  Result<std::string> string() {
    if (!take('"')) return fail("a string");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out += text_[at_++];
        continue;
      }
      IT_TRY(std::string escaped, escape());
      out += escaped;
    }
    if (at_ == text_.size()) return fail("a string that ends");
    ++at_;
    return out;
  }

  Result<std::string> escape() {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (at_ == text_.size()) return fail("an escape");
    char c = text_[at_++];
    if (std::size_t which = letters.find(c); which != std::string_view::npos) return std::string(1, meanings[which]);
    if (c != 'u') return fail("an escape of JSON");
    IT_TRY(char32_t point, hex4());
    if (point >= 0xd800 && point < 0xdc00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      IT_TRY(char32_t low, hex4());
      if (low < 0xdc00 || low > 0xdfff) return fail("the second half of a surrogate pair");
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    std::optional<std::string> out = to_utf8(std::u32string_view(&point, 1));
    if (!out) return fail("a Unicode character");
    return *out;
  }

  Result<char32_t> hex4() {
    std::string_view digits = text_.substr(at_, 4);
    std::uint32_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + 4) return fail("four hexadecimal digits");
    at_ += 4;
    return static_cast<char32_t>(value);
  }
};

Result<Type> parse_type_at(std::string_view spelling, int depth) {
  Error unknown = bad_input(text("npz: __dtypes__.json: ", quoted(spelling), " is not a type such as bf16 or seq(f32)"));
  if (depth > most_nesting) return unknown;
  if (spelling == "unknown") return Type{};
  for (TypeKind kind : {TypeKind::sequence, TypeKind::optional}) {
    std::string_view prefix = kind == TypeKind::sequence ? "seq(" : "optional(";
    if (!spelling.starts_with(prefix) || !spelling.ends_with(')')) continue;
    IT_TRY(Type element, parse_type_at(spelling.substr(prefix.size(), spelling.size() - prefix.size() - 1), depth + 1));
    return kind == TypeKind::sequence ? Type::sequence(std::move(element)) : Type::optional(std::move(element));
  }
  std::optional<DType> dtype = parse_dtype(spelling);
  if (!dtype) return unknown;
  return Type::tensor(*dtype);
}

}  // namespace

std::string write_npz_types(const NpzTypes& types) {
  std::string out = "{";
  for (const auto& [name, type] : types) {
    if (out.size() > 1) out += ", ";
    out += text(json_text(name), ": ", json_text(type));
  }
  return out + "}\n";
}

Result<NpzTypes> parse_npz_types(std::string_view json) { return Parser(json).object(); }

std::string npz_type(const Type& type) {
  std::string element = type.element ? npz_type(*type.element) : "unknown";
  if (type.kind == TypeKind::sequence) return text("seq(", element, ")");
  if (type.kind == TypeKind::optional) return text("optional(", element, ")");
  return type.is_tensor() ? std::string(name(type.dtype)) : "unknown";
}

Result<Type> parse_npz_type(std::string_view spelling) { return parse_type_at(spelling, 0); }

}  // namespace infini
