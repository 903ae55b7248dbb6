// Where two modules differ.
#include <algorithm>

#include "libcore/base/text.h"
#include "tests/wire/sample.h"

namespace infini::test {
namespace {

std::string differ(std::string_view what, bool differs) { return differs ? std::string(what) : std::string(); }

// The first that is not empty, with `place` in front.
std::string first_of(std::string_view place, std::initializer_list<std::string> findings) {
  for (const std::string& finding : findings) {
    if (!finding.empty()) return text(place, ": ", finding);
  }
  return {};
}

std::string difference(const Graph& a, const Graph& b);

std::string difference(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return text(to_string(a.type()), " and ", to_string(b.type()));
  if (a.dtype() == DType::str) return differ("strings", a.strings() != b.strings());
  return differ("bytes", !std::ranges::equal(a.bytes(), b.bytes()));
}

std::string difference(const Constant& a, const Constant& b) {
  bool absent = std::holds_alternative<AbsentPayload>(a.payload);
  if (absent != std::holds_alternative<AbsentPayload>(b.payload)) return "one is absent";
  if (a.dtype != b.dtype || a.extents != b.extents) return "types";
  if (absent) return differ("digests", a.digest != b.digest);
  Result<Tensor> left = load(a), right = load(b);
  if (!left) return "left: " + left.error().text();
  if (!right) return "right: " + right.error().text();
  return difference(*left, *right);
}

// Values go by name, since their numbers may change.
std::vector<std::string> names(const Graph& graph, std::span<const ValueId> ids) {
  std::vector<std::string> out;
  for (ValueId id : ids) out.push_back(id ? graph.value(id).name : "");
  return out;
}

std::string difference(const Graph& ga, const Body& a, const Graph& gb, const Body& b) {
  if (names(ga, a.captures) != names(gb, b.captures)) return "captures";
  return difference(*a.graph, *b.graph);
}

std::string difference(const Graph& ga, const AttributeValue& a, const Graph& gb, const AttributeValue& b) {
  if (kind(a) != kind(b)) return "kinds";
  if (const Body* body = std::get_if<Body>(&a)) return difference(ga, *body, gb, std::get<Body>(b));
  if (const auto* list = std::get_if<std::vector<Body>>(&a)) {
    const auto& other = std::get<std::vector<Body>>(b);
    if (list->size() != other.size()) return "number of bodies";
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (std::string found = difference(ga, (*list)[i], gb, other[i]); !found.empty()) return found;
    }
    return {};
  }
  return differ("values", !same(a, b));
}

std::string difference(const Graph& ga, const Node& a, const Graph& gb, const Node& b) {
  std::string found = first_of(a.type, {
      differ("definition", a.op != b.op),
      differ("operator", a.domain != b.domain || a.type != b.type || a.version != b.version || a.overload != b.overload),
      differ("name", a.name != b.name), differ("inputs", names(ga, a.inputs) != names(gb, b.inputs)),
      differ("outputs", names(ga, a.outputs) != names(gb, b.outputs)), differ("origin", a.origin != b.origin),
      differ("number of attributes", a.attributes.size() != b.attributes.size())});
  if (!found.empty()) return found;
  for (const Attribute& item : a.attributes) {
    const AttributeValue* other = b.attributes.find(item.name);
    if (!other) return item.name + " is missing";
    if (std::string inner = difference(ga, item.value, gb, *other); !inner.empty()) return text(a.type, ": ", item.name, ": ", inner);
  }
  return {};
}

std::string difference(const ValueInfo& a, const ValueInfo& b) {
  if (!(a.type == b.type)) return text(to_string(a.type), " and ", to_string(b.type));
  if (a.dims.has_value() != b.dims.has_value() || (a.dims && a.dims->elements != b.dims->elements)) return "elements as dimensions";
  if ((a.constant == nullptr) != (b.constant == nullptr)) return "one is constant";
  return a.constant ? difference(*a.constant, *b.constant) : std::string();
}

std::string difference(const Graph& a, const Graph& b) {
  std::string found = first_of("graph", {
      differ("name", a.name() != b.name()), differ("number of values", a.values().size() != b.values().size()),
      differ("number of nodes", a.nodes().size() != b.nodes().size()), differ("inputs", names(a, a.inputs()) != names(b, b.inputs())),
      differ("outputs", names(a, a.outputs()) != names(b, b.outputs())), differ("captures", names(a, a.captures()) != names(b, b.captures())),
      differ("symbols", !std::ranges::equal(a.symbols(), b.symbols())), differ("sources", !std::ranges::equal(a.sources(), b.sources())),
      differ("metadata", !std::ranges::equal(a.metadata(), b.metadata()))});
  if (!found.empty()) return found;
  for (const ValueInfo& value : a.values()) {
    auto other = std::ranges::find(b.values(), value.name, &ValueInfo::name);
    if (other == b.values().end()) return value.name + " is missing";
    if (found = difference(value, *other); !found.empty()) return text("value ", value.name, ": ", found);
  }
  for (std::size_t i = 0; i < a.nodes().size(); ++i) {
    if (found = difference(a, a.nodes()[i], b, b.nodes()[i]); !found.empty()) return found;
  }
  return {};
}

std::string difference(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return "number of items";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::string found = test::difference(a[i], b[i]); !found.empty()) return found;
  }
  return {};
}

std::string difference(const std::vector<std::pair<std::string, Value>>& a, const std::vector<std::pair<std::string, Value>>& b) {
  if (a.size() != b.size()) return "number";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first) return "name";
    if (std::string found = test::difference(a[i].second, b[i].second); !found.empty()) return text(a[i].first, ": ", found);
  }
  return {};
}

}  // namespace

std::string difference(const Value& a, const Value& b) {
  if (a.held.index() != b.held.index()) return "kinds of value";
  if (const Tensor* tensor = a.tensor()) return difference(*tensor, *b.tensor());
  if (const Sequence* sequence = a.sequence()) {
    return first_of("sequence", {differ("element", !(sequence->element == b.sequence()->element)), difference(sequence->items, b.sequence()->items)});
  }
  if (const Optional* optional = a.optional()) {
    const Optional& other = *b.optional();
    if (!(optional->element == other.element)) return "element of optional";
    if ((optional->item == nullptr) != (other.item == nullptr)) return "one is empty";
    return optional->item ? difference(*optional->item, *other.item) : std::string();
  }
  const Map& map = std::get<Map>(a.held);
  const Map& other = std::get<Map>(b.held);
  if (map.key != other.key || map.string_keys != other.string_keys || map.int_keys != other.int_keys) return "keys";
  return difference(map.items, other.items);
}

std::string difference(const Module& a, const Module& b) {
  if (std::string found = difference(a.graph, b.graph); !found.empty()) return found;
  if (a.ledger != b.ledger) return "ledger";
  if (a.tests.size() != b.tests.size()) return "number of test vectors";
  for (std::size_t i = 0; i < a.tests.size(); ++i) {
    const TestVector &left = a.tests[i], &right = b.tests[i];
    std::string found = first_of(text("test vector ", i), {differ("name", left.name != right.name),
                                                           differ("tolerances", left.rtol != right.rtol || left.atol != right.atol),
                                                           difference(left.inputs, right.inputs), difference(left.outputs, right.outputs)});
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace infini::test
