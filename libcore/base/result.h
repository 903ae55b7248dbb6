// Errors as values: Error, Result<T>, IT_TRY and IT_CHECK. The library throws nothing of its own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace infini {

// What went wrong, by who can mend it. `exit_status` in tools/cli maps each kind to a status.
enum class ErrorKind {
  usage,        // the caller asked for something that makes no sense (2)
  bad_input,    // a file, stream or model is malformed, truncated or contradicts itself (3)
  unsupported,  // valid, but an operator, type, opset or device feature is missing (4)
  run_failed,   // a kernel, a device or the memory for it failed (5)
  io,           // the operating system refused: disk full, permission, closed file (5)
  internal,     // a bug of this project (70)
};

// message: what was found and what was expected, with shapes. where: innermost place first, joined by ": ".
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string where;
  bool reported = false;  // an earlier stage of a pipe has printed this already
  int status = 0;         // the original exit status, where an earlier stage of a pipe gave one

  std::string text() const { return where.empty() ? message : where + ": " + message; }
};

inline Error usage_error(std::string message) { return {ErrorKind::usage, std::move(message), {}}; }
inline Error bad_input(std::string message) { return {ErrorKind::bad_input, std::move(message), {}}; }
inline Error unsupported(std::string message) { return {ErrorKind::unsupported, std::move(message), {}}; }
inline Error run_failed(std::string message) { return {ErrorKind::run_failed, std::move(message), {}}; }
inline Error io_error(std::string message) { return {ErrorKind::io, std::move(message), {}}; }
inline Error internal_error(std::string message) { return {ErrorKind::internal, std::move(message), {}}; }

// Returns `error` with `place` put in front of where it happened.
inline Error within(std::string_view place, Error error) {
  error.where = error.where.empty() ? std::string(place) : std::string(place) + ": " + error.where;
  return error;
}

// A value or an Error; the subset of std::expected that is used here.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return *std::get_if<1>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return !failed_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Result<void>;

// Same result; on failure with `place` put in front.
template <class T>
Result<T> within(std::string_view place, Result<T> result) {
  if (!result) return within(place, std::move(result.error()));
  return result;
}

// Prints the broken invariant to stderr and aborts. Not reachable from any input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace infini

#define IT_CONCAT_(a, b) a##b
#define IT_NAME_(a, b) IT_CONCAT_(a, b)

// IT_TRY(auto x, f()); declares x from a Result or returns its error. IT_TRY_VOID(f()); for Status.
#define IT_TRY(declaration, ...)                                                     \
  auto IT_NAME_(it_try_, __LINE__) = (__VA_ARGS__);                                  \
  if (!IT_NAME_(it_try_, __LINE__)) return std::move(IT_NAME_(it_try_, __LINE__).error()); \
  declaration = std::move(*IT_NAME_(it_try_, __LINE__))
#define IT_TRY_VOID(...)                                   \
  do {                                                     \
    if (auto it_status = (__VA_ARGS__); !it_status) return std::move(it_status.error()); \
  } while (false)

// For bugs only; never for anything an input can cause.
#define IT_CHECK(condition) ((condition) ? void(0) : ::infini::check_failed(#condition, __FILE__, __LINE__))
