#include <algorithm>
#include <unordered_map>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"
#include "libcore/ir/token_reader.h"

namespace infini {
namespace {

constexpr int most_nesting = 32;

struct Scope {
  GraphBuilder builder;
  std::unordered_map<std::string, ValueId> names;
};

// True if a type that the text states agrees with the one that stands; it may say less.
bool agrees(const Type& stated, const Type& actual) {
  if (stated.kind == TypeKind::unknown) return true;
  if (stated.kind != actual.kind || stated.dtype != actual.dtype) return false;
  if (stated.element && actual.element && !agrees(*stated.element, *actual.element)) return false;
  return !stated.shape || stated.shape == actual.shape;
}

class Parser {
 public:
  Parser(TokenReader& in, const OpTable& ops, std::shared_ptr<const std::vector<SourceNode>> sources)
      : in_(in), ops_(ops), sources_(std::move(sources)) {}

  // Fresh dimensions that the text names anywhere are not made anew.
  Result<Graph> top_graph(std::string_view text) {
    Scope scope{GraphBuilder(sources_), {}};
    for (std::size_t at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
      std::size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
      scope.builder.keep_symbols(Type::tensor(DType::i64, Shape{Dim::symbol(text.substr(at, end - at))}));
    }
    std::vector<ValueId> no_captures;
    return graph(scope, nullptr, no_captures);
  }

 private:
  Result<Graph> graph(Scope& scope, Scope* outer, std::vector<ValueId>& captures) {
    std::size_t begin = in_.now().begin;
    IT_TRY_VOID(in_.expect_word("graph"));
    IT_TRY(std::string name, in_.quotation());
    scope.builder.set_name(std::move(name));
    IT_TRY_VOID(parenthesised([&] { return input(scope); }));
    if (outer && in_.is_word("captures")) {
      IT_TRY_VOID(in_.advance());
      IT_TRY_VOID(parenthesised([&] { return capture(scope, *outer, captures); }));
    }
    IT_TRY_VOID(in_.expect_mark("->"));
    std::vector<Token> outputs;
    auto output = [&]() -> Status {
      outputs.push_back(in_.now());
      IT_TRY_VOID(in_.value_name());
      return {};
    };
    IT_TRY_VOID(parenthesised(output));
    IT_TRY_VOID(in_.expect_mark("{"));
    while (!in_.is_mark("}")) IT_TRY_VOID(item(scope));
    IT_TRY_VOID(in_.advance());
    for (const Token& token : outputs) {
      auto found = scope.names.find(token.value);
      if (found == scope.names.end()) return in_.fail(token.begin, text("output '", token.value, "' is not defined in the graph"));
      scope.builder.add_output(found->second);
    }
    return as_bad_input(in_.at(begin, std::move(scope.builder).build()));
  }

  template <class Item>
  Status parenthesised(const Item& item) {
    IT_TRY_VOID(in_.expect_mark("("));
    bool more = !in_.is_mark(")");
    while (more) {
      IT_TRY_VOID(item());
      IT_TRY(more, in_.take_mark(","));
    }
    return in_.expect_mark(")");
  }

  template <class T>
  static Result<T> as_bad_input(Result<T> result) {
    if (!result && result.error().kind == ErrorKind::internal) result.error().kind = ErrorKind::bad_input;
    return result;
  }

  // A name that is not taken, and its token.
  Result<std::string> new_name(const Scope& scope) {
    Token token = in_.now();
    IT_TRY(std::string name, in_.value_name());
    if (scope.names.contains(name)) return in_.fail(token.begin, text("'", name, "' is defined twice"));
    return name;
  }

  Result<ValueId> existing(const Scope& scope) {
    Token token = in_.now();
    IT_TRY(std::string name, in_.value_name());
    auto found = scope.names.find(name);
    if (found == scope.names.end()) return in_.fail(token.begin, text("'", name, "' is not defined before this"));
    return found->second;
  }

  Status input(Scope& scope) {
    IT_TRY(std::string name, new_name(scope));
    IT_TRY_VOID(in_.expect_mark(":"));
    IT_TRY(Type type, in_.type());
    scope.names[name] = scope.builder.add_input(name, std::move(type));
    return {};
  }

  // %inner = %outer, or one name for both.
  Status capture(Scope& scope, Scope& outer, std::vector<ValueId>& captures) {
    Token first = in_.now();
    IT_TRY(std::string name, new_name(scope));
    ValueId outside;
    IT_TRY(bool renamed, in_.take_mark("="));
    if (renamed) {
      IT_TRY(outside, existing(outer));
    } else {
      auto found = outer.names.find(name);
      if (found == outer.names.end()) return in_.fail(first.begin, text("'", name, "' is not defined in the graph around this one"));
      outside = found->second;
    }
    const ValueInfo& value = outer.builder.value(outside);
    scope.names[name] = scope.builder.add_capture(name, value.type, value.dims);
    captures.push_back(outside);
    return {};
  }

