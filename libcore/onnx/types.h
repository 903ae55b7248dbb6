// TypeProto to types. Dimensions never become numbers on their own: what has no number gets a symbol.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/ir/graph.h"
#include "libcore/onnx/messages.h"

namespace infini::onnx_files {

// The symbols of one model, and what the user put in their place.
class Dimensions {
 public:
  // Names that appear as dim_param, before fresh ones are made.
  void reserve(std::string_view symbol) { taken_.emplace(symbol); }
  void replace(std::string symbol, Dim by);
  // The dimension the file calls `symbol`.
  Dim named(const std::string& symbol) const;
  // A dimension the file leaves open: axis `axis` of `value`.
  Dim unnamed(std::string_view value, std::size_t axis);
  // `type` with the replacements made.
  Type substituted(Type type) const;
  const std::unordered_set<std::string>& symbols() const { return taken_; }

 private:
  std::unordered_set<std::string> taken_;
  std::vector<std::pair<std::string, Dim>> replacements_;
};

// The type of value `name`; unknown if the message says nothing. bad_input: an undefined element type, deep nesting.
Result<Type> type_of(const onnx::TypeProto& type, std::string_view name, Dimensions& dimensions);

// Names of a graph's initializers, sparse ones included.
std::unordered_set<std::string_view> initializer_names(const onnx::GraphProto& graph);

// Types of the inputs that have no initializer, in order.
Result<std::vector<Type>> input_types(const onnx::GraphProto& graph, Dimensions& dimensions);

// Reserves all dim_params of a graph, nested graphs included.
void reserve_symbols(const onnx::GraphProto& graph, Dimensions& dimensions);

}  // namespace infini::onnx_files
