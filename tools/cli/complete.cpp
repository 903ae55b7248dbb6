#include "tools/cli/complete.h"

#include <algorithm>
#include <cstdlib>

#include "libcore/base/text.h"
#include "passes/pass.h"
#include "tools/cli/devices.h"
#include "tools/cli/session.h"

namespace infini::cli {
namespace {

constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", graph_files = ".onnx .itg .txt", array_files = ".npy .npz";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// As a shell sees them, quotes and backslashes taken away; the last one may be empty.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words(1);
  char quote = 0;
  bool begun = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    char c = line[i], next = i + 1 < line.size() ? line[i + 1] : '\0';
    if (!quote && is_blank(c)) {
      if (begun) words.emplace_back();
      begun = false;
      continue;
    }
    bool escape = c == '\\' && next && (!quote || (quote == '"' && std::string_view("\\\"$`").find(next) != std::string_view::npos));
    if (!begun && c == '~' && (next == '/')) {
      const char* home = std::getenv("HOME");
      words.back() += home ? home : "~";
    } else if (escape) {
      words.back() += line[++i];
    } else if (quote == c) {
      quote = 0;
    } else if (!quote && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
    begun = true;
  }
  return words;
}

// The tool's options and the common ones.
std::vector<Option> all_options(const Tool& tool) {
  std::vector<Option> out(tool.options.begin(), tool.options.end());
  out.insert(out.end(), common_options().begin(), common_options().end());
  return out;
}

class Completer {
 public:
  explicit Completer(const Tool& tool) : tool_(tool), options_(all_options(tool)) {}

  // `words` to the cursor, the last one at it; `behind` it.
  std::string run(std::vector<std::string> words, const std::vector<std::string>& behind) && {
    word_ = std::move(words.back());
    words.pop_back();
    look(words, behind);
    return word_ + "\n" + std::move(out_);
  }

 private:
  void look(const std::vector<std::string>& words, const std::vector<std::string>& behind) {
    const Option* waiting = take(words, 1);
    bool ended = ended_;
    take(behind, 0);
    if (waiting) return value_of(*waiting, 0);
    std::size_t equals = word_.find('=');
    if (ended || !word_.starts_with("-")) return operand();
    const Option* option = find(word_.substr(0, word_.starts_with("--") ? equals : 2));
    if (word_.starts_with("--") && equals != std::string::npos) {
      if (option) value_of(*option, equals + 1);
    } else if (!word_.starts_with("--") && option && option->takes == Takes::value && (word_.size() > 2 || is_choice(*option))) {
      value_of(*option, 2);
    } else {
      for (const Option& each : options_) {
        for (const std::string& name : split(each.names, ',')) offer(name, each.help);
      }
    }
  }

  const Option* find(std::string_view name) const {
    for (const Option& option : options_) {
      std::vector<std::string> names = split(option.names, ',');
      if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
    }
    return nullptr;
  }

  static bool is_choice(const Option& option) { return !option.value.empty() && option.value.find_first_of(capitals) == std::string_view::npos; }

  void give(const Option& option, std::string_view value) {
    if (option.takes == Takes::flag) given_.push_back(key_of(option));
    else given_.push_back(text(key_of(option), "=", value));
  }

  // Takes options and operands from words[first] on; the option whose value is to come, if the last one is such.
  const Option* take(const std::vector<std::string>& words, std::size_t first) {
    for (std::size_t i = first; i < words.size(); ++i) {
      const std::string& word = words[i];
      std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
      if (ended_ || !word.starts_with("-") || word == "-") {
        if (!word.empty()) operands_.push_back(word);
      } else if (word == "--") {
        ended_ = true;
      } else if (const Option* option = find(word.substr(0, equals))) {
        bool next = option->takes == Takes::value && equals == std::string::npos;
        if (next && i + 1 == words.size()) return option;
        give(*option, next ? words[++i] : equals == std::string::npos ? "" : word.substr(equals + 1));
      } else if (const Option* attached = find(word.substr(0, 2)); attached && attached->takes == Takes::value) {
        give(*attached, word.substr(2));
      }
    }
    return nullptr;
  }