  Status item(Scope& scope) {
    if (in_.now().kind == TokenKind::end) return in_.unexpected("'}'");
    if (in_.is_word("symbol")) return symbol(scope);
    if (in_.is_word("metadata")) return metadata(scope);
    std::vector<Token> results;
    if (in_.now().kind == TokenKind::value || in_.is_word("_")) {
      bool more = true;
      while (more) {
        IT_TRY_VOID(result(scope, results));
        IT_TRY(more, in_.take_mark(","));
      }
      IT_TRY_VOID(in_.expect_mark("="));
    }
    if (!in_.is_word("constant")) return node(scope, results);
    if (results.size() != 1 || results[0].kind != TokenKind::value) return in_.unexpected("an operator, since a constant has one name");
    IT_TRY_VOID(in_.advance());
    IT_TRY(ConstantRef constant, read_constant(in_));
    scope.names[results[0].value] = scope.builder.add_constant(results[0].value, std::move(constant));
    return {};
  }

  // One name left of "=": %x or _.
  Status result(const Scope& scope, std::vector<Token>& results) {
    Token token = in_.now();
    if (!in_.is_word("_")) {
      IT_TRY(token.value, new_name(scope));
      auto same = [&token](const Token& other) { return other.kind == TokenKind::value && other.value == token.value; };
      if (std::ranges::any_of(results, same)) return in_.fail(token.begin, text("'", token.value, "' is defined twice"));
    } else {
      IT_TRY_VOID(in_.advance());
    }
    results.push_back(std::move(token));
    return {};
  }

  Status symbol(Scope& scope) {
    IT_TRY_VOID(in_.advance());
    Symbol symbol;
    IT_TRY(symbol.name, in_.symbol());
    IT_TRY_VOID(in_.expect_word("in"));
    IT_TRY(symbol.bounds.lowest, in_.integer(0));
    IT_TRY_VOID(in_.expect_mark(".."));
    if (in_.now().kind == TokenKind::number) {
      IT_TRY(symbol.bounds.highest, in_.integer(symbol.bounds.lowest));
    }
    scope.builder.set_symbol(std::move(symbol));
    return {};
  }

  Status metadata(Scope& scope) {
    IT_TRY_VOID(in_.advance());
    IT_TRY(std::string key, in_.quotation());
    IT_TRY_VOID(in_.expect_mark("="));
    IT_TRY(std::string value, in_.quotation());
    scope.builder.add_metadata(std::move(key), std::move(value));
    return {};
  }

  Status node(Scope& scope, const std::vector<Token>& results) {
    std::size_t begin = in_.now().begin;
    GraphBuilder::NodeSpec spec;
    IT_TRY_VOID(op(spec));
    auto operand = [&]() -> Status {
      if (in_.is_word("_")) {
        spec.inputs.emplace_back();
        return in_.advance();
      }
      IT_TRY(ValueId value, existing(scope));
      spec.inputs.push_back(value);
      return {};
    };
    IT_TRY_VOID(parenthesised(operand));
    if (in_.is_mark("{")) IT_TRY_VOID(attributes(scope, spec));
    for (const Token& result : results) {
      spec.output_names.push_back(result.value);
      spec.wanted.push_back(result.kind == TokenKind::value);
    }
    if (results.empty()) spec.wanted = {false};
    std::vector<std::size_t> type_places(results.size());
    if (in_.is_mark(":")) IT_TRY_VOID(types(spec, type_places));
    IT_TRY(bool named, in_.take_mark("@"));
    if (named) {
      IT_TRY(spec.name, in_.quotation());
    }
    IT_TRY_VOID(origin(spec.origin));

    std::vector<Type> stated = spec.declared;
    IT_TRY(std::vector<ValueId> made, as_bad_input(in_.at(begin, scope.builder.add_node(std::move(spec)))));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!made[i]) continue;
      scope.names[results[i].value] = made[i];
      const Type& actual = scope.builder.value(made[i]).type;
      if (i < stated.size() && !agrees(stated[i], actual)) {
        return in_.fail(type_places[i], text("found the type ", to_string(stated[i]), ", inference gives ", to_string(actual)));
      }
    }
    return {};
  }

  // [domain::]type [version N] [overload "..."]
  Status op(GraphBuilder::NodeSpec& spec) {
    std::size_t begin = in_.now().begin;
    if (in_.now().kind != TokenKind::word && in_.now().kind != TokenKind::text) return in_.unexpected("an operator");
    IT_TRY(spec.type, in_.word_or_quotation());
    IT_TRY(bool has_domain, in_.take_mark("::"));
    if (has_domain) {
      spec.domain = std::move(spec.type);
      IT_TRY(spec.type, in_.word_or_quotation());
    }
    if (spec.type.empty()) return in_.fail(begin, "the name of an operator is empty");
    IT_TRY(bool carried, in_.take_word("version"));
    if (carried) {
      IT_TRY(std::int64_t version, in_.integer(0, INT32_MAX));
      spec.version = static_cast<int>(version);
      IT_TRY(bool has_overload, in_.take_word("overload"));
      if (has_overload) {
        IT_TRY(spec.overload, in_.quotation());
      }
      return {};
    }
    spec.op = ops_.find(spec.domain, spec.type);
    if (spec.op) return {};
    std::vector<std::string> names;
    for (const OpDef* op : ops_.all()) names.emplace_back(op->name);
    std::string near = closest(spec.type, names);
    return in_.fail(begin, text("no operator '", spec.domain, spec.domain.empty() ? "" : "::", spec.type, "'",
                                near.empty() ? "" : text("; did you mean ", near, "?"), " (one that is only carried names its version)"));
  }

