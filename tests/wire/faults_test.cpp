// Streams that are cut, damaged, forged or refused, and stages that fail.
#include <doctest/doctest.h>

#include <signal.h>
#include <unistd.h>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "tests/wire/sample.h"

namespace infini::test {
namespace {

constexpr As both[] = {As::pipe, As::file};

std::string small_stream() { return written(tiny_module(make_constant(counted(DType::f32, {1200})))).bytes; }

bool says(const Error& error, std::string_view words) { return error.text().find(words) != std::string::npos; }

// The same bytes with a frame put between the first two frames.
std::string with_frame_after_header(const std::string& stream, std::string_view inserted) {
  auto header = static_cast<std::size_t>(static_cast<unsigned char>(stream[0])) + 1;
  return stream.substr(0, header) + std::string(inserted) + stream.substr(header);
}

std::string header(std::string_view magic, int version) {
  std::string content;
  wire::append_varint(content, wire::bytes_tag(1));
  wire::append_varint(content, magic.size());
  content += magic;
  wire::append_varint(content, 2 << 3);
  wire::append_varint(content, static_cast<std::uint64_t>(version));
  return frame(1, content);
}

Error failure(const std::string& bytes, As as, const ReadOptions& options = {}) {
  static const OpTable ops;
  Result<Module> module = read_back(bytes, as, ops, options);
  REQUIRE_FALSE(module.has_value());
  return module.error();
}

}  // namespace

TEST_CASE("a stream cut anywhere is truncated, and says so") {
  std::string stream = small_stream();
  REQUIRE(stream.size() > 4800);
  for (As as : both) {
    for (std::size_t size = 0; size < stream.size(); ++size) {
      Error error = failure(stream.substr(0, size), as);
      CAPTURE(size);
      CAPTURE(error.text());
      CHECK(error.kind == ErrorKind::bad_input);
      CHECK(says(error, "the stream stopped before its end mark"));
    }
  }
  CHECK(says(failure(stream.substr(0, 100), As::pipe), "at byte 100: the stage before this one was probably killed"));
}

TEST_CASE("every damaged byte is noticed on a pipe, and on a file everywhere but in payloads") {
  OpTable ops;
  std::string stream = small_stream();
  Module original = tiny_module(make_constant(counted(DType::f32, {1200})));
  std::string_view payload(reinterpret_cast<const char*>(original.graph.values()[0].constant->at_hand()->bytes().data()), 4800);
  std::size_t begin = stream.find(payload);
  REQUIRE(begin != std::string::npos);
  for (std::size_t at = 0; at < stream.size(); ++at) {
    bool in_payload = at >= begin && at < begin + payload.size();
    if (in_payload && at % 97 != 0) continue;
    for (int change : {0x01, 0x80, 0xff, 0x08, 0x10}) {
      std::string damaged = stream;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      CAPTURE(at);
      CAPTURE(change);
      Result<Module> piped = read_back(damaged, As::pipe, ops);
      CHECK_FALSE(piped.has_value());
      Result<Module> mapped = read_back(damaged, As::file, ops);
      CHECK(mapped.has_value() == in_payload);
      if (mapped) CHECK_FALSE(check_contents(mapped->graph).has_value());
    }
  }
}

TEST_CASE("damage anywhere in a stream of everything never crashes") {
  OpTable ops;
  std::string stream = written(sample_module(ops, 1200)).bytes;
  std::size_t refused = 0, tried = 0;
  for (std::size_t at = 0; at < stream.size(); at += at < 12000 ? 5 : 41) {
    std::string damaged = stream;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ++tried;
    refused += read_back(damaged, As::pipe, ops).has_value() ? 0 : 1;
    (void)read_back(damaged, As::file, ops);
  }
  CHECK(refused == tried);
}

TEST_CASE("nothing may follow the end") {
  for (As as : both) {
    Error error = failure(small_stream() + "x", as);
    CHECK(error.kind == ErrorKind::bad_input);
    CHECK(says(error, "something follows the end of the stream"));
  }
}

TEST_CASE("lengths are refused before memory is taken for them") {
  std::string start = header(wire::magic, 1);
  std::string huge;
  wire::append_varint(huge, std::uint64_t{1} << 62);
  std::string graph_of_1_gib, inner;
  wire::append_varint(inner, wire::bytes_tag(2));
  wire::append_varint(inner, std::uint64_t{1} << 30);
  wire::append_varint(graph_of_1_gib, inner.size() + (std::uint64_t{1} << 30));
  graph_of_1_gib += inner;
  for (As as : both) {
    CHECK(failure(huge, as).kind == ErrorKind::bad_input);
    CHECK(failure(start + huge, as).kind == ErrorKind::bad_input);
    CHECK(says(failure(start + graph_of_1_gib, as), "at most 268435456 are allowed"));
    CHECK(says(failure(start + std::string(11, '\xff'), as), "longer than 64 bits"));
    CHECK(says(failure(start + std::string("\x02\x08\x01", 3), as), "no frame at byte"));
    CHECK(says(failure(start + std::string("\x00", 1), as), "stopped before its end mark"));
  }
}

TEST_CASE("a payload of a terabyte that does not come takes no memory") {
  // GraphFrame { graph { constants { name: "c" } outputs: 0 } constants { element_type: 1 extents: 2^38 chunked { length: 2^40 } } }
  std::string chunked("\x22\x07\x10", 3);
  wire::append_varint(chunked, std::uint64_t{1} << 40);
  std::string constant_message("\x08\x01\x12\x06", 4);
  wire::append_varint(constant_message, std::uint64_t{1} << 38);
  constant_message += chunked;
  std::string value("\x0a\x01" "c", 3);
  std::string graph = "\x22" + std::string(1, '\x03') + value + std::string("\x32\x01\x00", 3);
  std::string content = "\x0a" + std::string(1, static_cast<char>(graph.size())) + graph + "\x1a" +
                        std::string(1, static_cast<char>(constant_message.size())) + constant_message;
  for (As as : both) {
    Error error = failure(header(wire::magic, 1) + frame(2, content), as);
    CAPTURE(error.text());
    CHECK(says(error, "stopped before its end mark"));
  }
}

TEST_CASE("versions: a newer format names both, an unknown frame is refused, an ancillary one is passed on") {
  OpTable ops;
  std::string stream = small_stream();
  for (As as : both) {
    Error newer = failure(header(wire::magic, 2), as);
    CHECK(newer.kind == ErrorKind::bad_input);
    CHECK(says(newer, "format version 2"));
    CHECK(says(newer, "versions up to 1"));
    CHECK(says(failure(header(wire::magic, 0), as), "version 0"));
    CHECK(says(failure(header("something", 1), as), "not a stream"));
    CHECK(says(failure(with_frame_after_header(stream, frame(999, "x")), as), "frame 999"));
    CHECK(says(failure(with_frame_after_header(stream, frame(9, "")), as), "frame 9 at byte "));
  }
  std::string more = frame(1000, "kept") + frame(123456, std::string(300, '\0'));
  for (As as : both) CHECK(says(failure(with_frame_after_header(stream, more), as), "the stream is damaged"));
}

TEST_CASE("ancillary frames are passed on") {
  OpTable ops;
  std::string stream = written(tiny_module(make_constant(counted(DType::f32, {12})))).bytes;  // no payloads
  std::string more = frame(1000, "kept") + frame(123456, std::string(300, '\0'));
  stream = with_end(with_frame_after_header(stream.substr(0, stream.size() - end_size), more));
  for (As as : both) {
    Result<StreamReader> reader = opened(stream, as);
    REQUIRE(reader.has_value());
    Result<Module> module = reader->read_module(ops);
    REQUIRE(module.has_value());
    Written passed = written(std::move(*module), {.source = &*reader});
    REQUIRE(passed.status.has_value());
    CHECK(passed.bytes.find(more) != std::string::npos);
    CHECK(read_back(passed.bytes, as, ops).has_value());
  }
}

TEST_CASE("errors travel: kind, message, place and the original status") {
  for (As as : both) {
    std::string bytes;
    ByteSink sink = [&](std::span<const std::byte> piece) -> Status {
      bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return {};
    };
    StreamWriter writer(sink, "it-import 1");
    REQUIRE(writer.begin().has_value());
    Error original = within("node 'conv1'", unsupported("no such operator"));
    REQUIRE(writer.fail(original, 4).has_value());
    Error error = failure(bytes, as);
    CHECK(error.kind == ErrorKind::unsupported);
    CHECK(error.message == "no such operator");
    CHECK(error.where == "node 'conv1'");
    CHECK(error.reported);
    CHECK(error.status == 4);
  }
}

TEST_CASE("an error in the middle of a payload ends a passing stage's stream with the same error") {
  OpTable ops;
  std::string stream = written(tiny_module(make_constant(counted(DType::f32, {12000}))), {.chunk_bytes = 4096}).bytes;
  Tensor content = counted(DType::f32, {12000});
  std::string_view second(reinterpret_cast<const char*>(content.bytes().data()) + 3 * 4096, 64);
  std::size_t end = stream.find(second);
  REQUIRE(end != std::string::npos);
  std::string cut = stream.substr(0, end + 4096);
  std::string error_bytes;
  ByteSink sink = [&](std::span<const std::byte> piece) -> Status {
    error_bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  };
  StreamWriter failing(sink, "it-import 1");
  REQUIRE(failing.begin().has_value());
  std::size_t header_size = error_bytes.size();
  Error original = run_failed("out of memory");
  REQUIRE(failing.fail(original, 5).has_value());
  cut += error_bytes.substr(header_size);

  Result<StreamReader> reader = opened(cut, As::pipe);
  REQUIRE(reader.has_value());
  Result<Module> module = reader->read_module(ops);
  REQUIRE(module.has_value());
  std::string out;
  StreamWriter writer([&](std::span<const std::byte> piece) -> Status {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  }, "it-opt 1");
  Status written = writer.write(std::move(*module), {.source = &*reader, .chunk_bytes = 2048});
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().message == "out of memory");
  CHECK(written.error().reported);
  REQUIRE(writer.fail(written.error(), written.error().status).has_value());
  Error last = failure(out, As::pipe);
  CHECK(last.message == "out of memory");
  CHECK(last.status == 5);
}

TEST_CASE("a closed pipe and a full disk are told apart") {
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  Module module = tiny_module(make_constant(counted(DType::f32, {1200})));
  Status closed = StreamWriter(descriptor_sink(ends[1], "standard output"), "it-test 1").write(module);
  ::close(ends[1]);
  REQUIRE_FALSE(closed.has_value());
  CHECK(closed.error().kind == ErrorKind::io);
  CHECK(closed.error().status == 141);
  std::FILE* full = std::fopen("/dev/full", "wb");
  REQUIRE(full != nullptr);
  Status refused = StreamWriter(descriptor_sink(fileno(full), "/dev/full"), "it-test 1").write(module);
  std::fclose(full);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::io);
  CHECK(refused.error().message == "cannot write /dev/full: No space left on device");
  CHECK(refused.error().status == 0);
}

}  // namespace infini::test
