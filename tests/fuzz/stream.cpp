// libFuzzer target: the stream reader, as from a pipe or as from a file (the first byte says which). A graph that is read can be written, whatever
// follows it in its own stream, and reads back both ways.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "libcore/base/file.h"
#include "libcore/wire/wire.h"

using namespace infini;

namespace {

Result<StreamReader> open_as(const std::string& bytes, bool file, Descriptor& descriptor) {
  if (!file) {
    descriptor = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return StreamReader::open(descriptor.number(), {{}, bytes});
  }
  descriptor = Descriptor(::memfd_create("stream", MFD_CLOEXEC));
  IT_TRY_VOID(write_fully(descriptor.number(), std::as_bytes(std::span(bytes)), "memory"));
  ::lseek(descriptor.number(), 0, SEEK_SET);
  return StreamReader::open(descriptor.number());
}

// finish: the stream to its end, as a stage of a pipe does; else the graph and its constants alone.
Status read_and_write(const OpTable& ops, const std::string& bytes, bool file, bool finish, std::string& out) {
  Descriptor descriptor;
  IT_TRY(StreamReader reader, open_as(bytes, file, descriptor));
  IT_TRY(Module module, reader.read_module(ops));
  StreamWriter writer([&out](std::span<const std::byte> piece) -> Status {
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return {};
  }, "fuzz");
  WriteOptions options;
  if (finish) options.source = &reader;
  options.by_reference = true;
  return writer.write(std::move(module), options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const OpTable ops;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  bool file = data[0] & 1;
  std::string first, second, third;
  (void)read_and_write(ops, bytes, file, true, first);
  first.clear();
  if (!read_and_write(ops, bytes, file, false, first)) return 0;
  IT_CHECK(read_and_write(ops, first, false, true, second).has_value() && first == second);
  IT_CHECK(read_and_write(ops, first, true, true, third).has_value() && first == third);
  return 0;
}
