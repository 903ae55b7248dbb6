// Where this program lies, which is where it finds what belongs to it.
#pragma once

#include <filesystem>

namespace infini::cli {

// The folder of the running executable, links followed; empty if nobody knows.
std::filesystem::path program_folder();

}  // namespace infini::cli