  void offer(std::string_view word, std::string_view help) {
    bool plain = std::none_of(word.begin(), word.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
    if (plain && word.starts_with(word_)) out_ += text(word, "\t", help, "\n");
  }

  void files(std::size_t prefix, std::string_view suffixes) { out_ += text("\t", word_.substr(0, prefix), "\t", suffixes, "\n"); }

  bool is_verb(std::string_view word) const { return std::find(tool_.verbs.begin(), tool_.verbs.end(), word) != tool_.verbs.end(); }

  void operand() {
    if (operands_.empty()) {
      for (std::string_view verb : tool_.verbs) offer(verb, "");
    }
    bool verb_first = operands_.empty() && !tool_.verbs.empty() && tool_.min_operands > 0;
    if (verb_first || operands_.size() >= tool_.max_operands) return;
    std::size_t file = tool_.operands.find("FILE.");
    std::string_view suffix = file == std::string_view::npos ? graph_files : tool_.operands.substr(file + 4);
    files(0, suffix.substr(0, suffix.find_first_of("|]")));
  }

  // What begins at `begin` of the word is a value of the option; its placeholder says of what kind.
  void value_of(const Option& option, std::size_t begin) {
    for (const std::string& kind : split(option.value, '|')) {
      if (is_choice(option)) offer(word_.substr(0, begin) + kind, "");
      else value_of_kind(kind, begin);
    }
  }

  void value_of_kind(std::string_view kind, std::size_t begin) {
    std::string_view name = kind.substr(0, kind.find_first_not_of(capitals));
    std::string_view tail = kind.substr(name.size());
    if (tail.ends_with(",...")) {
      std::size_t comma = word_.find_last_of(",(");
      if (comma != std::string::npos && comma >= begin) begin = comma + 1;
    }
    std::string prefix = word_.substr(0, begin);
    if (name == "FILE") return files(begin, tail);
    if (name == "DIR") return files(begin, "/");
    if (name == "DEVICE") {
      for (const std::string& device : known_backends(arguments())) offer(prefix + device, "");
      return files(begin, ".so");
    }
    if (name == "PASS") {
      for (const Pass* pass : all_passes()) offer(text(prefix, pass->name), pass->summary);
      return;
    }
    std::size_t value = word_.find('=', begin);
    if (name == "INPUT" && kind.ends_with("=VALUE") && value != std::string::npos) {
      // A name may hold "=": what is behind the last one is the value, and names go on being offered.
      value = word_.find("=@", begin);
      if (value != std::string::npos) return files(value + 2, array_files);
      if (word_.ends_with("=")) offer(word_ + "@", "a file of NumPy");
    }
    // "INPUT[:SHAPE]=VALUE": what stands behind the name at least.
    std::size_t closing = tail.rfind(']');
    std::string_view mark = closing == std::string_view::npos ? tail.substr(0, 1) : tail.substr(closing + 1, 1);
    if (mark != "=" && mark != ":") mark = "";
    for (const auto& [thing, help] : things(name)) {
      std::string word = text(prefix, thing, mark);
      if (!thing.empty() && (mark.empty() || word != word_)) offer(word, help);
    }
  }

  Arguments arguments() const {
    std::vector<std::string_view> pairs(given_.begin(), given_.end());
    Result<Arguments> out = arguments_from(options_, pairs);
    return out ? *out : Arguments();
  }

  // Inputs, nodes and values, or symbols of the graph on the line, as the tool will see it.
  std::vector<std::pair<std::string, std::string>> things(std::string_view kind) const {
    std::vector<std::pair<std::string, std::string>> out;
    auto operand = std::find_if(operands_.begin(), operands_.end(), [this](const std::string& word) { return !is_verb(word); });
    if (operand == operands_.end() || *operand == "-" || (kind != "INPUT" && kind != "GLOB" && kind != "SYMBOL")) return out;
    Result<FileFacts> facts = file_facts(*operand);
    if (!facts || !facts->regular) return out;  // reading a pipe or a terminal would wait, or take what is somebody else's
    Arguments given = arguments();
    std::vector<std::string_view> silence = {"quiet"};
    Talk talk(tool_.name, *arguments_from(common_options(), silence));
    OpTable ops;
    Result<Input> input = read_module(*operand, ops, talk, false);
    if (!input || (kind == "GLOB" && find("-O") && !optimise_operand(*input, ops, given, talk))) return out;
    const Graph& graph = input->module.graph;
    if (kind == "SYMBOL") {
      for (ValueId id : graph.inputs()) {
        const Type& type = graph.value(id).type;
        for (const Dim& dim : type.has_shape() ? *type.shape : Shape()) {
          for (const std::string& symbol : dim.symbols()) out.emplace_back(symbol, text("of ", graph.value(id).name));
        }
      }
    } else if (kind == "INPUT") {
      for (ValueId id : graph.inputs()) out.emplace_back(graph.value(id).name, to_string(graph.value(id).type));
    } else {
      for (const Node& node : graph.nodes()) out.emplace_back(node.name, node.type);
      for (const ValueInfo& value : graph.values()) {
        if (value.producer) out.emplace_back(value.name, to_string(value.type));
      }
    }
    std::sort(out.begin(), out.end());
    auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    return out;
  }

  const Tool& tool_;
  std::vector<Option> options_;
  std::string word_;                    // at the cursor
  std::vector<std::string> operands_;   // before and behind it
  std::vector<std::string> given_;      // options, as "key=value"
  bool ended_ = false;                  // by "--"
  std::string out_;
};

}  // namespace

std::string complete(const Tool& tool, std::string_view line) {
  std::size_t cursor = std::min(line.find('\n'), line.size());
  std::string_view rest = line.substr(cursor);
  if (!rest.empty()) rest.remove_prefix(1);
  // What is glued to the cursor belongs to the word there.
  rest.remove_prefix(std::min(rest.find_first_of(" \t"), rest.size()));
  return Completer(tool).run(shell_words(line.substr(0, cursor)), shell_words(rest));
}

}  // namespace infini::cli
