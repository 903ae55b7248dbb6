// How a model is imported, by options.
#pragma once

#include <string>

#include "libcore/onnx/onnx.h"
#include "tools/cli/options.h"

namespace infini::cli {

// --dim, --input-shapes, --batch, --from, --to, --no-weights, --with-test-data, --strict.
std::span<const Option> import_options();

Result<ImportOptions> chosen_import(const Arguments& arguments);
// Those that change the graph, as the ledger has them.
std::string import_ledger_options(const Arguments& arguments);

}  // namespace infini::cli
