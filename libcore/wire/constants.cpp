#include "libcore/wire/constants.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/format.h"
#include "libcore/wire/messages.h"

namespace infini::wire {
namespace {

// Type and extents, with an element count that no sum of sizes can overflow.
Result<Constant> decode_type_of(const v1::Constant& message) {
  Constant constant;
  IT_TRY(constant.dtype, decode_dtype(message.element_type()));
  if (constant.dtype == DType::none) return bad_input("a constant has no element type");
  constant.extents.assign(message.extents().begin(), message.extents().end());
  std::optional<std::int64_t> count = element_count(constant.extents);
  bool small = std::ranges::all_of(constant.extents, [](std::int64_t extent) { return static_cast<std::uint64_t>(extent) <= payload_limit; });
  if (!count || !small || static_cast<std::uint64_t>(*count) > payload_limit) {
    return bad_input(text("a constant has the extents ", to_string(constant.extents)));
  }
  return constant;
}

Status check_length(const Constant& constant, std::uint64_t found) {
  std::uint64_t expected = byte_size(constant.dtype, constant.count());
  if (constant.dtype == DType::str ? found <= payload_limit : found == expected) return {};
  return bad_input(text("a constant ", name(constant.dtype), to_string(constant.extents), " takes ", expected, " bytes, found ", found));
}

Result<Tensor> inline_tensor(const Constant& constant, const std::string& content) {
  IT_TRY_VOID(check_length(constant, content.size()));
  std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  if (constant.dtype == DType::str) return decode_strings(constant.extents, bytes);
  return Tensor::owning(constant.dtype, constant.extents, {bytes.begin(), bytes.end()});
}

}  // namespace

Result<std::string> References::locate(const std::string& path) const {
  namespace fs = std::filesystem;
  bool absolute = !path.empty() && path[0] == '/';
  if (path.find('\0') != std::string::npos) return bad_input("a reference to a file holds a null character");
  if (!saved_) {
    if (absolute) return path;
    return bad_input(text("refers to '", path, "', relative to a saved stream: name that file instead of piping it"));
  }
  if (absolute) {
    return bad_input(text("refers to ", path, ": a saved stream may only refer to files in its own folder; write it with --embed"));
  }
  std::error_code failed;
  fs::path folder = fs::canonical(folder_.empty() ? fs::path(".") : fs::path(folder_), failed);
  fs::path target = failed ? fs::path() : fs::canonical(folder / path, failed);
  if (failed) return bad_input(text("refers to '", path, "' in ", folder_, ": ", failed.message()));
  auto [at, rest] = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
  if (at != folder.end()) return bad_input(text("refers to '", path, "', outside the folder ", folder.string()));
  return target.string();
}

Result<FileRange> References::resolve(const v1::FileRange& message) {
  FileRange range{{}, message.offset(), message.length(), message.file_size(), message.modified_ns()};
  IT_TRY(range.path, locate(message.path()));
  auto found = seen_.find(range.path);
  if (found == seen_.end()) {
    Result<FileFacts> facts = file_facts(range.path);
    if (!facts) return bad_input(text("the model is gone: ", facts.error().message));
    found = seen_.emplace(range.path, *facts).first;
  }
  const FileFacts& facts = found->second;
  if (!facts.regular || facts.size != range.file_size || facts.modified != range.modified_ns) {
    return bad_input(text(range.path, " was changed after the import: it had ", range.file_size, " bytes, now ", facts.size,
                          facts.size == range.file_size ? " and another time" : ""));
  }
  if (range.offset > range.file_size || range.length > range.file_size - range.offset) {
    return bad_input(text(range.path, " has ", range.file_size, " bytes; a constant lies at ", range.offset, " and takes ", range.length));
  }
  return range;
}

Status ConstantReader::announce(const std::vector<const v1::Constant*>& messages) {
  std::vector<std::optional<PayloadInfo>> infos;
  for (const v1::Constant* message : messages) {
    if (message->has_chunked()) infos.emplace_back();
  }
  for (const v1::Constant* message : messages) {
    if (!message->has_chunked()) continue;
    IT_TRY(Constant constant, decode_type_of(*message));
    IT_TRY_VOID(check_length(constant, message->chunked().length()));
    std::uint64_t first = payloads_->count(), number = message->chunked().number();
    if (number < first || number - first >= infos.size() || infos[number - first]) {
      return bad_input(text("payload number ", number, " is out of order: ", infos.size(), " follow, from ", first));
    }
    infos[number - first] = PayloadInfo{constant.dtype, std::move(constant.extents), message->chunked().length()};
  }
  std::vector<PayloadInfo> complete;
  for (std::optional<PayloadInfo>& info : infos) complete.push_back(std::move(*info));
  payloads_->announce(std::move(complete));
  return {};
}

Result<Constant> ConstantReader::decode(const v1::Constant& message, const std::vector<Hash128>& contents) {
  IT_TRY(Constant constant, decode_type_of(message));
  if (message.has_digest()) constant.digest = decode_digest(message.digest());
  switch (message.payload_case()) {
    case v1::Constant::kInlined: {
      IT_TRY(Tensor tensor, inline_tensor(constant, message.inlined()));
      constant.payload = InlinePayload{std::move(tensor)};
      return constant;
    }
    case v1::Constant::kChunked: {
      std::size_t number = message.chunked().number();
      // Elsewhere the digest of strings is not that of their form in the stream.
      if (number < contents.size() && constant.dtype != DType::str) constant.digest = contents[number];
      if (const Tensor* tensor = payloads_->held(number)) {
        if (payloads_->is_mapped(number)) {
          constant.payload = MappedPayload{*tensor};
        } else {
          constant.payload = OwnedPayload{*tensor};
        }
      } else {
        constant.payload = StreamPayload{payloads_, number};
      }
      return constant;
    }
    case v1::Constant::kFile: {
      if (constant.dtype == DType::str) return bad_input("a constant of strings cannot lie in a file");
      IT_TRY_VOID(check_length(constant, message.file().length()));
      IT_TRY(FileRange range, references_.resolve(message.file()));
      constant.payload = FilePayload{std::move(range)};
      return constant;
    }
    case v1::Constant::kAbsent: {
      constant.payload = AbsentPayload{};
      return constant;
    }
    case v1::Constant::PAYLOAD_NOT_SET: break;
  }
  return bad_input("a constant has no payload");
}

Result<Tensor> ConstantReader::tensor(const v1::Constant& message) {
  if (message.has_chunked()) return payloads_->pull(message.chunked().number());
  if (!message.has_inlined()) return bad_input("a test vector holds its tensors itself");
  IT_TRY(Constant constant, decode_type_of(message));
  return inline_tensor(constant, message.inlined());
}

}  // namespace infini::wire
