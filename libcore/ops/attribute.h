// Attributes of nodes: named values, sorted by name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libcore/base/index.h"
#include "libcore/tensor/tensor.h"

namespace infini {

class Graph;

// A nested graph and the values of the graph around it that it uses, in the order of the body's captures().
struct Body {
  std::shared_ptr<const Graph> graph;
  std::vector<ValueId> captures;
};

enum class AttributeKind : std::uint8_t { integer, real, text, integers, reals, texts, tensor, type, body, tensors, bodies };

// Alternatives in the order of AttributeKind.
using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>, Tensor,
                                    Type, Body, std::vector<Tensor>, std::vector<Body>>;

inline AttributeKind kind(const AttributeValue& value) { return static_cast<AttributeKind>(value.index()); }
std::string_view name(AttributeKind kind);
// Equal type and content, floats bit by bit.
bool same(const Tensor& a, const Tensor& b);
// Equal values; floats bit by bit, tensors by content, bodies by identity.
bool same(const AttributeValue& a, const AttributeValue& b);

struct Attribute {
  std::string name;
  AttributeValue value;
};

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> list);

  const AttributeValue* find(std::string_view name) const;
  template <class T>
  const T* get(std::string_view name) const {
    const AttributeValue* value = find(name);
    return value ? std::get_if<T>(value) : nullptr;
  }
  // With a fallback for what is left out. Importers have checked kinds, so another kind counts as left out.
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  float real(std::string_view name, float otherwise = 0) const;
  std::string text(std::string_view name, std::string_view otherwise = "") const;
  std::vector<std::int64_t> integers(std::string_view name) const;  // empty if left out
  bool has(std::string_view name) const { return find(name) != nullptr; }

  void set(std::string name, AttributeValue value);
  bool erase(std::string_view name);
  // Removes it and returns its value.
  std::optional<AttributeValue> take(std::string_view name);

  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  friend bool same(const Attributes& a, const Attributes& b);

 private:
  std::vector<Attribute> list_;
};

}  // namespace infini
