#include "libcore/tensor/npy_header.h"

#include <algorithm>
#include <optional>

#include "libcore/base/text.h"
#include "libcore/tensor/text_cursor.h"

namespace infini {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header_bytes = 65536;

struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Extents> shape;
};

// Reads the one kind of Python literal that a header holds: a dict of a string, a bool and a tuple of integers.
class Parser : TextCursor {
 public:
  explicit Parser(std::string_view text) : TextCursor(text, "npy: header") {}

  Result<Fields> fields() {
    Fields out;
    IT_TRY_VOID(expect('{'));
    while (!take('}')) {
      IT_TRY(std::string key, string());
      IT_TRY_VOID(expect(':'));
      IT_TRY_VOID(field(key, out));
      if (!take(',')) {
        IT_TRY_VOID(expect('}'));
        break;
      }
    }
    if (peek() != '\0') return fail("the end");
    return out;
  }

 private:
  Status field(const std::string& key, Fields& out) {
    if (key == "descr" && !out.descr) {
      if (peek() == '[') return unsupported("npy: arrays of records are not supported");
      IT_TRY(out.descr, string());
      return {};
    }
    if (key == "fortran_order" && !out.fortran_order) {
      IT_TRY(out.fortran_order, boolean());
      return {};
    }
    if (key == "shape" && !out.shape) {
      IT_TRY(out.shape, tuple());
      return {};
    }
    return bad_input(text("npy: the header has an unexpected or repeated key ", quoted(key)));
  }

  Result<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return fail("a string");
    std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail("a string that ends");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  Result<bool> boolean() {
    peek();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    return fail("True or False");
  }

  Result<Extents> tuple() {
    IT_TRY_VOID(expect('('));
    Extents out;
    while (!take(')')) {
      peek();
      std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      std::int64_t extent = 0;
      if (!parse_int(text_.substr(begin, at_ - begin), extent)) return fail("an extent");
      take('L');  // Python 2 wrote its long integers so
      out.push_back(extent);
      if (out.size() > most_npy_axes) return fail("at most 64 axes");
      if (!take(',')) {
        IT_TRY_VOID(expect(')'));
        break;
      }
    }
    return out;
  }
};

bool known_size(const NpyDescr& descr) {
  std::size_t size = descr.size;
  switch (descr.kind) {
    case 'f': return size == 2 || size == 4 || size == 8;
    case 'i':
    case 'u': return size == 1 || size == 2 || size == 4 || size == 8;
    case 'b': return size == 1;
    case 'c': return size == 8 || size == 16;
    case 'U':
    case 'S':
    case 'V': return true;
    default: return false;
  }
}

Result<NpyDescr> parse_descr(std::string_view descr) {
  Error malformed = bad_input(text("npy: descr ", quoted(descr), " is not an element type such as '<f4'"));
  if (descr.empty()) return malformed;
  NpyDescr out;
  std::string_view order = "<>|=";
  if (order.find(descr.front()) != std::string_view::npos) {
    out.swapped = descr.front() == '>';
    descr.remove_prefix(1);
  }
  if (descr.empty()) return malformed;
  out.kind = descr.front();
  if (out.kind == '?' && descr.size() == 1) descr = "b1";
  out.kind = descr.front();
  if (out.kind == 'O') return unsupported("npy: arrays of Python objects are not supported");
  if (out.kind == 'M' || out.kind == 'm') return unsupported("npy: arrays of dates and times are not supported");
  std::int64_t size = 0;
  if (!parse_int(descr.substr(1), size) || size < 0 || size > INT32_MAX) return malformed;
  out.size = static_cast<std::size_t>(size) * (out.kind == 'U' ? 4 : 1);
  if (std::string_view("fiubcUSV").find(out.kind) == std::string_view::npos) return malformed;
  if (out.kind == 'f' && out.size == 1) out.kind = 'V';  // so ml_dtypes spells its 8-bit floats, which NumPy cannot read back
  if (!known_size(out)) return unsupported(text("npy: elements of type ", quoted(descr), " are not supported"));
  return out;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes) {
  std::string_view file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (file.substr(0, magic.size()) != magic) return bad_input("npy: the file does not start with \\x93NUMPY");
  if (file.size() < 10) return bad_input("npy: truncated before the header's length");
  auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(bytes[at]); };
  std::size_t major = byte(6);
  std::size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) return bad_input(text("npy: format version ", major, ".", minor, " is not 1.0, 2.0 or 3.0"));
  std::size_t begin = major == 1 ? 10 : 12;
  if (file.size() < begin) return bad_input("npy: truncated before the header's length");
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > most_header_bytes) return bad_input(text("npy: a header of ", length, " bytes is more than the limit of ", most_header_bytes));
  if (file.size() - begin < length) {
    return bad_input(text("npy: truncated: a header of ", length, " bytes, of which ", file.size() - begin, " are there"));
  }
  IT_TRY(Fields fields, Parser(file.substr(begin, length)).fields());
  if (!fields.descr || !fields.fortran_order || !fields.shape) {
    return bad_input("npy: the header lacks one of 'descr', 'fortran_order' and 'shape'");
  }
  IT_TRY(NpyDescr descr, parse_descr(*fields.descr));
  return NpyHeader{descr, *fields.fortran_order, std::move(*fields.shape), begin + length};
}

std::string npy_header(const std::string& descr, const Extents& shape) {
  std::string tuple = join(shape, ", ");
  if (shape.size() == 1) tuple += ',';
  std::string fields = text("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", tuple, "), }");
  constexpr std::size_t before = 10;
  std::size_t total = (before + fields.size() + 1 + 63) / 64 * 64;
  fields.resize(total - before - 1, ' ');
  fields += '\n';
  std::string out(magic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(fields.size() & 0xff);
  out += static_cast<char>(fields.size() >> 8);
  return out + fields;
}

}  // namespace infini
