// One option table per tool: parser, --help, man check and completions come from it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libcore/base/result.h"

namespace infini::cli {

enum class Takes : std::uint8_t { flag, value, optional_value };

struct Option {
  std::string_view names;       // "-o,--output"; the last long one is its key
  Takes takes = Takes::flag;
  // "auto|always|never": all values there are. In capitals, what kind of thing it is, and how it is written: FILE.npz, DIR, DEVICE[:INDEX], PASS,...
  // INPUT, SYMBOL and GLOB (nodes and values) are those of the graph. Completions go by that (complete.cpp).
  std::string_view value = {};
  std::string_view help = {};
  std::string_view group = {};  // heading in --help
  bool repeat = false;          // may be given several times; else the last one counts
};

// The last of an option's long names, without dashes; "O" for -O.
std::string key_of(const Option& option);

struct Tool {
  std::string_view name;        // "it-opt"
  std::string_view summary;
  std::string_view operands;    // "[FILE|-]"
  std::size_t min_operands = 0, max_operands = 1;
  std::span<const std::string_view> examples;  // shown first
  std::span<const Option> options;             // besides the common ones
  std::span<const std::string_view> verbs = {};  // that may be the first operand
};

// Those that every tool has: --help, --version, -v, -q, --color, --complete.
std::span<const Option> common_options();

// What was on the command line.
class Arguments {
 public:
  bool has(std::string_view key) const { return values_.contains(key); }
  // The last value given, or `otherwise`.
  std::string get(std::string_view key, std::string_view otherwise = "") const;
  const std::vector<std::string>& all(std::string_view key) const;
  const std::vector<std::string>& operands() const { return operands_; }
  std::size_t count(std::string_view key) const { return has(key) ? values_.find(key)->second.size() : 0; }

 private:
  friend std::variant<Arguments, int> parse(const Tool&, int, char**);
  friend Result<Arguments> arguments_from(std::span<const Option>, std::span<const std::string_view>);
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// From "key=value" (a flag: "key"); usage: a key that `known` does not have.
Result<Arguments> arguments_from(std::span<const Option> known, std::span<const std::string_view> pairs);

// The arguments; or, where that is all there is to do (--help, --version, a usage error, which is printed), the exit status.
std::variant<Arguments, int> parse(const Tool& tool, int argc, char** argv);

std::string help(const Tool& tool);
// All options as JSON: for completions and for programs.
std::string help_json(const Tool& tool);
// The text of --version.
std::string version(std::string_view tool);

}  // namespace infini::cli
