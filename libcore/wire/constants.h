// Constants as they arrive: payloads in the frame, in chunks, in files, or absent.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "schemas/graph.pb.h"

#include "libcore/base/file.h"
#include "libcore/ir/constant.h"
#include "libcore/wire/payloads.h"

namespace infini::wire {

// Resolves references to files and checks that the files are still those that were meant.
class References {
 public:
  // saved: relative ones, to be found inside `folder`; else absolute ones.
  References(bool saved, std::string folder) : saved_(saved), folder_(std::move(folder)) {}
  // bad_input: wrong kind of path, outside the folder, gone, changed, or too short.
  Result<FileRange> resolve(const v1::FileRange& message);

 private:
  Result<std::string> locate(const std::string& path) const;

  bool saved_;
  std::string folder_;
  std::map<std::string, FileFacts> seen_;
};

class ConstantReader {
 public:
  ConstantReader(std::shared_ptr<Payloads> payloads, References references)
      : payloads_(std::move(payloads)), references_(std::move(references)) {}

  // Takes note of the chunked payloads among these. bad_input: their numbers do not go on without gaps, or a length contradicts its type.
  Status announce(const std::vector<const v1::Constant*>& messages);
  // bad_input: malformed, or a reference that does not hold. `contents`: digests by payload number, where known.
  Result<Constant> decode(const v1::Constant& message, const std::vector<Hash128>& contents);
  // The tensor of a constant of a test vector, which is always in the stream.
  Result<Tensor> tensor(const v1::Constant& message);

 private:
  std::shared_ptr<Payloads> payloads_;
  References references_;
};

}  // namespace infini::wire
