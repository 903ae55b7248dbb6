// Pipelines from the command line: levels, lists, files, and what is shown while they run.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "tools/cli/pipeline_options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// Those of pipeline_options.h, and --list-passes, --print-pipeline, --stats, --print-ir-*, --verify-each, --explain.
std::span<const Option> pass_options();

// Runs it with the options that show and check.
Result<Graph> run_passes(const Module& module, const Pipeline& pipeline, const OpTable& ops, const Arguments& arguments, const Talk& talk);
// --list-passes: name, class, summary, options.
int print_passes(const Talk& talk);

}  // namespace infini::cli
