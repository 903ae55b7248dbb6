// Modules that hold one of everything, and streams in memory.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/wire/wire.h"

namespace infini::test {

// A folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

// `count` elements 0, 1, 2, ... of a type with whole bytes, times `scale`.
Tensor counted(DType dtype, Extents extents, double scale = 1);

// Symbols, inputs of all types, constants of all element types, a known and a carried node with attributes of all kinds, left-out operands,
// nested graphs that capture, sources, metadata. large: elements of the large constants.
Module sample_module(const OpTable& ops, std::int64_t large = 5000);
// A graph of one constant that the graph gives out; for streams that are cut and damaged everywhere.
Module tiny_module(ConstantRef constant);
ConstantRef file_constant(const std::string& path, DType dtype, Extents extents, std::uint64_t offset);

// Says what differs first, or nothing. Payload forms may differ, bytes may not.
std::string difference(const Module& a, const Module& b);
std::string difference(const Value& a, const Value& b);

struct Written {
  std::string bytes;
  Status status;
};
Written written(Module module, const WriteOptions& options = {}, std::string_view tool = "it-test 1");

// Frames made by hand: one with this field number and content; and a stream of frames without payloads, its end put behind it.
std::string frame(std::uint32_t number, std::string_view content);
inline constexpr std::size_t end_size = 23;  // bytes of an end frame
std::string with_end(const std::string& stream);

// What a stage at the other end of a pipe, or one that opens a file, makes of the bytes. The whole module, finished.
enum class As { pipe, file };
Result<StreamReader> opened(const std::string& bytes, As as, ReadOptions options = {});
Result<Module> read_back(const std::string& bytes, As as, const OpTable& ops, ReadOptions options = {});

}  // namespace infini::test
