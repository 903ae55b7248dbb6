#include "libcore/tensor/type.h"

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr int most_nesting = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Type> type() {
    if (++depth_ > most_nesting) return fail("at most 32 levels of nesting");
    std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    Result<Type> out = named(word, begin);
    --depth_;
    return out;
  }

  std::string_view rest() const { return text_.substr(at_); }

 private:
  static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

  Result<Type> named(std::string_view word, std::size_t begin) {
    if (word == "unknown") return Type{};
    if (word == "seq") return wrapped(TypeKind::sequence);
    if (word == "optional") return wrapped(TypeKind::optional);
    if (word == "sparse") {
      IT_TRY_VOID(expect('('));
      IT_TRY(Type inner, type());
      if (!inner.is_tensor()) return fail("a tensor in sparse(...)");
      inner.kind = TypeKind::sparse_tensor;
      IT_TRY_VOID(expect(')'));
      return inner;
    }
    if (word == "map") {
      IT_TRY_VOID(expect('('));
      std::size_t key_begin = at_;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      std::optional<DType> key = parse_dtype(text_.substr(key_begin, at_ - key_begin));
      if (!key) return fail("the element type of a key");
      IT_TRY_VOID(expect(','));
      IT_TRY(Type element, type());
      IT_TRY_VOID(expect(')'));
      return Type::map(*key, std::move(element));
    }
    std::optional<DType> dtype = parse_dtype(word);
    if (!dtype || *dtype == DType::none) {
      at_ = begin;
      return fail("a type such as f32[2,n] or seq(i64[])");
    }
    return tensor(*dtype);
  }

  Result<Type> wrapped(TypeKind kind) {
    IT_TRY_VOID(expect('('));
    IT_TRY(Type element, type());
    IT_TRY_VOID(expect(')'));
    return kind == TypeKind::sequence ? Type::sequence(std::move(element)) : Type::optional(std::move(element));
  }

  Result<Type> tensor(DType dtype) {
    IT_TRY_VOID(expect('['));
    if (text_.substr(at_, 2) == "?]") {
      at_ += 2;
      return Type::tensor(dtype);
    }
    Shape shape;
    if (!take(']')) {
      do {
        std::string_view left = rest();
        IT_TRY(Dim dim, Dim::parse_prefix(left));
        at_ = text_.size() - left.size();
        shape.push_back(std::move(dim));
      } while (take(','));
      IT_TRY_VOID(expect(']'));
    }
    return Type::tensor(dtype, std::move(shape));
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status expect(char c) {
    if (take(c)) return {};
    return fail(infini::text("'", c, "'"));
  }

  Error fail(std::string_view expected) {
    std::string found = at_ < text_.size() ? quoted(text_.substr(at_, 20)) : "the end";
    return bad_input(infini::text("type: expected ", expected, " at column ", at_ + 1, ", found ", found));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.shape != b.shape) return false;
  if (!a.element || !b.element) return !a.element && !b.element;
  return a.element == b.element || *a.element == *b.element;
}

std::string to_string(const Type& type) {
  std::string shape = type.shape ? to_string(*type.shape) : "[?]";
  std::string element = type.element ? to_string(*type.element) : "unknown";
  switch (type.kind) {
    case TypeKind::unknown: return "unknown";
    case TypeKind::tensor: return text(name(type.dtype), shape);
    case TypeKind::sparse_tensor: return text("sparse(", name(type.dtype), shape, ")");
    case TypeKind::sequence: return text("seq(", element, ")");
    case TypeKind::optional: return text("optional(", element, ")");
    case TypeKind::map: return text("map(", name(type.dtype), ",", element, ")");
  }
  return "unknown";
}

Result<Type> parse_type_prefix(std::string_view& rest) {
  Parser parser(rest);
  Result<Type> out = parser.type();
  if (out) rest = parser.rest();
  return out;
}

Result<Type> parse_type(std::string_view text) {
  std::string_view rest = text;
  IT_TRY(Type out, parse_type_prefix(rest));
  if (!rest.empty()) return bad_input(infini::text("type: ", quoted(text), " goes on after a type: ", quoted(rest)));
  return out;
}

}  // namespace infini
