// What a GraphBuilder knows beside its graph; for its own sources only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/ir/graph.h"

namespace infini {

struct GraphBuilder::State {
  std::unordered_map<std::string, std::int32_t> names;      // the value that has it, or -1: kept for one that will come
  std::unordered_map<std::string, std::uint32_t> suffixes;  // by stem: the suffixes up to this one are taken
  std::shared_ptr<std::uint64_t> next_fresh = std::make_shared<std::uint64_t>(0);  // shared with the builders of bodies
  std::set<std::uint64_t> used;                             // fresh dimensions in types of this graph and its bodies
  std::vector<std::string> notes;

  // Fresh dimensions made from now on are not this one.
  void keep(std::uint64_t number) { *next_fresh = std::max(*next_fresh, number + 1); }
};

}  // namespace infini
