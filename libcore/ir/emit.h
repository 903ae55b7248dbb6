// Graphs for other programs to read: Graphviz and JSON. Neither holds the data of constants of more than 16 elements.
#pragma once

#include <string>

#include "libcore/ir/graph.h"

namespace infini {

// A directed graph for `dot`: one box per node with operator and name, edges with name and type of the value, bodies as clusters.
std::string emit_dot(const Graph& graph);

// One object:
//   schema     "it-graph/1"
//   name, symbols [{name, lowest, highest}] (highest null: none), metadata [{key, value}]
//   inputs, captures, outputs   names of values
//   values     [{name, type, dtype, shape, producer, output, constant}]; shape null if unknown, an extent is a number or an expression as
//              text; producer an index into nodes or null; constant null or {payload, bytes, file, offset, elements}
//   nodes      [{op, domain, version, name, inputs, outputs, attributes, origin}]; inputs and outputs are names or null; attributes is an
//              object of {kind, value}; version is 0 where the operator is known; origin holds indices into sources
//   sources    [{path, op, name}], of the outermost graph alone
// The value of a body is such an object again, with its captures by name as they are called outside in `from`. Numbers that JSON has not
// (nan, inf) are texts.
std::string emit_json(const Graph& graph);

}  // namespace infini
