// What npz_crosscheck.py does not show: files made by hand, sharing of bytes, limits.
#include "libcore/tensor/npz.h"

#include <cstring>
#include <filesystem>

#include <unistd.h>
#include <zlib.h>

#include <doctest/doctest.h>

#include "libcore/base/file.h"
#include "libcore/tensor/npy.h"
#include "libcore/tensor/npy_text.h"
#include "libcore/tensor/zip.h"

using namespace infini;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string npy_file(const std::string& fields, const std::string& data) {
  std::string header = fields + "\n";
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

Error npy_error(const std::string& fields, const std::string& data, NpyLimits limits = {}) {
  std::string file = npy_file(fields, data);
  Result<Tensor> tensor = read_npy(bytes_of(file), nullptr, limits);
  REQUIRE_FALSE(tensor.has_value());
  return tensor.error();
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool deflate = false) {
  std::string out;
  ZipWriter zip([&](std::span<const std::byte> bytes) {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status();
  }, deflate);
  for (const auto& [name, content] : members) {
    REQUIRE(zip.add(name, [&content = content](const ByteSink& sink) { return sink(bytes_of(content)); }).has_value());
  }
  REQUIRE(zip.finish().has_value());
  return out;
}

Result<NamedValues> read(const std::string& file, std::uint64_t limit = UINT64_MAX) { return read_npz(bytes_of(file), nullptr, limit); }

std::string message(const std::string& file, std::uint64_t limit = UINT64_MAX) {
  Result<NamedValues> values = read(file, limit);
  REQUIRE_FALSE(values.has_value());
  CHECK(values.error().kind == ErrorKind::bad_input);
  return values.error().text();
}

std::string npy_of(const Tensor& tensor) {
  std::string out;
  REQUIRE(write_npy(tensor, [&](std::span<const std::byte> bytes) {
            out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            return Status();
          }).has_value());
  return out;
}

}  // namespace

TEST_CASE("the file of np.save(np.arange(3, dtype='<i2')) byte for byte") {
  // numpy 2.4.6, but for the room that NumPy leaves for a growing first axis, which is blanks as well.
  Tensor tensor = Tensor::of<std::int16_t>(DType::i16, {3}, {0, 1, 2});
  std::string expected = "\x93NUMPY\x01";
  expected += '\0';
  expected += "v";
  expected += '\0';
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  expected.resize(127, ' ');
  expected += '\n';
  expected += std::string("\0\0\1\0\2\0", 6);
  CHECK(npy_of(tensor) == expected);
}

TEST_CASE("a tensor shares the file's bytes where they lie as it needs them") {
  auto file = std::make_shared<const std::string>(npy_of(Tensor::of<double>(DType::f64, {2}, {1.5, 2.5})));
  Result<Tensor> shared = read_npy(bytes_of(*file), file);
  REQUIRE(shared.has_value());
  CHECK(static_cast<const void*>(shared->bytes().data()) == static_cast<const void*>(file->data() + 128));
  Result<Tensor> copied = read_npy(bytes_of(*file), nullptr);
  CHECK(copied->bytes().data() != shared->bytes().data());
  CHECK(copied->as_double(1) == 2.5);
  auto moved = std::make_shared<const std::string>(" " + *file);
  Result<Tensor> unaligned = read_npy(bytes_of(*moved).subspan(1), moved);
  CHECK(reinterpret_cast<std::uintptr_t>(unaligned->bytes().data()) % 8 == 0);
}

TEST_CASE("malformed npy headers are refused with what was found") {
  CHECK(read_npy({}, nullptr).error().kind == ErrorKind::bad_input);
  const char* fine = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(npy_error(fine, "1234567").message == "npy: f32[2] takes 8 bytes of data, found 7");
  CHECK(npy_error(fine, "123456789").message == "npy: f32[2] takes 8 bytes of data, found 9");
  for (const char* fields : {"", "{", "{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "{'descr': '<q4', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '', 'fortran_order': False, 'shape': ()}", "{'descr': '<', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2} ", "{'descr': '<f4', 'fortran_order': False, 'shape': (), } x",
                             "{'descr': '<f4', 'more': 'x', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}"}) {
    CAPTURE(fields);
    CHECK(npy_error(fields, "").kind == ErrorKind::bad_input);
  }
  CHECK(npy_error("{'descr': '<f16', 'fortran_order': False, 'shape': ()}", "").kind == ErrorKind::unsupported);
}

