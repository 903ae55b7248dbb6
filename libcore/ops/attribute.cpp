#include "libcore/ops/attribute.h"

#include <algorithm>
#include <array>
#include <bit>

namespace infini {
namespace {

bool same_reals(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); });
}

bool same_bodies(const Body& a, const Body& b) { return a.graph == b.graph && a.captures == b.captures; }

}  // namespace

std::string_view name(AttributeKind kind) {
  static constexpr std::array<std::string_view, 11> names = {"an integer", "a real", "a text", "integers", "reals", "texts",
                                                             "a tensor",   "a type", "a body", "tensors",  "bodies"};
  return names[static_cast<std::size_t>(kind)];
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return false;
  if (a.dtype() == DType::str) return a.strings() == b.strings();
  return std::ranges::equal(a.bytes(), b.bytes());
}

bool same(const AttributeValue& a, const AttributeValue& b) {
  if (kind(a) != kind(b)) return false;
  switch (kind(a)) {
    case AttributeKind::integer: return std::get<std::int64_t>(a) == std::get<std::int64_t>(b);
    case AttributeKind::real: return same_reals({std::get<float>(a)}, {std::get<float>(b)});
    case AttributeKind::text: return std::get<std::string>(a) == std::get<std::string>(b);
    case AttributeKind::integers: return std::get<std::vector<std::int64_t>>(a) == std::get<std::vector<std::int64_t>>(b);
    case AttributeKind::reals: return same_reals(std::get<std::vector<float>>(a), std::get<std::vector<float>>(b));
    case AttributeKind::texts: return std::get<std::vector<std::string>>(a) == std::get<std::vector<std::string>>(b);
    case AttributeKind::tensor: return same(std::get<Tensor>(a), std::get<Tensor>(b));
    case AttributeKind::type: return std::get<Type>(a) == std::get<Type>(b);
    case AttributeKind::body: return same_bodies(std::get<Body>(a), std::get<Body>(b));
    case AttributeKind::tensors:
      return std::ranges::equal(std::get<std::vector<Tensor>>(a), std::get<std::vector<Tensor>>(b),
                                [](const Tensor& x, const Tensor& y) { return same(x, y); });
    case AttributeKind::bodies: return std::ranges::equal(std::get<std::vector<Body>>(a), std::get<std::vector<Body>>(b), same_bodies);
  }
  return false;
}

Attributes::Attributes(std::initializer_list<Attribute> list) {
  for (const Attribute& attribute : list) set(attribute.name, attribute.value);
}

const AttributeValue* Attributes::find(std::string_view name) const {
  auto found = std::ranges::lower_bound(list_, name, {}, &Attribute::name);
  return found != list_.end() && found->name == name ? &found->value : nullptr;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* value = get<std::int64_t>(name);
  return value ? *value : otherwise;
}

float Attributes::real(std::string_view name, float otherwise) const {
  const auto* value = get<float>(name);
  return value ? *value : otherwise;
}

std::string Attributes::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = get<std::string>(name);
  return value ? *value : std::string(otherwise);
}

std::vector<std::int64_t> Attributes::integers(std::string_view name) const {
  const auto* value = get<std::vector<std::int64_t>>(name);
  return value ? *value : std::vector<std::int64_t>{};
}

void Attributes::set(std::string name, AttributeValue value) {
  auto at = std::ranges::lower_bound(list_, name, {}, &Attribute::name);
  if (at != list_.end() && at->name == name) {
    at->value = std::move(value);
  } else {
    list_.insert(at, Attribute{std::move(name), std::move(value)});
  }
}

bool Attributes::erase(std::string_view name) { return take(name).has_value(); }

std::optional<AttributeValue> Attributes::take(std::string_view name) {
  auto found = std::ranges::lower_bound(list_, name, {}, &Attribute::name);
  if (found == list_.end() || found->name != name) return std::nullopt;
  AttributeValue value = std::move(found->value);
  list_.erase(found);
  return value;
}

bool same(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a, b, [](const Attribute& x, const Attribute& y) { return x.name == y.name && same(x.value, y.value); });
}

}  // namespace infini
