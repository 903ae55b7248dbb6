// Constants: a type and one of six payloads. Only the bytes of `inline` and `owned` are certain to be in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "libcore/base/hash.h"
#include "libcore/base/result.h"
#include "libcore/tensor/tensor.h"

namespace infini {

inline constexpr std::size_t inline_limit = 4096;  // bytes that travel inside the Graph frame

// A stretch of a local file; checked against size and time before use (a changed file is bad_input, named).
struct FileRange {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t file_size = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const FileRange&, const FileRange&) = default;
};

// Where payloads come from that are still in the stream being read: number `index` in the stream's order.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  virtual Result<Tensor> pull(std::size_t index) = 0;
};

struct InlinePayload { Tensor tensor; };
struct OwnedPayload { Tensor tensor; };                       // in memory, made by a pass or an importer
struct MappedPayload { Tensor tensor; };                      // in a mapped file
struct FilePayload { FileRange range; };
struct StreamPayload { std::shared_ptr<ChunkSource> source; std::size_t index = 0; };
struct AbsentPayload {};                                      // imported with --no-weights

struct Constant {
  DType dtype = DType::none;
  Extents extents;
  std::variant<InlinePayload, OwnedPayload, MappedPayload, FilePayload, StreamPayload, AbsentPayload> payload;
  std::optional<Hash128> digest;  // of the content, where known

  Type type() const { return Type::tensor(dtype, to_shape(extents)); }
  std::int64_t count() const { return *element_count(extents); }
  // Bytes of the payload; for strings the bytes of all strings.
  std::size_t size() const;
  // The tensor, if it is in memory or mapped; else null. Never reads.
  const Tensor* at_hand() const;
};
using ConstantRef = std::shared_ptr<const Constant>;

// inline if it is small, else owned.
ConstantRef make_constant(Tensor tensor);

// The tensor: maps a file range, pulls from the stream. bad_input: the file changed or is gone, the payload is absent, or larger than `limit` bytes.
Result<Tensor> load(const Constant& constant, std::uint64_t limit = UINT64_MAX);

}  // namespace infini
