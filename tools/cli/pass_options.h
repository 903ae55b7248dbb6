// Pipelines from the command line: levels, lists, files, and what is shown while they run.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "passes/pipeline.h"
#include "tools/cli/options.h"
#include "tools/cli/status.h"

namespace infini::cli {

// -O0 .. -O3, --passes, --pipeline, --list-passes, --stats, --stop-after-pass, --stop-after, --print-ir-*, --verify-each, --explain, --assume-finite.
std::span<const Option> pass_options();

// What --passes, --pipeline or -O say; else that of `level`.
Result<Pipeline> chosen_pipeline(const Arguments& arguments, int level);
// Runs it with the options that show and check.
Result<Graph> run_passes(const Module& module, const Pipeline& pipeline, const OpTable& ops, const Arguments& arguments, const Talk& talk);
// What the ledger says.
std::string ledger_options(const Pipeline& pipeline, const Arguments& arguments);
// --list-passes: name, class, summary, options.
int print_passes(const Talk& talk);

}  // namespace infini::cli
