#include "libcore/ir/constant.h"

#include <numeric>

#include "libcore/base/file.h"
#include "libcore/base/text.h"

namespace infini {
namespace {

std::size_t bytes_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::str) return tensor.bytes().size();
  return std::accumulate(tensor.strings().begin(), tensor.strings().end(), std::size_t{0},
                         [](std::size_t sum, const std::string& s) { return sum + s.size(); });
}

Result<Tensor> map_range(const Constant& constant, const FileRange& range) {
  Result<MappedFile> file = MappedFile::open(range.path);
  if (!file) {
    file.error().message += "; a constant's bytes were there when the model was imported";
    return std::move(file.error());
  }
  const FileFacts& facts = file->facts();
  if (facts.size != range.file_size || facts.modified != range.modified_ns) {
    return bad_input(text("'", range.path, "' has changed since the model was imported: ", facts.size, " bytes, modified at ", facts.modified,
                          " ns; expected ", range.file_size, " bytes, modified at ", range.modified_ns, " ns"));
  }
  if (range.offset > facts.size || range.length > facts.size - range.offset) {
    return bad_input(text("'", range.path, "' has ", facts.size, " bytes, bytes ", range.offset, " to ", range.offset, " + ", range.length, " are asked for"));
  }
  std::size_t expected = byte_size(constant.dtype, constant.count());
  if (constant.dtype == DType::str || range.length != expected) {
    return bad_input(text("a constant of type ", to_string(constant.type()), " cannot be ", range.length, " bytes of '", range.path, "'"));
  }
  return Tensor::view(constant.dtype, constant.extents, file->bytes().subspan(range.offset, range.length), file->owner());
}

}  // namespace

std::size_t Constant::size() const {
  if (const Tensor* tensor = at_hand()) return bytes_of(*tensor);
  if (const auto* file = std::get_if<FilePayload>(&payload)) return file->range.length;
  return byte_size(dtype, count());
}

const Tensor* Constant::at_hand() const {
  if (const auto* held = std::get_if<InlinePayload>(&payload)) return &held->tensor;
  if (const auto* held = std::get_if<OwnedPayload>(&payload)) return &held->tensor;
  if (const auto* held = std::get_if<MappedPayload>(&payload)) return &held->tensor;
  return nullptr;
}

ConstantRef make_constant(Tensor tensor) {
  Constant out;
  out.dtype = tensor.dtype();
  out.extents = tensor.extents();
  if (bytes_of(tensor) <= inline_limit) {
    out.payload = InlinePayload{std::move(tensor)};
  } else {
    out.payload = OwnedPayload{std::move(tensor)};
  }
  return std::make_shared<const Constant>(std::move(out));
}

Result<Tensor> load(const Constant& constant, std::uint64_t limit) {
  if (constant.size() > limit) return bad_input(text("a constant of ", human_bytes(constant.size()), " is larger than the limit of ", human_bytes(limit)));
  if (const Tensor* tensor = constant.at_hand()) return *tensor;
  if (const auto* file = std::get_if<FilePayload>(&constant.payload)) return map_range(constant, file->range);
  if (const auto* stream = std::get_if<StreamPayload>(&constant.payload)) return stream->source->pull(stream->index);
  return bad_input(text("the bytes of a constant of type ", to_string(constant.type()), " are absent: the graph was imported without weights or read from text"));
}

}  // namespace infini
