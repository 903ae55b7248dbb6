// Graphs to test with, and a way to break them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "libcore/base/text.h"
#include "libcore/ir/text_form.h"

namespace infini {

// The insides of a graph, so that the verifier has something to find.
struct GraphAccess {
  static std::vector<ValueInfo>& values(Graph& g) { return g.values_; }
  static std::vector<Node>& nodes(Graph& g) { return g.nodes_; }
  static std::vector<ValueId>& inputs(Graph& g) { return g.inputs_; }
  static std::vector<ValueId>& outputs(Graph& g) { return g.outputs_; }
  static std::vector<ValueId>& captures(Graph& g) { return g.captures_; }
  static std::vector<Symbol>& symbols(Graph& g) { return g.symbols_; }
};

namespace testing {

// The error's text; "" for success.
template <class T>
std::string failure(const Result<T>& result) { return result ? "" : result.error().text(); }

template <class T>
T value_of(Result<T> result) {
  INFO(failure(result));
  REQUIRE(result.has_value());
  return std::move(*result);
}

inline Module parsed(std::string_view source) { return value_of(parse_text(source, OpTable())); }
inline Graph graph_of(std::string_view source) { return parsed(source).graph; }

inline ValueId value_named(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.values().size(); ++i) {
    if (graph.values()[i].name == name) return value_id(i);
  }
  return {};
}

inline Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }
inline Type type(std::string_view text) { return value_of(parse_type(text)); }

// ---- operators that are no real ones: their sizes are known when they run -------------------------------------------------------------

inline constexpr std::array<Param, 1> any_in = {Param{"X", dtypes::any}};
inline constexpr std::array<Param, 2> two_out = {Param{"Y", dtypes::any}, Param{"Z", dtypes::any, {}, Arity::optional}};
inline constexpr std::array<int, 1> first_version = {1};

// i64[s], i64[s,2*s+1] for a fresh s.
inline const OpDef find_op = {.name = "Find", .summary = "", .versions = first_version, .inputs = any_in, .outputs = two_out, .infer = [](const OpContext& c) {
  Dim size = c.fresh();
  return Result<std::vector<Type>>({Type::tensor(DType::i64, Shape{size}), Type::tensor(DType::i64, Shape{size, size + size + Dim(1)})});
}};
// f32[2*s] for a fresh s.
inline const OpDef double_op = {.name = "Double", .summary = "", .versions = first_version, .inputs = any_in, .outputs = two_out, .infer = [](const OpContext& c) {
  Dim size = c.fresh();
  return Result<std::vector<Type>>({f32({size + size}), f32({})});
}};
// A tensor of unknown rank.
inline const OpDef blur_op = {.name = "Blur", .summary = "", .versions = first_version, .inputs = any_in, .outputs = two_out,
                              .infer = [](const OpContext&) { return Result<std::vector<Type>>({Type::tensor(DType::f32)}); }};

}  // namespace testing
}  // namespace infini
