#include "passes/pipeline.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>

#include "libcore/base/text.h"
#include "libcore/ir/inline.h"
#include "libcore/ir/module.h"
#include "libcore/ir/rewrite.h"
#include "libcore/ir/verify.h"

namespace infini {
namespace {

constexpr std::string_view level_1 = "fix(canon,fold,simplify-shapes,clean-transposes,cse,dce){max=8}";
constexpr std::string_view level_2 =
    "fix(canon,fold,simplify-shapes,clean-transposes,cse,dce){max=8},recognise-layer-norm,recognise-gelu,fuse-pad,fuse-conv-bn,fuse-bias,dce,"
    "fuse-epilogue,fuse-elementwise";
constexpr std::size_t max_nesting = 16;
constexpr std::string_view default_rounds = "8";

Result<std::map<std::string, std::string>> with_defaults(const Pass& pass, const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> out;
  for (const PassOption& option : pass.options) out.emplace(option.name, option.standard);
  for (const auto& [key, value] : given) {
    if (!out.contains(key)) {
      std::vector<std::string> known;
      for (const PassOption& option : pass.options) known.emplace_back(option.name);
      std::string hint = closest(key, known);
      return usage_error(text("pass ", pass.name, " has no option '", key, "'", hint.empty() ? "" : text("; did you mean '", hint, "'?")));
    }
    if (!parse_size(value)) return usage_error(text(pass.name, "{", key, "=", value, "}: expected a number, perhaps with KiB, MiB or GiB"));
    out[key] = value;
  }
  return out;
}

Result<PipelineEntry> entry_for(const std::string& name, const std::map<std::string, std::string>& given) {
  const Pass* pass = find_pass(name);
  if (!pass) {
    std::vector<std::string> known;
    for (const Pass* p : all_passes()) known.emplace_back(p->name);
    std::string hint = closest(name, known);
    return usage_error(text("there is no pass '", name, "'", hint.empty() ? "; see --list-passes" : text("; did you mean '", hint, "'?")));
  }
  IT_TRY(auto options, with_defaults(*pass, given));
  return PipelineEntry{pass, std::move(options), {}};
}

Result<PipelineEntry> fix_entry(Pipeline list, const std::map<std::string, std::string>& given) {
  PipelineEntry entry{nullptr, {{"max", std::string(default_rounds)}}, std::move(list)};
  for (const auto& [key, value] : given) {
    std::int64_t rounds = 0;
    if (key != "max") return usage_error(text("fix has no option '", key, "'; it has max"));
    if (!parse_int(value, rounds) || rounds < 1) return usage_error(text("fix{max=", value, "}: expected a number of rounds, 1 or more"));
    entry.options["max"] = value;
  }
  return entry;
}

class PipelineParser {
 public:
  explicit PipelineParser(std::string_view text) : rest_(text) {}

  Result<Pipeline> parse() {
    IT_TRY(Pipeline pipeline, list(0));
    if (!rest_.empty()) return usage_error(text("pipeline: unexpected '", rest_, "'"));
    return pipeline;
  }

