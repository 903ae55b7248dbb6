// From errors to what the user sees: one message on stderr, and the exit status.
#pragma once

#include <string>

#include "libcore/base/result.h"
#include "tools/cli/options.h"

namespace infini::cli {

inline constexpr int status_no = 1;
inline constexpr int status_broken_pipe = 141;

// 2 usage, 3 bad input, 4 unsupported, 5 run failed or io, 70 a bug; the original status of an error that came down a pipe.
int exit_status(const Error& error);

// What the tool says on stderr, by -v and -q.
class Talk {
 public:
  Talk(std::string_view tool, const Arguments& arguments);
  void error(const std::string& message) const;
  void notice(const std::string& message) const;   // not with -q
  void detail(const std::string& message) const;   // with -v
  bool verbose() const { return level_ > 0; }

 private:
  std::string tool_;
  int level_ = 0;
  bool colour_ = false;
};

// Prints the error unless an earlier stage of the pipe has, and returns its status.
int report(const Talk& talk, const Error& error);

// Runs a tool's work: arguments are parsed, signals set up, what escapes (out of memory, a bug of ours) is caught once.
int run_tool(const Tool& tool, int argc, char** argv, int (*work)(const Arguments&, const Talk&));

}  // namespace infini::cli
