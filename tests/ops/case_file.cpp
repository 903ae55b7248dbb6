#include "case_file.h"

#include <charconv>
#include <fstream>

#include "libcore/base/text.h"
#include "libcore/tensor/element.h"

namespace infini::tests {
namespace {

// Words of a line; quoted ones keep their quotes.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      ++i;
      continue;
    }
    std::size_t end = line[i] == '"' ? line.find('"', i + 1) + 1 : line.find(' ', i);
    end = std::min(end == 0 ? line.size() : end, line.size());
    out.emplace_back(line.substr(i, end - i));
    i = end;
  }
  return out;
}

bool is_text(std::string_view word) { return word.size() >= 2 && word.front() == '"' && word.back() == '"'; }
std::string unquoted(std::string_view word) { return std::string(word.substr(1, word.size() - 2)); }

Status set_element(TensorWriter& writer, std::int64_t i, const std::string& word) {
  DType dtype = writer.tensor().dtype();
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  double real = 0;
  if (dtype == DType::str) {
    if (!is_text(word)) return bad_input(text("element ", word, " is no quoted text"));
    writer.strings()[static_cast<std::size_t>(i)] = unquoted(word);
  } else if (!is_floating(dtype) && parse_int(word, whole)) {
    writer.set_int(i, whole);
  } else if (dtype == DType::u64 && std::from_chars(word.data(), word.data() + word.size(), large).ec == std::errc()) {
    writer.set_int(i, static_cast<std::int64_t>(large));
  } else if (is_floating(dtype) && parse_double(word, real)) {
    store_bits(dtype, writer.bytes(), i, encode_float(dtype, real, {.saturate = false}));  // an infinity stays one
  } else {
    return bad_input(text("element ", word, " is no ", name(dtype)));
  }
  return {};
}

Result<std::optional<Tensor>> read_tensor(std::string_view line) {
  std::vector<std::string> parts = words(line);
  if (parts.size() == 1 && parts[0] == "-") return std::optional<Tensor>();
  if (parts.empty()) return bad_input("a type is missing");
  IT_TRY(Type type, parse_type(parts[0]));
  std::optional<Extents> extents = type.has_shape() ? constant_extents(*type.shape) : std::nullopt;
  if (!extents) return bad_input(text(parts[0], " is no tensor type with numbers"));
  IT_TRY(TensorWriter writer, TensorWriter::make(type.dtype, *extents));
  std::int64_t count = writer.tensor().count();
  if (static_cast<std::int64_t>(parts.size()) - 1 != count) return bad_input(text(parts[0], " has ", parts.size() - 1, " elements, expected ", count));
  for (std::int64_t i = 0; i < count; ++i) IT_TRY_VOID(set_element(writer, i, parts[static_cast<std::size_t>(i) + 1]));
  return std::optional<Tensor>(std::move(writer).finish());
}

Result<AttributeValue> read_attribute(std::string_view word) {
  std::int64_t whole = 0;
  double real = 0;
  if (is_text(word)) return AttributeValue(unquoted(word));
  if (parse_int(word, whole)) return AttributeValue(whole);
  if (parse_double(word, real)) return AttributeValue(static_cast<float>(real));
  if (word.size() < 2 || word.front() != '[' || word.back() != ']') return bad_input(text(word, " is no attribute value"));
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  for (const std::string& part : split(word.substr(1, word.size() - 2), ',')) {
    if (part.empty()) continue;
    if (parse_int(part, whole)) {
      integers.push_back(whole);
    } else if (parse_double(part, real)) {
      reals.push_back(static_cast<float>(real));
    } else {
      return bad_input(text(part, " is no number"));
    }
  }
  if (reals.empty()) return AttributeValue(integers);
  return AttributeValue(reals);
}

Status read_line(Case& c, std::string_view key, std::string_view rest) {
  std::vector<std::string> parts = words(rest);
  if (key == "op" && !parts.empty()) {
    std::int64_t opset = 0;
    if (parts.size() > 1 && !parse_int(parts[1], opset)) return bad_input(text(parts[1], " is no opset"));
    c.op = parts[0];
    c.opset = static_cast<int>(opset);
  } else if (key == "attr" && parts.size() == 3 && parts[1] == "=") {
    IT_TRY(AttributeValue value, read_attribute(parts[2]));
    c.attributes.set(parts[0], std::move(value));
  } else if (key == "attr" && parts.size() > 3 && parts[1] == "=") {
    IT_TRY(std::optional<Tensor> tensor, read_tensor(rest.substr(rest.find('=') + 1)));
    c.attributes.set(parts[0], *tensor);
  } else if (key == "in" || key == "out") {
    IT_TRY(std::optional<Tensor> tensor, read_tensor(rest));
    (key == "in" ? c.inputs : c.outputs).push_back(std::move(tensor));
  } else if (key == "near" && parts.size() == 2 && parse_double(parts[0], c.absolute) && parse_double(parts[1], c.relative)) {
    return {};
  } else if (key == "error" && !rest.empty()) {
    c.error = rest;
  } else {
    return bad_input(text("'", key, " ", rest, "' is no line of a case"));
  }
  return {};
}

}  // namespace

Result<std::vector<Case>> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return io_error(text("cannot open ", path));
  std::vector<Case> cases;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::string_view all = trim(line);
    if (all.empty() || all.front() == '#' || all.starts_with("sample ")) continue;
    std::string_view key = all.substr(0, all.find(' ')), rest = key.size() == all.size() ? std::string_view() : trim(all.substr(key.size()));
    if (key == "case") {
      cases.emplace_back().name = rest;
    } else if (cases.empty()) {
      return bad_input(text(path, ":", number, ": no case has begun"));
    } else {
      IT_TRY_VOID(within(text(path, ":", number), read_line(cases.back(), key, rest)));
    }
  }
  return cases;
}

}  // namespace infini::tests
