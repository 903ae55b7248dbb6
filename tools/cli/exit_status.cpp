#include "tools/cli/status.h"

namespace infini::cli {
namespace {

constexpr int usage_status = 2, bad_input_status = 3, unsupported_status = 4, run_failed_status = 5, bug_status = 70;

}  // namespace

int exit_status(const Error& error) {
  if (error.status != 0) return error.status;
  switch (error.kind) {
    case ErrorKind::usage:
      return usage_status;
    case ErrorKind::bad_input:
      return bad_input_status;
    case ErrorKind::unsupported:
      return unsupported_status;
    case ErrorKind::run_failed:
    case ErrorKind::io:
      return run_failed_status;
    case ErrorKind::internal:
      break;
  }
  return bug_status;
}

}  // namespace infini::cli
