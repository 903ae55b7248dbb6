// Which passes run, by options.
#pragma once

#include <string>

#include "passes/pipeline.h"
#include "tools/cli/options.h"

namespace infini::cli {

// -O0 .. -O3, --passes, --pipeline, --stop-after-pass, --stop-after, --assume-finite.
std::span<const Option> pipeline_options();

// What --passes, --pipeline or -O say; else that of `level`.
Result<Pipeline> chosen_pipeline(const Arguments& arguments, int level);
// How it is run.
Result<PipelineOptions> driver_options(const Arguments& arguments);
// usage: the value of the option is no pass.
Status check_pass_name(const Arguments& arguments, std::string_view key);
// What the ledger says.
std::string ledger_options(const Pipeline& pipeline, const Arguments& arguments);

}  // namespace infini::cli