  Status attributes(Scope& scope, GraphBuilder::NodeSpec& spec) {
    IT_TRY_VOID(in_.advance());
    bool more = !in_.is_mark("}");
    while (more) {
      std::size_t begin = in_.now().begin;
      IT_TRY(std::string name, in_.word_or_quotation());
      IT_TRY_VOID(in_.expect_mark("="));
      if (spec.attributes.has(name)) return in_.fail(begin, text("attribute '", name, "' is there twice"));
      IT_TRY(AttributeValue value, attribute(scope, spec.op ? find_attribute(*spec.op, name) : nullptr));
      spec.attributes.set(std::move(name), std::move(value));
      IT_TRY(more, in_.take_mark(","));
    }
    return in_.expect_mark("}");
  }

  Result<AttributeValue> attribute(Scope& scope, const AttributeDef* def) {
    if (in_.is_word("graph")) {
      IT_TRY(Body one, body(scope));
      return AttributeValue(std::move(one));
    }
    if (!in_.is_word("graphs")) return read_attribute(in_, def);
    IT_TRY_VOID(in_.advance());
    std::vector<Body> bodies;
    IT_TRY_VOID(in_.expect_mark("["));
    bool more = !in_.is_mark("]");
    while (more) {
      IT_TRY(Body one, body(scope));
      bodies.push_back(std::move(one));
      IT_TRY(more, in_.take_mark(","));
    }
    IT_TRY_VOID(in_.expect_mark("]"));
    return AttributeValue(std::move(bodies));
  }

  Result<Body> body(Scope& outer) {
    if (++depth_ > most_nesting) return in_.fail(in_.now().begin, text("graphs are nested more than ", most_nesting, " deep"));
    Scope inner{outer.builder.nested(), {}};
    Body out;
    IT_TRY(Graph made, graph(inner, &outer, out.captures));
    out.graph = std::make_shared<const Graph>(std::move(made));
    --depth_;
    return out;
  }

  // One type per wanted result.
  Status types(GraphBuilder::NodeSpec& spec, std::vector<std::size_t>& places) {
    std::string_view separator = ":";
    for (std::size_t i = 0; i < places.size(); ++i) {
      spec.declared.emplace_back();
      if (!spec.wanted[i]) continue;
      IT_TRY_VOID(in_.expect_mark(separator));
      separator = ",";
      places[i] = in_.now().begin;
      IT_TRY(spec.declared.back(), in_.type());
    }
    return {};
  }

  Status origin(Origin& out) {
    IT_TRY(bool more, in_.take_word("from"));
    while (more) {
      std::size_t begin = in_.now().begin;
      IT_TRY(std::uint64_t source, in_.unsigned_integer());
      if (source >= sources_->size()) return in_.fail(begin, text("found source ", source, ", there are ", sources_->size()));
      out.push_back(static_cast<std::uint32_t>(source));
      IT_TRY(more, in_.take_mark(","));
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return {};
  }

  TokenReader& in_;
  const OpTable& ops_;
  std::shared_ptr<const std::vector<SourceNode>> sources_;
  int depth_ = 0;
};

// Over the first {...}, quotations and inner braces included.
Status skip_graph(TokenReader& in) {
  int depth = 0;
  bool closed = false;
  while (!closed && in.now().kind != TokenKind::end) {
    if (in.is_mark("{")) ++depth;
    if (in.is_mark("}")) closed = --depth == 0;
    IT_TRY_VOID(in.advance());
  }
  return {};
}

}  // namespace

Result<Module> parse_text(std::string_view text, const OpTable& ops) {
  // Nodes refer to the sources, which stand behind the graph.
  TokenReader ahead(text);
  IT_TRY_VOID(ahead.advance());
  IT_TRY_VOID(skip_graph(ahead));
  IT_TRY(std::vector<SourceNode> sources, read_sources(ahead));

  TokenReader in(text);
  IT_TRY_VOID(in.advance());
  Parser parser(in, ops, std::make_shared<const std::vector<SourceNode>>(std::move(sources)));
  Module module;
  IT_TRY(module.graph, parser.top_graph(text));
  IT_TRY_VOID(read_sources(in));
  IT_TRY(module.ledger, read_ledger(in));
  if (in.now().kind != TokenKind::end) return in.unexpected("the end");
  return module;
}

}  // namespace infini
