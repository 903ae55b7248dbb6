#include "libcore/onnx/external_data.h"

#include <filesystem>
#include <optional>

#include "libcore/base/text.h"
#include "libcore/onnx/reader.h"

namespace infini::onnx_files {
namespace {

namespace fs = std::filesystem;

struct Location {
  std::string path;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

Result<std::uint64_t> number_of(const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  if (!parse_int(value, number) || number < 0) return bad_input(text("has external data whose ", key, " is ", infini::quoted(value), ", not a number of bytes"));
  return static_cast<std::uint64_t>(number);
}

Result<Location> location_of(const onnx::TensorProto& tensor) {
  Location location;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location.path = entry.value();
    if (entry.key() == "offset") {
      IT_TRY(location.offset, number_of("offset", entry.value()));
    } else if (entry.key() == "length") {
      IT_TRY(location.length, number_of("length", entry.value()));
    }
  }
  if (location.path.empty()) return bad_input("has external data without a location");
  return location;
}

// The file's real path, inside the folder's real path.
Result<std::string> resolve(const std::string& location, const std::string& folder) {
  if (folder.empty()) return bad_input(text("has its data in '", location, "', but a model that is not read from a file has no folder"));
  fs::path relative(location);
  if (relative.is_absolute() || location.find('\0') != std::string::npos) {
    return bad_input(text("has its data in ", infini::quoted(location), "; only relative paths inside the model's folder are read"));
  }
  for (const fs::path& part : relative) {
    if (part == "..") return bad_input(text("has its data in '", location, "'; '..' is refused, data must be inside the model's folder"));
  }
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  if (error) return bad_input(text("cannot look at the folder '", folder, "': ", error.message()));
  fs::path file = fs::canonical(root / relative, error);
  if (error) return bad_input(text("has its data in '", location, "', which cannot be found: ", error.message()));
  auto [root_end, ignored] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (root_end != root.end()) return bad_input(text("has its data in '", location, "', a link that leads out of the model's folder, which is refused"));
  return file.string();
}

}  // namespace

Result<FileRange> external_range(const onnx::TensorProto& tensor, const std::string& folder) {
  IT_TRY(Location location, location_of(tensor));
  IT_TRY(std::string path, resolve(location.path, folder));
  IT_TRY(FileRange range, whole_file(path));
  std::uint64_t left = range.file_size - std::min(range.file_size, location.offset);
  std::uint64_t length = location.length.value_or(left);
  if (location.offset > range.file_size || length > left) {
    return bad_input(text("has its data in '", location.path, "' at ", location.offset, " to ", text(location.offset + length), ", but that file has ",
                          range.file_size, " bytes"));
  }
  range.offset = location.offset;
  range.length = length;
  return range;
}

}  // namespace infini::onnx_files
