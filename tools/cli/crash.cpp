#include "tools/cli/crash.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "libcore/base/text.h"

namespace infini::cli {
namespace {

constexpr int run_failed_status = 5, returned_status = 0;
constexpr unsigned probe_seconds = 10;
constexpr std::array fatal = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// A signal handler can reach nothing else. Written before the handlers are set and cleared after they are gone.
struct Guarded {
  std::string sentence;
  std::array<struct sigaction, fatal.size()> before;
  std::array<char, 1 << 16> stack;  // for the handler: the other one may be what overflowed
  stack_t stack_before;
};
Guarded* guarded = nullptr;

// Only async-signal-safe calls here.
extern "C" void on_fatal(int) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, guarded->sentence.data(), guarded->sentence.size());
  _exit(run_failed_status);
}

// An exit called by what is guarded comes by here.
void on_exit() {
  if (guarded) on_fatal(0);
}

[[noreturn]] void run_probe(const std::function<void()>& probe) {
  for (int signal : fatal) std::signal(signal, SIG_DFL);
  if (int nothing = open("/dev/null", O_WRONLY); nothing >= 0) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
  alarm(probe_seconds);
  probe();
  // Says that it came this far: an exit called on the way would look like success.
  raise(SIGSTOP);
  _exit(returned_status);
}

}  // namespace

CrashGuard::CrashGuard(const std::string& sentence) {
  [[maybe_unused]] static const int registered = std::atexit(on_exit);
  guarded = new Guarded{printable(sentence) + "\n", {}, {}, {}};
  stack_t stack{guarded->stack.data(), 0, guarded->stack.size()};
  sigaltstack(&stack, &guarded->stack_before);
  struct sigaction action {};
  action.sa_handler = on_fatal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < fatal.size(); ++i) sigaction(fatal[i], &action, &guarded->before[i]);
}

CrashGuard::~CrashGuard() {
  for (std::size_t i = 0; i < fatal.size(); ++i) sigaction(fatal[i], &guarded->before[i], nullptr);
  sigaltstack(&guarded->stack_before, nullptr);
  delete guarded;
  guarded = nullptr;
}

Status survives(const std::function<void()>& probe) {
  pid_t child = fork();
  if (child < 0) return run_failed(text("no process to try it in: ", std::string_view(std::strerror(errno))));
  if (child == 0) run_probe(probe);
  int status = 0;
  while (waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return {};
  }
  if (WIFEXITED(status)) return run_failed(text("it ends the process with exit status ", WEXITSTATUS(status), " where it should return"));
  if (WTERMSIG(status) == SIGALRM) return run_failed(text("it does not answer within ", probe_seconds, " seconds"));
  return run_failed(text("it ends the process by signal ", WTERMSIG(status), " (", std::string_view(sigabbrev_np(WTERMSIG(status))), ")"));
}

}  // namespace infini::cli
