#include "tools/cli/status.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "libcore/base/text.h"
#include "tools/cli/complete.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

constexpr int bad_input_status = 3, run_failed_status = 5;

bool wants_colour(const Arguments& arguments) {
  auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
  };
  std::string choice = arguments.get("color", "auto");
  if (choice == "always") return true;
  if (choice == "never" || set("NO_COLOR")) return false;
  if (set("CLICOLOR_FORCE")) return true;
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && terminal && std::string_view(terminal) != "dumb";
}

// Lines behind the first are set in, so that none that a file's names bring along looks like the tool's own.
std::string printable_lines(const std::string& message) {
  std::vector<std::string> lines;
  for (const std::string& line : split(message, '\n')) {
    bool set_in = lines.empty() || line.empty() || line.starts_with(" ");
    lines.push_back(text(set_in ? "" : "  ", printable(line)));
  }
  return join(lines, "\n");
}

// A mapped file that was truncated under us: what is read behind its end faults. Only async-signal-safe calls here.
extern "C" void on_bus_error(int) {
  static constexpr char message[] = "a file was truncated while it was being read\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
  _exit(bad_input_status);
}

}  // namespace

Talk::Talk(std::string_view tool, const Arguments& arguments) : tool_(tool), colour_(wants_colour(arguments)) {
  level_ = arguments.has("quiet") ? -1 : static_cast<int>(arguments.count("verbose"));
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_st>(colour_ ? spdlog::color_mode::always : spdlog::color_mode::never);
  auto logger = std::make_shared<spdlog::logger>(tool_, sink);
  logger->set_pattern(colour_ ? "%n: %^%v%$" : "%n: %v");
  logger->set_level(level_ < 0 ? spdlog::level::err : level_ > 0 ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

void Talk::error(const std::string& message) const { spdlog::error("{}", printable_lines(message)); }
void Talk::notice(const std::string& message) const { spdlog::info("{}", printable_lines(message)); }
void Talk::detail(const std::string& message) const { spdlog::debug("{}", printable_lines(message)); }

int report(const Talk& talk, const Error& error) {
  int status = exit_status(error);
  if (error.reported || status == status_broken_pipe) return status;
  talk.error(error.kind == ErrorKind::internal ? text("internal error: ", error.text(), "\nThis is a bug; please report it with the input that shows it.") : error.text());
  return status;
}

int run_tool(const Tool& tool, int argc, char** argv, int (*work)(const Arguments&, const Talk&)) {
  // Writing to a closed pipe is reported by the call, and ends quietly with the status a signal would have given.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow further
  std::signal(SIGBUS, on_bus_error);
  try {
    auto parsed = parse(tool, argc, argv);
    if (int* status = std::get_if<int>(&parsed)) return *status;
    const Arguments& arguments = std::get<Arguments>(parsed);
    Talk talk(tool.name, arguments);
    try {
      if (arguments.has("complete")) return print_page(complete(tool, arguments.get("complete")), talk);
      return work(arguments, talk);
    } catch (const std::bad_alloc&) {
      return report(talk, run_failed("out of memory"));
    } catch (const std::exception& e) {
      return report(talk, internal_error(text("a library threw: ", std::string_view(e.what()))));
    }
  } catch (const std::bad_alloc&) {
    return run_failed_status;
  }
}

}  // namespace infini::cli
