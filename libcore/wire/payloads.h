// The payloads of a stream: where each one's bytes are, and how they become tensors.
//
// From a file all are mapped when the stream is opened. From a pipe they are read in order: one that is pulled before its turn keeps what is
// skipped in memory; one that is passed on is never held whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/base/hash.h"
#include "libcore/ir/constant.h"
#include "libcore/wire/frames.h"

namespace infini::wire {

// What the stream has announced of one payload.
struct PayloadInfo {
  DType dtype = DType::none;
  Extents extents;
  std::uint64_t length = 0;  // bytes in the stream
};

class Payloads final : public ChunkSource {
 public:
  using Take = std::function<Status(std::span<const std::byte>)>;

  explicit Payloads(Source source) : frames_(std::move(source)) {}

  FrameReader& frames() { return frames_; }
  // Payloads that follow; their numbers go on from those announced before.
  void announce(std::vector<PayloadInfo> more);
  std::size_t count() const { return infos_.size(); }
  // Maps all that were announced and not read yet. Of a mapped source only.
  Status map_all();

  // The tensor of payload `index`. bad_input: the stream ends, is damaged, or the payload has been passed on already.
  Result<Tensor> pull(std::size_t index) override;
  // True if `index` was pulled and lies in the mapped file.
  bool is_mapped(std::size_t index) const { return held_[index].mapped; }
  // The tensor, if it has been pulled; else null.
  const Tensor* held(std::size_t index) const;
  // Gives the bytes of a payload that is not held to `take`, in pieces of up to 1 MiB, and returns their digest. Those before it are dropped.
  Result<Hash128> pass_on(std::size_t index, const Take& take);
  // Reads what is left, to keep or to drop.
  Status finish(bool keep);
  // Compares with the digests of what was read; nothing where the count differs.
  Status check(const std::vector<Hash128>& contents) const;

 private:
  struct Held {
    std::optional<Tensor> tensor;
    bool mapped = false;
    std::optional<Hash128> digest;  // where it was computed
  };
  Status require_next(std::size_t index) const;
  Result<std::uint64_t> next_chunk(std::uint64_t done);
  Status read_next(std::byte* into, const Take& take);
  Result<Held> map_next();
  Status keep_next();

  FrameReader frames_;
  std::vector<PayloadInfo> infos_;
  std::vector<Held> held_;
  std::size_t next_ = 0;                // the payload that comes next
  std::optional<Error> failure_;        // after which the stream's place is lost
};

// The content of a tensor of strings, and back. bad_input: not `count` strings.
std::string encode_strings(const std::vector<std::string>& strings);
Result<Tensor> decode_strings(const Extents& extents, std::span<const std::byte> content);

}  // namespace infini::wire