 private:
  bool accept(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip() { rest_ = rest_.substr(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  std::string until(std::string_view stops) {
    skip();
    std::size_t end = std::min(rest_.find_first_of(stops), rest_.size());
    std::string word(trim(rest_.substr(0, end)));
    rest_.remove_prefix(end);
    return word;
  }

  Result<Pipeline> list(std::size_t depth) {
    Pipeline out;
    if (depth > max_nesting) return usage_error(text("pipeline: fix nested deeper than ", max_nesting));
    skip();
    if (rest_.empty() || rest_.front() == ')') return out;
    do {
      std::string name = until(",(){}");
      if (name.empty()) return usage_error("pipeline: a pass name is missing");
      std::optional<Pipeline> inner;
      if (accept('(')) {
        if (name != "fix") return usage_error(text("pipeline: '", name, "' takes no list; only fix(...) does"));
        IT_TRY(inner, list(depth + 1));
        if (!accept(')')) return usage_error("pipeline: fix( has no closing )");
      }
      IT_TRY(auto given, options());
      if (inner) {
        IT_TRY(PipelineEntry entry, fix_entry(std::move(*inner), given));
        out.push_back(std::move(entry));
      } else {
        IT_TRY(PipelineEntry entry, entry_for(name, given));
        out.push_back(std::move(entry));
      }
    } while (accept(','));
    return out;
  }

  Result<std::map<std::string, std::string>> options() {
    std::map<std::string, std::string> out;
    if (!accept('{')) return out;
    while (!accept('}')) {
      std::string key = until("=,}");
      if (!accept('=')) return usage_error(text("pipeline: option '", key, "' has no =value"));
      out[key] = until(",}");
      if (!accept(',') && (rest_.empty() || rest_.front() != '}')) return usage_error("pipeline: { has no closing }");
    }
    return out;
  }

  std::string_view rest_;
};

Result<Pipeline> from_yaml(const YAML::Node& list, std::size_t depth) {
  if (!list.IsSequence() || depth > max_nesting) return usage_error("a pipeline file holds a list of passes");
  Pipeline out;
  for (const YAML::Node& item : list) {
    if (item.IsScalar()) {
      IT_TRY(PipelineEntry entry, entry_for(item.as<std::string>(), {}));
      out.push_back(std::move(entry));
      continue;
    }
    if (!item.IsMap()) return usage_error("an item of a pipeline file is a name or a map");
    std::map<std::string, std::string> given;
    if (YAML::Node fix = item["fix"]) {
      for (const auto& pair : item) {
        if (pair.first.as<std::string>() != "fix") given[pair.first.as<std::string>()] = pair.second.as<std::string>();
      }
      IT_TRY(Pipeline inner, from_yaml(fix, depth + 1));
      IT_TRY(PipelineEntry entry, fix_entry(std::move(inner), given));
      out.push_back(std::move(entry));
      continue;
    }
    if (item.size() != 1 || !item.begin()->second.IsMap()) return usage_error("a pass with options is written {name: {option: value}}");
    YAML::Node options = item.begin()->second;  // what the iterator points to lives no longer than the expression
    for (const auto& pair : options) given[pair.first.as<std::string>()] = pair.second.as<std::string>();
    IT_TRY(PipelineEntry entry, entry_for(item.begin()->first.as<std::string>(), given));
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

Result<Pipeline> parse_pipeline(std::string_view text) { return PipelineParser(text).parse(); }

Result<Pipeline> parse_pipeline_yaml(const std::string& yaml) {
  try {  // yaml-cpp throws; nothing of it passes this line
    return from_yaml(YAML::Load(yaml), 0);
  } catch (const YAML::Exception& e) {
    return usage_error(text("pipeline file: ", std::string_view(e.what())));
  }
}

Pipeline level_pipeline(int level) {
  if (level <= 0) return {};
  Result<Pipeline> pipeline = parse_pipeline(level == 1 ? level_1 : level_2);
  IT_CHECK(pipeline.has_value());
  return std::move(*pipeline);
}

std::string to_string(const Pipeline& pipeline) {
  std::vector<std::string> entries;
  for (const PipelineEntry& entry : pipeline) {
    std::string out = entry.pass ? std::string(entry.pass->name) : text("fix(", to_string(entry.fix), ")");
    std::vector<std::string> options;
    for (const auto& [key, value] : entry.options) options.push_back(text(key, "=", value));
    if (!options.empty()) out += text("{", join(options, ","), "}");
    entries.push_back(std::move(out));
  }
  return join(entries, ",");
}

Safety safety(const Pipeline& pipeline) {
  Safety most = Safety::exact;
  for (const PipelineEntry& entry : pipeline) most = std::max(most, entry.pass ? entry.pass->safety : safety(entry.fix));
  return most;
}

// Runs entries in order and keeps the books.
class PassDriver {
 public:
  PassDriver(const Graph& graph, const OpTable& ops, const PipelineOptions& options) : ops_(ops), options_(options), result_{graph, {}, {}} {}

  Result<PipelineResult> run(const Pipeline& pipeline) && {
    IT_TRY_VOID(entries(pipeline));
    return std::move(result_);
  }

 private:
  Status entries(const Pipeline& pipeline) {
    for (const PipelineEntry& entry : pipeline) {
      if (stopped_) break;
      IT_TRY_VOID(entry.pass ? one(entry) : fix(entry));
    }
    return {};
  }

  Status fix(const PipelineEntry& entry) {
    std::int64_t rounds = 1;
    parse_int(entry.options.at("max"), rounds);
    for (std::int64_t round = 0; round < rounds && !stopped_; ++round) {
      Hash128 before = structure_digest(result_.graph);
      IT_TRY_VOID(entries(entry.fix));
      if (structure_digest(result_.graph) == before) break;
    }
    return {};
  }

  Result<Graph> with_bodies(const Pass& pass, const Graph& graph, PassContext& context) {
    if (!pass.bodies) return pass.run(graph, context);
    IT_TRY(Graph inner, map_bodies(graph, [](const Node& node) { return !is_fused(node); }, [&](const Graph& body) { return pass.run(body, context); }));
    return pass.run(inner, context);
  }

  Status one(const PipelineEntry& entry) {
    const Pass& pass = *entry.pass;
    PassContext context(ops_, options_.assume_finite);
    context.options_ = entry.options;
    context.rewrite_limit_ = options_.stop_after - rewrites_;
    auto begin = std::chrono::steady_clock::now();
    std::string place = text("pass ", pass.name);
    IT_TRY(Graph after, within(place, with_bodies(pass, result_.graph, context)));
    if (Status valid = verify(after); !valid) return within(place, internal_error(valid.error().text()));
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    rewrites_ += context.rewrites();
    bool changed = !(structure_digest(after) == structure_digest(result_.graph));
    PassReport report{&pass, took.count(), context.rewrites(), result_.graph.nodes().size(), after.nodes().size(), changed};
    if (options_.after_pass) IT_TRY_VOID(within(place, options_.after_pass(report, result_.graph, after)));
    result_.reports.push_back(report);
    if (options_.explain == pass.name) {
      result_.near_misses.insert(result_.near_misses.end(), context.near_misses().begin(), context.near_misses().end());
    }
    result_.graph = std::move(after);
    stopped_ = options_.stop_after_pass == pass.name || rewrites_ >= options_.stop_after;
    return {};
  }

  const OpTable& ops_;
  const PipelineOptions& options_;
  PipelineResult result_;
  std::size_t rewrites_ = 0;
  bool stopped_ = false;
};

Result<PipelineResult> run_pipeline(const Graph& graph, const Pipeline& pipeline, const OpTable& ops, const PipelineOptions& options) {
  return PassDriver(graph, ops, options).run(pipeline);
}

}  // namespace infini
