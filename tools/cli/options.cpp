#include "tools/cli/options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

#include "libcore/base/text.h"

namespace infini::cli {
namespace {

constexpr int usage_status = 2, write_failed_status = 5, broken_pipe_status = 141;
constexpr std::size_t help_column = 30;

constexpr std::array common = {
    Option{"-h,--help", Takes::optional_value, "json", "show this page (--help=json: all options, for programs)", "About"},
    Option{"-V,--version", Takes::flag, {}, "show version and build facts", "About"},
    Option{"-v,--verbose", Takes::flag, {}, "say more on stderr", "About", true},
    Option{"-q,--quiet", Takes::flag, {}, "say nothing but errors", "About"},
    Option{"--color", Takes::value, "auto|always|never", "colours on stderr", "About"},
    Option{"--complete", Takes::value, "LINE", "for shells: what may stand at the end of LINE", "About"},
};

template <class Visit>
void for_each_option(const Tool& tool, const Visit& visit) {
  for (const Option& option : tool.options) visit(option);
  for (const Option& option : common) visit(option);
}

std::vector<std::string> long_names(const Tool& tool) {
  std::vector<std::string> names;
  for_each_option(tool, [&](const Option& option) {
    for (const std::string& name : split(option.names, ',')) {
      if (name.starts_with("--")) names.push_back(name);
    }
  });
  return names;
}

int usage_error(const Tool& tool, const std::string& what) {
  std::fprintf(stderr, "%s: %s\nTry '%s --help'.\n", std::string(tool.name).c_str(), what.c_str(), std::string(tool.name).c_str());
  return usage_status;
}

// The first argument that looks like an option and is none.
std::string unknown_option(const Tool& tool, const CLI::App& app) {
  std::vector<std::string> rest = app.remaining();
  for (const std::string& word : rest) {
    if (word.size() < 2 || word[0] != '-') continue;
    std::string hint = closest(word.substr(0, word.find('=')), long_names(tool));
    return text("unknown option '", word, "'", hint.empty() ? "" : text("; did you mean '", hint, "'?"));
  }
  return rest.empty() ? "" : text("unexpected operand '", rest.front(), "'");
}

void add_option(CLI::App& app, const Option& option, std::vector<std::string>& values) {
  std::string names(option.names);
  if (option.takes == Takes::flag) {
    app.add_flag_callback(names, [&values] { values.emplace_back(); });
  } else if (option.takes == Takes::value) {
    app.add_option(names, values)->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

std::string left_column(const Option& option) {
  std::string names = join(split(option.names, ','), ", ");
  if (option.takes == Takes::value) return text("  ", names, " ", option.value);
  if (option.takes == Takes::optional_value) return text("  ", names, "[=", option.value, "]");
  return text("  ", names);
}

bool has_name(const Option& option, std::string_view name) {
  std::vector<std::string> names = split(option.names, ',');
  return std::find(names.begin(), names.end(), name) != names.end();
}

using Given = std::deque<std::pair<const Option*, std::vector<std::string>>>;

// The words before "--" for CLI11, last first as it wants them; those behind it are operands. Dealt with here, so that they never swallow the operand
// behind them: options with an optional value, which is written --opt=V and no other way, and an empty value, --opt= .
std::vector<std::string> take_words(int argc, char** argv, Given& given, std::vector<std::string>& operands) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--") {
      operands.assign(argv + i + 1, argv + argc);
      break;
    }
    std::size_t equals = word.find('=');
    auto match = std::find_if(given.begin(), given.end(), [&](const auto& entry) {
      bool here = entry.first->takes == Takes::optional_value || (entry.first->takes == Takes::value && equals + 1 == word.size());
      return here && has_name(*entry.first, std::string_view(word).substr(0, equals));
    });
    if (match == given.end()) {
      words.push_back(std::move(word));
    } else {
      match->second.push_back(equals == std::string::npos ? "" : word.substr(equals + 1));
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

// CLI11's "--dim: 1 required TEXT missing" in our words.
std::string missing_value(const Given& given, const CLI::ArgumentMismatch& mismatch) {
  std::string what = mismatch.what();
  std::string name = what.substr(0, what.find(':'));
  for (const auto& [option, values] : given) {
    if (has_name(*option, name)) return text(name, " needs a value: ", option->value);
  }
  return what;
}

// A table says "auto|always|never" where these are all there is; capitals stand for what the user has.
std::string wrong_choice(const Option& option, const std::vector<std::string>& values) {
  bool path = option.value.starts_with("FILE") || option.value.starts_with("DIR");
  if (path && std::find(values.begin(), values.end(), "") != values.end()) return text(split(option.names, ',').back(), " takes a name, not ''");
  bool choices = !option.value.empty() && std::none_of(option.value.begin(), option.value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!choices) return "";
  std::vector<std::string> known = split(option.value, '|');
  for (const std::string& value : values) {
    bool bare = option.takes == Takes::optional_value && value.empty();
    if (!bare && std::find(known.begin(), known.end(), value) == known.end()) return text(split(option.names, ',').back(), " takes ", join(known, ", "), ", not '", value, "'");
  }
  return "";
}

std::string wrong_operands(const Tool& tool, const std::vector<std::string>& operands) {
  if (operands.size() > tool.max_operands) return text("unexpected operand '", operands[tool.max_operands], "'");
  if (operands.size() < tool.min_operands) return text("an operand is missing: ", tool.operands);
  bool empty = std::any_of(operands.begin(), operands.end(), [](const std::string& operand) { return operand.empty(); });
  return empty ? text("an operand is empty: ", tool.operands) : "";
}

// --help or --version: written and done.
int print_page(const Tool& tool, const std::string& page) {
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0) return 0;
  if (errno == EPIPE) return broken_pipe_status;
  std::fprintf(stderr, "%s: cannot write standard output: %s\n", std::string(tool.name).c_str(), std::strerror(errno));
  return write_failed_status;
}

}  // namespace

std::span<const Option> common_options() { return common; }

std::string help(const Tool& tool) {
  std::string out = text("Usage: ", tool.name, " [OPTION]... ", tool.operands, "\n", tool.summary, "\n\nExamples:\n");
  for (std::string_view example : tool.examples) out += text("  ", example, "\n");
  std::vector<std::string_view> groups;
  for_each_option(tool, [&](const Option& option) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  });
  for (std::string_view group : groups) {
    out += text("\n", group, ":\n");
    for_each_option(tool, [&](const Option& option) {
      if (option.group != group) return;
      std::string left = left_column(option);
      out += left + (left.size() < help_column ? std::string(help_column - left.size(), ' ') : "\n" + std::string(help_column, ' '));
      out += text(option.help, "\n");
    });
  }
  return out + text("\nExit status: 0 yes, 1 the answer is no, 2 usage, 3 bad input, 4 unsupported, 5 run failed, 70 a bug. Manual: man ", tool.name, "\n");
}

std::string help_json(const Tool& tool) {
  std::vector<std::string> verbs;
  for (std::string_view verb : tool.verbs) verbs.push_back(json_text(verb));
  std::string out = text("{\"schema\": \"it-help/1\", \"tool\": ", json_text(tool.name), ", \"summary\": ", json_text(tool.summary), ", \"operands\": ", json_text(tool.operands), ", \"verbs\": [",
                         join(verbs, ", "), "], \"options\": [");
  bool first = true;
  for_each_option(tool, [&](const Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : split(option.names, ',')) names.push_back(json_text(name));
    std::string_view takes = option.takes == Takes::flag ? "none" : option.takes == Takes::value ? "value" : "optional";
    out += text(first ? "" : ",", "\n  {\"names\": [", join(names, ", "), "], \"takes\": \"", takes, "\", \"value\": ", json_text(option.value), ", \"repeat\": ",
                option.repeat, ", \"help\": ", json_text(option.help), "}");
    first = false;
  });
  return out + "\n]}\n";
}

