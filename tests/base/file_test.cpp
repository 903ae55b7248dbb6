#include "libcore/base/file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include <doctest/doctest.h>

using namespace infini;
namespace fs = std::filesystem;

namespace {

// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "it-file-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator())); }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

TEST_CASE("a file appears under its name only when committed") {
  Folder folder;
  std::string path = folder / "out";
  put(path, "before");
  {
    Result<FileWriter> writer = FileWriter::open(path);
    REQUIRE(writer.has_value());
    REQUIRE(writer->write("after").has_value());
    CHECK(content(path) == "before");
    CHECK(writer->written() == 5);
    REQUIRE(writer->commit().has_value());
  }
  CHECK(content(path) == "after");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is abandoned, or moved and abandoned, leaves nothing") {
  Folder folder;
  {
    Result<FileWriter> writer = FileWriter::open(folder / "out");
    REQUIRE(writer->write("half").has_value());
    FileWriter moved = std::move(*writer);
    CHECK_FALSE(fs::exists(folder / "out"));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("links stay links, and the permissions of what is replaced stay") {
  Folder folder;
  put(folder / "target", "old");
  fs::permissions(folder / "target", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", folder / "link");
  Result<FileWriter> writer = FileWriter::open(folder / "link");
  REQUIRE(writer->write("new").has_value());
  REQUIRE(writer->commit().has_value());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "target") == "new");
  CHECK(fs::status(folder / "target").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a link to a file that is not there yet stays a link") {
  Folder folder;
  fs::create_symlink("second", folder / "first");
  fs::create_symlink(folder / "target", folder / "second");
  Result<FileWriter> writer = FileWriter::open(folder / "first");
  REQUIRE(writer->write("new").has_value());
  REQUIRE(writer->commit().has_value());
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "second"));
  CHECK(content(folder / "target") == "new");
}

TEST_CASE("a full device and a missing folder are io errors that name the path") {
  Result<FileWriter> full = FileWriter::open("/dev/full");
  REQUIRE(full.has_value());
  Status status = full->write("x");
  REQUIRE_FALSE(status.has_value());
  CHECK(status.error().kind == ErrorKind::io);
  CHECK(status.error().message.find("/dev/full") != std::string::npos);
  CHECK(fs::is_character_file("/dev/full"));
  Result<FileWriter> missing = FileWriter::open("/no/such/folder/out");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().message.find("/no/such/folder/out") != std::string::npos);
}

TEST_CASE("mapping gives the bytes, outlives its object and notices a change") {
  Folder folder;
  std::string path = folder / "data";
  put(path, "hello");
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  {
    Result<MappedFile> file = MappedFile::open(path);
    REQUIRE(file.has_value());
    CHECK(file->facts().size == 5);
    CHECK(file->is_unchanged());
    bytes = file->bytes();
    owner = file->owner();
    put(folder / "other", "hello again");
    fs::rename(folder / "other", path);
    CHECK_FALSE(file->is_unchanged());
  }
  CHECK(as_text(bytes) == "hello");
  put(folder / "empty", "");
  CHECK(MappedFile::open(folder / "empty")->bytes().empty());
  CHECK(MappedFile::open(folder / "absent").error().kind == ErrorKind::bad_input);
  CHECK_FALSE(MappedFile::open("/dev/null").has_value());
}

TEST_CASE("whole files are read up to a limit, pipes too") {
  Folder folder;
  std::string path = folder / "data";
  put(path, "0123456789");
  CHECK(as_text(*read_file(path, 10)) == "0123456789");
  CHECK(read_file(path, 9).error().kind == ErrorKind::bad_input);
  CHECK(read_file(folder / "absent", 9).error().kind == ErrorKind::bad_input);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::string long_text(300000, 'x');
  std::thread writer([&] {
    CHECK(write_fully(ends[1], std::as_bytes(std::span(long_text)), "pipe").has_value());
    ::close(ends[1]);
  });
  std::string reader = "/proc/self/fd/" + std::to_string(ends[0]);
  Result<std::vector<std::byte>> got = read_file(reader, 1 << 20);
  writer.join();
  ::close(ends[0]);
  REQUIRE(got.has_value());
  CHECK(as_text(*got) == long_text);
  CHECK(read_file("/dev/zero", 1 << 20).error().kind == ErrorKind::bad_input);
  std::size_t seen = 0;
  Result<std::vector<std::byte>> endless = read_file("/dev/zero", UINT64_MAX, [&seen](std::span<const std::byte> begin) -> Result<std::uint64_t> {
    seen = begin.size();
    return 1000000;
  });
  CHECK(endless.error().text() == "/dev/zero: 1000000 bytes were announced, and there are more");
  CHECK(seen == 1 << 17);
  CHECK(read_file("/dev/zero", UINT64_MAX, [](auto) -> Result<std::uint64_t> { return bad_input("no array"); }).error().text() == "/dev/zero: no array");
}

TEST_CASE("reading at an offset stops at the end") {
  Folder folder;
  put(folder / "data", "0123456789");
  Result<Descriptor> file = open_for_reading(folder / "data");
  std::vector<std::byte> out(4);
  CHECK(*read_at(file->number(), 2, out, "data") == 4);
  CHECK(as_text(out) == "2345");
  CHECK(*read_at(file->number(), 8, out, "data") == 2);
  CHECK(*read_at(file->number(), 80, out, "data") == 0);
}
