// How each constant's payload travels: in the frame, in chunks, by reference, or not at all.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/encode.h"
#include "libcore/wire/format.h"
#include "libcore/wire/messages.h"
#include "libcore/wire/payloads.h"

namespace infini::wire {
namespace {

Result<std::string> relative_path(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::path base = fs::canonical(folder, failed);
  fs::path target = failed ? fs::path() : fs::canonical(path, failed);
  if (failed) return bad_input(text("cannot find ", path, " from ", folder, ": ", failed.message()));
  fs::path relative = target.lexically_relative(base);
  if (relative.empty() || *relative.begin() == "..") {
    return usage_error(text("a stream saved in ", base.string(), " cannot refer to ", target.string(), ", outside its folder; write it with --embed"));
  }
  return relative.string();
}

Result<std::string> absolute_path(const std::string& path) {
  std::error_code failed;
  std::string absolute = std::filesystem::absolute(path, failed).string();
  if (failed) return bad_input(text("cannot find ", path, ": ", failed.message()));
  return absolute;
}

Status encode_reference(const FileRange& range, const EncodeOptions& options, v1::FileRange& message) {
  IT_TRY(std::string path, options.folder.empty() ? absolute_path(range.path) : relative_path(range.path, options.folder));
  message.set_path(path);
  message.set_offset(range.offset);
  message.set_length(range.length);
  message.set_file_size(range.file_size);
  message.set_modified_ns(range.modified_ns);
  return {};
}

void set_inlined(const Tensor& tensor, v1::Constant& message) {
  if (tensor.dtype() == DType::str) {
    message.set_inlined(encode_strings(tensor.strings()));
  } else {
    message.set_inlined(tensor.bytes().data(), tensor.bytes().size());
  }
}

// Fills in the payload, of which chunked ones lack their number; true for these.
Result<bool> encode_payload(const Constant& constant, const EncodeOptions& options, v1::Constant& message) {
  if (std::holds_alternative<AbsentPayload>(constant.payload)) {
    message.mutable_absent();
    return false;
  }
  if (const Tensor* tensor = constant.at_hand()) return encode_tensor(*tensor, 0, message);
  const auto* file = std::get_if<FilePayload>(&constant.payload);
  // The length of strings that are still in the stream is not known.
  bool pending_strings = !file && constant.dtype == DType::str;
  if (pending_strings || (file && file->range.length <= inline_limit)) {
    IT_TRY(Tensor loaded, load(constant));
    return encode_tensor(loaded, 0, message);
  }
  if (file && options.by_reference) {
    IT_TRY_VOID(encode_reference(file->range, options, *message.mutable_file()));
    return false;
  }
  message.mutable_chunked()->set_length(constant.size());
  return true;
}

// A constant that travels in chunks.
struct Chunked {
  std::size_t index = 0;     // in the table
  std::uint64_t length = 0;
  std::size_t number = 0;    // in the incoming stream, if it is still there
};

// By length, so that whoever pulls one out of its turn has to keep only what is not longer; those of the incoming stream in its order, which is
// the same if we wrote it.
class Order {
 public:
  void add(const Constant& constant, bool early, Chunked chunked) {
    const auto* pending = std::get_if<StreamPayload>(&constant.payload);
    if (pending) chunked.number = pending->index;
    (early ? early_ : pending ? pending_ : made_).push_back(chunked);
  }

  std::vector<std::size_t> indices() && {
    std::ranges::sort(pending_, {}, &Chunked::number);
    std::ranges::stable_sort(made_, {}, &Chunked::length);
    std::ranges::merge(made_, pending_, std::back_inserter(early_), {}, &Chunked::length, &Chunked::length);
    std::vector<std::size_t> out;
    for (const Chunked& chunked : early_) out.push_back(chunked.index);
    return out;
  }

 private:
  std::vector<Chunked> early_, pending_, made_;
};

}  // namespace

v1::Constant encode_constant_type(DType dtype, const Extents& extents) {
  v1::Constant message;
  message.set_element_type(static_cast<std::uint32_t>(dtype));
  message.mutable_extents()->Add(extents.begin(), extents.end());
  return message;
}

std::uint64_t encoded_size(const Tensor& tensor) {
  if (tensor.dtype() != DType::str) return tensor.bytes().size();
  std::uint64_t size = 0;
  for (const std::string& item : tensor.strings()) size += 1 + varint_size(item.size()) + item.size();
  return size;
}

bool encode_tensor(const Tensor& tensor, std::uint64_t number, v1::Constant& message) {
  std::uint64_t size = encoded_size(tensor);
  if (size <= inline_limit) {
    set_inlined(tensor, message);
    return false;
  }
  message.mutable_chunked()->set_number(static_cast<std::uint32_t>(number));
  message.mutable_chunked()->set_length(size);
  return true;
}

Result<std::vector<std::size_t>> encode_constants(EncodedGraph& graph, const EncodeOptions& options) {
  Order order;
  for (std::size_t i = 0; i < graph.constants.size(); ++i) {
    const Constant& constant = *graph.constants[i];
    v1::Constant& message = *graph.frame.add_constants();
    message = encode_constant_type(constant.dtype, constant.extents);
    IT_TRY(bool chunked, encode_payload(constant, options, message));
    if (chunked) {
      order.add(constant, graph.early[i], {i, message.chunked().length()});
    } else if (constant.digest) {
      *message.mutable_digest() = encode_digest(*constant.digest);
    }
  }
  std::vector<std::size_t> indices = std::move(order).indices();
  for (std::size_t number = 0; number < indices.size(); ++number) {
    graph.frame.mutable_constants(static_cast<int>(indices[number]))->mutable_chunked()->set_number(static_cast<std::uint32_t>(number));
  }
  return indices;
}

}  // namespace infini::wire
