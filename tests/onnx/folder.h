// A folder that goes with its test.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "libcore/base/text.h"

namespace infini::testing {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / text("it-onnx-", ::getpid(), "-", counter())) { std::filesystem::create_directories(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }
  // Writes a file, folders on the way included; returns its path.
  std::string file(std::string_view name, std::string_view bytes) const {
    std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }

 private:
  static int counter() {
    static int count = 0;
    return ++count;
  }
  std::filesystem::path path_;
};

}  // namespace infini::testing