std::variant<Arguments, int> parse(const Tool& tool, int argc, char** argv) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Given given;
  for_each_option(tool, [&](const Option& option) {
    given.emplace_back(&option, std::vector<std::string>());
    add_option(app, option, given.back().second);
  });
  std::vector<std::string> operands, after_dashes;
  app.add_option("operands", operands);
  try {  // CLI11 reports by exception; none passes this function
    app.parse(take_words(argc, argv, given, after_dashes));
  } catch (const CLI::ArgumentMismatch& e) {
    return usage_error(tool, missing_value(given, e));
  } catch (const CLI::ParseError& e) {
    return usage_error(tool, e.what());
  }
  operands.insert(operands.end(), after_dashes.begin(), after_dashes.end());
  Arguments arguments;
  for (auto& [option, values] : given) {
    if (std::string what = wrong_choice(*option, values); !what.empty()) return usage_error(tool, what);
    if (!values.empty()) arguments.values_.emplace(key_of(*option), std::move(values));
  }
  if (arguments.has("help")) return print_page(tool, arguments.get("help") == "json" ? help_json(tool) : help(tool));
  if (arguments.has("version")) return print_page(tool, version(tool.name));
  if (arguments.has("complete")) return arguments;  // a line that is not finished
  if (std::string what = unknown_option(tool, app); !what.empty()) return usage_error(tool, what);
  if (std::string what = wrong_operands(tool, operands); !what.empty()) return usage_error(tool, what);
  arguments.operands_ = std::move(operands);
  return arguments;
}

}  // namespace infini::cli
