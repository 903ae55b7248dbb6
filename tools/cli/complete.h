// What may stand where the cursor is: completions of all shells come from here, and thus from the option tables.
#pragma once

#include <string>
#include <string_view>

#include "tools/cli/options.h"

namespace infini::cli {

// `line`: a command line as typed, with a newline where the cursor is (at the end, it may be left out). The first line returned is the word at the
// cursor without its quotes; then a line "WORD\tHELP" for each that the whole word may become, and "\tPREFIX\tSUFFIX SUFFIX..." where a file may
// stand behind PREFIX, which is there already: one that ends so, "/" for folders, nothing for any.
std::string complete(const Tool& tool, std::string_view line);

}  // namespace infini::cli