TEST_CASE("sizes are limited before anything is allocated") {
  CHECK(npy_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678", {7, std::nullopt}).message.find("limit") != std::string::npos);
  CHECK(npy_error("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }", "").kind == ErrorKind::bad_input);
  CHECK(npy_error("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }", "", {UINT64_MAX, DType::i4}).kind == ErrorKind::bad_input);
  CHECK(npy_error("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", std::string(8, '\0'), {64, std::nullopt}).kind == ErrorKind::bad_input);
  CHECK(npy_error("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", "\xff\xff\xff\x7f").message.find("Unicode") != std::string::npos);
}

TEST_CASE("bools become 0 or 1, packed types keep their low bits") {
  std::string file = npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\x00\x02\x01", 3));
  CHECK(read_npy(bytes_of(file), nullptr)->to_ints() == std::vector<std::int64_t>{0, 1, 1});
  file = npy_file("{'descr': '|V1', 'fortran_order': False, 'shape': (3,), }", "\x0f\xf8\x07");
  CHECK(read_npy(bytes_of(file), nullptr, {UINT64_MAX, DType::i4})->to_ints() == std::vector<std::int64_t>{-1, -8, 7});
  file = npy_file("{'descr': '<f1', 'fortran_order': False, 'shape': (1,), }", "\x38");  // as ml_dtypes 0.6 writes float8_e4m3fn(1)
  CHECK(read_npy(bytes_of(file), nullptr, {UINT64_MAX, DType::f8e4m3fn})->as_double(0) == 1);
}

TEST_CASE("text goes to UTF-32 and back, also where it is not UTF-8") {
  for (const char* text : {"", "ascii", "z\xc3\xbcrich", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "a\x80", "\xe4\xb8"}) {
    CHECK(to_utf8(to_utf32(text)) == std::string(text));
  }
  CHECK(to_utf32("\xf0\x9f\x98\x80") == U"\U0001f600");
  CHECK(to_utf32("\xff") == std::u32string(1, static_cast<char32_t>(0xdcff)));
  CHECK_FALSE(to_utf8(std::u32string(1, static_cast<char32_t>(0xd800))).has_value());
  CHECK_FALSE(to_utf8(std::u32string(1, static_cast<char32_t>(0x110000))).has_value());
}

TEST_CASE("sequences, optionals and types NumPy lacks come back as they went") {
  Result<TensorWriter> packed = TensorWriter::make(DType::i4, {3});
  for (std::int64_t i = 0; i < 3; ++i) packed->set_int(i, i - 2);
  Value sequence = Sequence{Type::tensor(DType::str), {Tensor::of_strings({1}, {"a"}), Tensor::of_strings({2}, {"b", "c"})}};
  Value nested = Sequence{sequence.type(), {sequence, Value(Sequence{Type::tensor(DType::str), {}})}};
  Value full = Optional{Type::tensor(DType::i64), std::make_shared<const Value>(Tensor::scalar_i64(3))};
  Value none = Optional{nested.type(), nullptr};
  NamedValues values = {{"x", std::move(*packed).finish()}, {"s.0/y", nested}, {"o", full}, {"n", none}, {"plain.0", Tensor::scalar_i64(4)}};
  std::string path = (std::filesystem::temp_directory_path() / ("it-npz-test-" + std::to_string(::getpid()) + ".npz")).string();
  for (bool deflate : {false, true}) {
    REQUIRE(save_npz(path, values, deflate).has_value());
    Result<NamedValues> got = load_npz(path);
    std::filesystem::remove(path);
    REQUIRE_MESSAGE(got.has_value(), got.error().text());
    REQUIRE(got->size() == 5);
    CHECK((*got)[0].first == "x");
    CHECK((*got)[0].second.tensor()->to_ints() == std::vector<std::int64_t>{-2, -1, 0});
    CHECK((*got)[1].first == "plain.0");
    CHECK((*got)[2].first == "s.0/y");
    const Sequence& outer = *(*got)[2].second.sequence();
    REQUIRE(outer.items.size() == 2);
    CHECK(outer.items[0].sequence()->items[1].tensor()->strings() == std::vector<std::string>{"b", "c"});
    CHECK(outer.items[1].sequence()->items.empty());
    CHECK((*got)[3].second.optional()->item->tensor()->as_int(0) == 3);
    CHECK((*got)[4].second.optional()->item == nullptr);
    CHECK(to_string((*got)[4].second.type()) == "optional(seq(seq(str[?])))");
  }
  Map map{DType::i64, {}, {1}, {Tensor::scalar_i64(1)}};
  CHECK(save_npz(path, {{"m", map}}).error().kind == ErrorKind::unsupported);
  CHECK(save_npz(path, {{"a", Tensor::scalar_i64(1)}, {"a", Tensor::scalar_i64(1)}}).error().kind == ErrorKind::bad_input);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a __dtypes__.json that contradicts the members is refused") {
  std::string one = npy_of(Tensor::of<float>(DType::f32, {1}, {1}));
  auto with = [&](const std::string& json) { return zip_of({{"s.0.npy", one}, {"__dtypes__.json", json}}); };
  CHECK(message(with("{\"s.0\": \"bf16\"}")).find("says bf16") != std::string::npos);
  CHECK(message(with("{\"s.0\": \"f99\"}")).find("unknown type") != std::string::npos);
  CHECK(message(with("{\"s\": \"seq(f32)\"}")).find("no length") != std::string::npos);
  CHECK(message(with("{\"s\": \"seq(f32)\", \"s#\": \"99999999999\"}")).find("s.1.npy") != std::string::npos);
  CHECK(message(with("{\"s\": \"seq(i64)\", \"s#\": \"1\"}")).find("not an item of") != std::string::npos);
  CHECK(message(with("{\"s\": \"optional(f32)\", \"s#\": \"2\"}")).find("2 items") != std::string::npos);
  CHECK(message(with("{\"s\": \"map(f32)\", \"s#\": \"1\"}")).find("not a type") != std::string::npos);
  for (const char* json : {"", "[]", "{\"a\": 1}", "{\"a\": \"b\"} x", "{\"a\": \"\\ud800\"}", "{\"a\": \"b\", \"a\": \"c\"}", "{\"a", "{\"a\": \"\\u12"}) message(with(json));
  CHECK(read(with("{\"s\": \"seq(\\u0066\\u0033\\u0032)\", \"s#\": \"1\"}")).has_value());
}

TEST_CASE("damaged and hostile zip files are refused") {
  std::string content = npy_of(Tensor::zeros(DType::f32, {1000}).value());
  std::string file = zip_of({{"x.npy", content}}, true);
  CHECK(file.size() < 400);
  REQUIRE(read(file).has_value());
  CHECK(message(file, 1000).find("limit") != std::string::npos);
  for (std::size_t length = 0; length < file.size(); ++length) message(file.substr(0, length));
  auto patched = [&](std::size_t from_end, std::uint32_t number) {
    std::string out = file;
    std::memcpy(out.data() + out.size() - from_end, &number, sizeof number);
    return out;
  };
  constexpr std::size_t end = 22, entry = 46 + 5;
  CHECK(message(patched(end + entry - 24, 0xfffffff0)).find("cannot hold") != std::string::npos);  // a declared size of 4 GiB
  CHECK(message(patched(end + entry - 24, 4000)).find("not a deflate stream") != std::string::npos);
  CHECK(message(patched(end + entry - 16, 1)).find("checksum") != std::string::npos);
  CHECK(message(patched(end + entry - 42, 0xffffff)).find("truncated") != std::string::npos);
  CHECK(read(patched(end + entry - 8, 0x00080001)).error().kind == ErrorKind::unsupported);  // encrypted
  CHECK(message(zip_of({{"a.npy", content}, {"b.npy", content}}), 6000).find("limit") != std::string::npos);
}

TEST_CASE("members that overlap are read, each against its own checksum") {
  std::string file = zip_of({{"x.npy", npy_of(Tensor::scalar_i64(5))}});
  std::string directory = file.substr(file.size() - 22 - 51, 51);
  std::string end = file.substr(file.size() - 22);
  std::string second = directory;
  second[46] = 'y';
  end[8] = end[10] = 2;
  end[12] = static_cast<char>(102);
  Result<NamedValues> values = read(file.substr(0, file.size() - 22) + second + end);
  REQUIRE_MESSAGE(values.has_value(), values.error().text());
  REQUIRE(values->size() == 2);
  CHECK((*values)[1].first == "y");
  CHECK((*values)[1].second.tensor()->as_int(0) == 5);
}
