// Constants, attributes and tables in the text form.
#include <bit>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/ir/element_text.h"
#include "libcore/ir/token_reader.h"
#include "libcore/tensor/element.h"

namespace infini {
namespace {

constexpr std::int64_t most_bits = std::int64_t{1} << 62;  // of a constant, so that sizes in bytes are numbers

bool is_element(const Token& token) { return token.kind == TokenKind::number || token.kind == TokenKind::word; }

// Elements as they are read: bits (complex: two each) or strings.
struct Elements {
  std::vector<std::uint64_t> bits;
  std::vector<std::string> strings;
};

Status read_bits(TokenReader& in, DType dtype, Elements& out) {
  if (!is_element(in.now())) return in.unexpected(text("an element of type ", name(dtype)));
  IT_TRY(std::uint64_t bits, in.at(in.now().begin, parse_element(dtype, in.now().text)));
  out.bits.push_back(bits);
  return in.advance();
}

Status read_element(TokenReader& in, DType dtype, Elements& out) {
  if (dtype == DType::str) {
    IT_TRY(std::string element, in.quotation());
    out.strings.push_back(std::move(element));
    return {};
  }
  if (!is_complex(dtype)) return read_bits(in, dtype, out);
  IT_TRY_VOID(in.expect_mark("("));
  IT_TRY_VOID(read_bits(in, part_of(dtype), out));
  IT_TRY_VOID(in.expect_mark(","));
  IT_TRY_VOID(read_bits(in, part_of(dtype), out));
  return in.expect_mark(")");
}

// The extents and count of a tensor's type that is to have elements.
Result<Extents> extents_of(const TokenReader& in, std::size_t begin, const Type& type) {
  if (!type.has_shape()) return in.fail(begin, text("found the type ", to_string(type), ", expected a tensor with all its extents"));
  std::optional<Extents> extents = constant_extents(*type.shape);
  std::optional<std::int64_t> count = extents ? element_count(*extents) : std::nullopt;
  if (!count) return in.fail(begin, text("found the type ", to_string(type), ", expected a tensor with all its extents"));
  if (*count > most_bits / std::max(1, info(type.dtype).bits)) return in.fail(begin, text("a constant of type ", to_string(type), " is too large"));
  return *extents;
}

template <class Item, class Read>
Result<std::vector<Item>> read_list(TokenReader& in, const Read& read) {
  std::vector<Item> out;
  IT_TRY_VOID(in.expect_mark("["));
  bool more = !in.is_mark("]");
  while (more) {
    IT_TRY(Item item, read());
    out.push_back(std::move(item));
    IT_TRY(more, in.take_mark(","));
  }
  IT_TRY_VOID(in.expect_mark("]"));
  return out;
}

Result<float> read_real(TokenReader& in) {
  float out = 0;
  if (!is_element(in.now()) || !parse_real(in.now().text, out)) return in.unexpected("a number");
  IT_TRY_VOID(in.advance());
  return out;
}

Result<Tensor> read_tensor(TokenReader& in) {
  std::size_t begin = in.now().begin;
  IT_TRY(Type type, in.type());
  IT_TRY_VOID(extents_of(in, begin, type));
  return read_elements(in, type);
}

bool is_integer_text(std::string_view text) {
  std::int64_t value = 0;
  return parse_int(text, value);
}

// "[...]" without a word before it: texts, integers, or reals if one of them is no integer.
Result<AttributeValue> read_plain_list(TokenReader& in, const AttributeDef* def) {
  std::size_t begin = in.now().begin;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  bool all_integers = true;
  auto read = [&]() -> Result<bool> {
    if (in.now().kind == TokenKind::text) {
      IT_TRY(std::string item, in.quotation());
      texts.push_back(std::move(item));
      return true;
    }
    bool whole = in.now().kind == TokenKind::number && is_integer_text(in.now().text);
    std::int64_t integer = 0;
    if (whole) parse_int(in.now().text, integer);
    integers.push_back(integer);
    all_integers = all_integers && whole;
    IT_TRY(float real, read_real(in));
    reals.push_back(real);
    return true;
  };
  IT_TRY_VOID(read_list<bool>(in, read));
  if (!texts.empty() && !reals.empty()) return in.fail(begin, "a list holds texts and numbers");
  if (!texts.empty() || (reals.empty() && def && def->kind == AttributeKind::texts)) return AttributeValue(std::move(texts));
  if (reals.empty() && !def) return in.fail(begin, "found an empty list, expected ints, reals or texts before it");
  if (!all_integers || (def && def->kind == AttributeKind::reals)) return AttributeValue(std::move(reals));
  return AttributeValue(std::move(integers));
}

Result<AttributeValue> read_number(TokenReader& in, const AttributeDef* def) {
  bool whole = in.now().kind == TokenKind::number && is_integer_text(in.now().text);
  if (whole && !(def && def->kind == AttributeKind::real)) {
    IT_TRY(std::int64_t value, in.integer());
    return AttributeValue(value);
  }
  IT_TRY(float value, read_real(in));
  return AttributeValue(value);
}

template <class T>
Result<AttributeValue> as_attribute(Result<T> value) {
  if (!value) return std::move(value.error());
  return AttributeValue(std::move(*value));
}

Result<FileRange> read_range(TokenReader& in) {
  FileRange range;
  IT_TRY(range.path, in.quotation());
  IT_TRY_VOID(in.expect_word("offset"));
  IT_TRY(range.offset, in.unsigned_integer());
  IT_TRY_VOID(in.expect_word("length"));
  IT_TRY(range.length, in.unsigned_integer());
  IT_TRY_VOID(in.expect_word("size"));
  IT_TRY(range.file_size, in.unsigned_integer());
  IT_TRY_VOID(in.expect_word("modified"));
  IT_TRY(range.modified_ns, in.integer());
  return range;
}

// Sets the payload from what follows the type.
Status read_payload(TokenReader& in, const Type& type, Constant& out) {
  std::string_view word = in.now().kind == TokenKind::word ? in.now().text : std::string_view();
  if (word == "file") {
    IT_TRY_VOID(in.advance());
    IT_TRY(FileRange range, read_range(in));
    out.payload = FilePayload{std::move(range)};
    return {};
  }
  if (word == "stream") {
    IT_TRY_VOID(in.advance());
    IT_TRY_VOID(in.unsigned_integer());
    out.payload = AbsentPayload{};
    return {};
  }
  if (word == "absent" || in.is_mark("...")) {
    out.payload = AbsentPayload{};
    return in.advance();
  }
  bool kind = word == "owned" || word == "inline" || word == "mapped";
  if (!kind && !in.is_mark("{")) return in.unexpected("a payload: {elements}, owned, inline, mapped, file, stream, absent or ...");
  if (kind) IT_TRY_VOID(in.advance());
  IT_TRY(Tensor tensor, read_elements(in, type));
  if (word == "owned") {
    out.payload = OwnedPayload{std::move(tensor)};
  } else if (word == "inline") {
    out.payload = InlinePayload{std::move(tensor)};
  } else if (word == "mapped") {
    out.payload = MappedPayload{std::move(tensor)};
  } else {
    out.payload = make_constant(std::move(tensor))->payload;
  }
  return {};
}

}  // namespace

Result<Tensor> read_elements(TokenReader& in, const Type& type) {
  std::size_t begin = in.now().begin;
  IT_TRY(Extents extents, extents_of(in, begin, type));
  Elements elements;
  IT_TRY_VOID(in.expect_mark("{"));
  bool more = !in.is_mark("}");
  while (more) {
    IT_TRY_VOID(read_element(in, type.dtype, elements));
    IT_TRY(more, in.take_mark(","));
  }
  IT_TRY_VOID(in.expect_mark("}"));
  bool complex = is_complex(type.dtype);
  std::size_t count = type.dtype == DType::str ? elements.strings.size() : elements.bits.size() / (complex ? 2 : 1);
  if (count != static_cast<std::size_t>(*element_count(extents))) {
    return in.fail(begin, text("found ", count, " elements, expected ", *element_count(extents), " for ", to_string(type)));
  }
  if (type.dtype == DType::str) return Tensor::of_strings(std::move(extents), std::move(elements.strings));
  IT_TRY(TensorWriter writer, TensorWriter::make(type.dtype, std::move(extents)));
  DType part = complex ? part_of(type.dtype) : type.dtype;
  for (std::size_t i = 0; i < elements.bits.size(); ++i) store_bits(part, writer.bytes(), static_cast<std::int64_t>(i), elements.bits[i]);
  return std::move(writer).finish();
}

Result<ConstantRef> read_constant(TokenReader& in) {
  std::size_t begin = in.now().begin;
  Constant out;
  IT_TRY(Type type, in.type());
  IT_TRY(out.extents, extents_of(in, begin, type));
  out.dtype = type.dtype;
  IT_TRY_VOID(read_payload(in, type, out));
  IT_TRY(bool has_digest, in.take_word("digest"));
  if (has_digest) {
    IT_TRY(out.digest, in.hash());
  }
  return std::make_shared<const Constant>(std::move(out));
}

Result<AttributeValue> read_attribute(TokenReader& in, const AttributeDef* def) {
  if (in.now().kind == TokenKind::text) return as_attribute(in.quotation());
  if (in.is_mark("[")) return read_plain_list(in, def);
  std::string_view word = in.now().kind == TokenKind::word ? in.now().text : std::string_view();
  if (in.now().kind == TokenKind::number || word == "inf" || word == "nan") return read_number(in, def);
  for (std::string_view kind : {"real", "ints", "reals", "texts", "type", "tensor", "tensors"}) {
    if (word != kind) continue;
    IT_TRY_VOID(in.advance());
    if (kind == "real") return as_attribute(read_real(in));
    if (kind == "ints") return as_attribute(read_list<std::int64_t>(in, [&] { return in.integer(); }));
    if (kind == "reals") return as_attribute(read_list<float>(in, [&] { return read_real(in); }));
    if (kind == "texts") return as_attribute(read_list<std::string>(in, [&] { return in.quotation(); }));
    if (kind == "type") return as_attribute(in.type());
    if (kind == "tensor") return as_attribute(read_tensor(in));
    return as_attribute(read_list<Tensor>(in, [&] { return read_tensor(in); }));
  }
  return in.unexpected("the value of an attribute");
}

Result<std::vector<SourceNode>> read_sources(TokenReader& in) {
  std::vector<SourceNode> out;
  IT_TRY(bool there, in.take_word("sources"));
  if (!there) return out;
  IT_TRY_VOID(in.expect_mark("{"));
  while (!in.is_mark("}")) {
    IT_TRY_VOID(in.integer(static_cast<std::int64_t>(out.size()), static_cast<std::int64_t>(out.size())));
    IT_TRY_VOID(in.expect_mark("="));
    IT_TRY_VOID(in.expect_mark("["));
    SourceNode& source = out.emplace_back();
    bool more = !in.is_mark("]");
    while (more) {
      IT_TRY(std::int64_t step, in.integer(0, UINT32_MAX));
      source.path.push_back(static_cast<std::uint32_t>(step));
      IT_TRY(more, in.take_mark(","));
    }
    IT_TRY_VOID(in.expect_mark("]"));
    IT_TRY(source.op, in.word_or_quotation());
    IT_TRY(source.name, in.quotation());
  }
  IT_TRY_VOID(in.expect_mark("}"));
  return out;
}

Result<std::vector<LedgerEntry>> read_ledger(TokenReader& in) {
  std::vector<LedgerEntry> out;
  IT_TRY(bool there, in.take_word("ledger"));
  if (!there) return out;
  IT_TRY_VOID(in.expect_mark("{"));
  while (!in.is_mark("}")) {
    LedgerEntry& entry = out.emplace_back();
    IT_TRY(entry.tool, in.quotation());
    IT_TRY(entry.version, in.quotation());
    IT_TRY(entry.options, in.quotation());
    IT_TRY(bool has_before, in.take_word("before"));
    if (has_before) {
      IT_TRY(entry.before, in.hash());
    }
    IT_TRY(bool has_after, in.take_word("after"));
    if (has_after) {
      IT_TRY(entry.after, in.hash());
    }
  }
  IT_TRY_VOID(in.expect_mark("}"));
  return out;
}

}  // namespace infini
