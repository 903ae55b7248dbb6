// Strong indices: a NodeId is not a ValueId, and neither is a number.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace infini {

template <class Tag>
struct Index {
  std::int32_t value = -1;  // -1: none

  constexpr bool valid() const { return value >= 0; }
  constexpr std::size_t at() const { return static_cast<std::size_t>(value); }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(Index, Index) = default;
};

using ValueId = Index<struct ValueTag>;
using NodeId = Index<struct NodeTag>;

template <class Tag>
constexpr Index<Tag> make_index(std::size_t position) {
  return Index<Tag>{static_cast<std::int32_t>(position)};
}
constexpr ValueId value_id(std::size_t position) { return {static_cast<std::int32_t>(position)}; }
constexpr NodeId node_id(std::size_t position) { return {static_cast<std::int32_t>(position)}; }

}  // namespace infini
