#include "libcore/exec/region.h"

#include <algorithm>
#include <map>

#include "libcore/base/text.h"
#include "libcore/ir/body_types.h"

namespace infini {

// Deques: what is in them never moves.
struct Region::Storage {
  std::deque<it_region> regions;
  std::deque<std::vector<it_value>> values;
  std::deque<std::vector<it_node>> nodes;
  std::deque<std::vector<it_attribute>> attributes;
  std::deque<std::vector<std::int32_t>> numbers;
  std::deque<std::vector<it_text>> texts;
  std::deque<Extents> extents;
  std::deque<std::string> strings;
  std::deque<Tensor> tensors;  // constants of bodies, and attributes'

  it_text keep(std::string_view s) {
    strings.emplace_back(s);
    return {strings.back().data(), strings.back().size()};
  }
  it_tensor keep(DType dtype, const Extents& e) {
    extents.push_back(e);
    return {static_cast<it_dtype>(dtype), static_cast<std::int32_t>(e.size()), extents.back().data()};
  }
};

namespace {

using ValueFacts = std::function<ExactValue(ValueId)>;

// Writes one graph level: numbers values on first sight.
struct Level {
  const Graph& graph;
  const ValueFacts& facts;
  std::map<ValueId, std::int32_t> number = {};
  std::vector<it_value> values = {};
};

}  // namespace

// Builds nested levels; a class so that node and body writers can call each other.
class RegionWriter {
 public:
  explicit RegionWriter(Region::Storage& storage) : s_(storage) {}

  Result<std::int32_t> number(Level& level, ValueId id) {
    if (auto found = level.number.find(id); found != level.number.end()) return found->second;
    ExactValue value = level.facts(id);
    const std::string& name = level.graph.value(id).name;
    std::optional<Extents> extents = value.type.has_shape() ? constant_extents(*value.type.shape) : std::nullopt;
    if (!extents || value.type.dtype == DType::str) {
      return unsupported(text("value '", name, "' is ", to_string(value.type), "; only tensors of plain elements cross to a device"));
    }
    it_value out{s_.keep(value.type.dtype, *extents), s_.keep(name), nullptr, 0};
    if (value.known) {
      s_.tensors.push_back(*value.known);
      out.data = s_.tensors.back().bytes().data();
      out.data_size = s_.tensors.back().bytes().size();
      static const std::byte nothing{};
      if (!out.data) out.data = &nothing;  // an empty constant is a constant all the same
    }
    auto position = static_cast<std::int32_t>(level.values.size());
    level.values.push_back(out);
    level.number.emplace(id, position);
    return position;
  }

  Result<std::vector<std::int32_t>*> numbers(Level& level, std::span<const ValueId> ids) {
    std::vector<std::int32_t> out;
    for (ValueId id : ids) {
      if (!id) {
        out.push_back(-1);
        continue;
      }
      IT_TRY(std::int32_t position, number(level, id));
      out.push_back(position);
    }
    s_.numbers.push_back(std::move(out));
    return &s_.numbers.back();
  }

  Result<it_node> node(Level& level, const Node& node) {
    it_node out{};
    out.domain = s_.keep(node.domain);
    out.op = s_.keep(node.type);
    out.name = s_.keep(node.name);
    IT_TRY(auto* inputs, numbers(level, node.inputs));
    IT_TRY(auto* outputs, numbers(level, node.outputs));
    out.input_count = static_cast<std::int32_t>(inputs->size());
    out.inputs = inputs->data();
    out.output_count = static_cast<std::int32_t>(outputs->size());
    out.outputs = outputs->data();
    std::vector<it_attribute> attributes;
    for (const Attribute& attribute : node.attributes) {
      IT_TRY(it_attribute written, this->attribute(level, node, attribute));
      attributes.push_back(written);
    }
    s_.attributes.push_back(std::move(attributes));
    out.attribute_count = static_cast<std::int32_t>(s_.attributes.back().size());
    out.attributes = s_.attributes.back().data();
    return out;
  }

  it_region finish(Level& level, std::vector<it_node> nodes, std::span<const std::int32_t> inputs, std::span<const std::int32_t> outputs) {
    it_region out{};
    out.struct_size = sizeof out;
    s_.values.push_back(std::move(level.values));
    out.value_count = static_cast<std::int32_t>(s_.values.back().size());
    out.values = s_.values.back().data();
    s_.nodes.push_back(std::move(nodes));
    out.node_count = static_cast<std::int32_t>(s_.nodes.back().size());
    out.nodes = s_.nodes.back().data();
    s_.numbers.emplace_back(inputs.begin(), inputs.end());
    out.input_count = static_cast<std::int32_t>(inputs.size());
    out.inputs = s_.numbers.back().data();
    s_.numbers.emplace_back(outputs.begin(), outputs.end());
    out.output_count = static_cast<std::int32_t>(outputs.size());
    out.outputs = s_.numbers.back().data();
    return out;
  }

 private:
  Result<it_attribute> attribute(Level& level, const Node& node, const Attribute& attribute) {
    it_attribute out{};
    out.name = s_.keep(attribute.name);
    const AttributeValue& value = attribute.value;
    if (auto* integer = std::get_if<std::int64_t>(&value)) {
      out.kind = IT_ATTR_INT;
      out.i = *integer;
    } else if (auto* real = std::get_if<float>(&value)) {
      out.kind = IT_ATTR_FLOAT;
      out.f = static_cast<double>(*real);
    } else if (auto* string = std::get_if<std::string>(&value)) {
      out.kind = IT_ATTR_STRING;
      out.s = s_.keep(*string);
    } else if (auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
      out.kind = IT_ATTR_INTS;
      s_.extents.push_back(*integers);
      out.count = integers->size();
      out.ints = s_.extents.back().data();
    } else if (auto* reals = std::get_if<std::vector<float>>(&value)) {
      out.kind = IT_ATTR_FLOATS;
      s_.tensors.push_back(Tensor::of(DType::f32, {static_cast<std::int64_t>(reals->size())}, *reals));
      out.count = reals->size();
      out.floats = s_.tensors.back().data<float>();
    } else if (auto* strings = std::get_if<std::vector<std::string>>(&value)) {
      out.kind = IT_ATTR_STRINGS;
      std::vector<it_text> texts;
      for (const std::string& s : *strings) texts.push_back(s_.keep(s));
      s_.texts.push_back(std::move(texts));
      out.count = strings->size();
      out.strings = s_.texts.back().data();
    } else if (auto* tensor = std::get_if<Tensor>(&value)) {
      out.kind = IT_ATTR_TENSOR;
      s_.tensors.push_back(*tensor);
      out.tensor = s_.keep(tensor->dtype(), tensor->extents());
      out.tensor_data = s_.tensors.back().bytes().data();
    } else if (auto* body = std::get_if<Body>(&value)) {
      IT_TRY(out.region, this->body(level, node, *body));
      out.kind = IT_ATTR_REGION;
    } else {
      return unsupported(text("attribute '", attribute.name, "' of kind ", name(kind(value)), " does not cross to a device"));
    }
    return out;
  }

  // A body's own shapes are symbolic where the graph's are; they are inferred again from the exact types of the node's inputs.
  Result<const it_region*> body(Level& outer, const Node& node, const Body& body) {
    const Graph& graph = *body.graph;
    std::vector<Type> arguments;
    std::vector<const Tensor*> known(graph.values().size(), nullptr);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      ExactValue value = node.inputs[i] ? outer.facts(node.inputs[i]) : ExactValue{};
      arguments.push_back(value.type);
      if (i < graph.inputs().size()) known[graph.inputs()[i].at()] = value.known;
    }
    if (!body.captures.empty()) return unsupported("a body that captures values does not cross to a device");
    IT_TRY(std::vector<Type> types, infer_body(graph, arguments));
    ValueFacts facts = [&](ValueId id) {
      const ConstantRef& constant = graph.value(id).constant;
      return ExactValue{types[id.at()], constant ? constant->at_hand() : known[id.at()]};
    };
    Level level{graph, facts};
    std::vector<it_node> nodes;
    IT_TRY(auto* inputs, numbers(level, graph.inputs()));
    for (const Node& inner : graph.nodes()) {
      IT_TRY(it_node written, this->node(level, inner));
      nodes.push_back(written);
    }
    IT_TRY(auto* outputs, numbers(level, graph.outputs()));
    s_.regions.push_back(finish(level, std::move(nodes), *inputs, *outputs));
    return &s_.regions.back();
  }

  Region::Storage& s_;
};

Result<Region> Region::of_node(const Graph& graph, const Node& node, const ValueFacts& value) {
  Region region;
  region.storage_ = std::make_shared<Storage>();
  RegionWriter writer(*region.storage_);
  Level level{graph, value};
  IT_TRY(it_node written, writer.node(level, node));
  std::vector<std::int32_t> inputs, outputs;
  for (ValueId id : node.inputs) {
    if (!id || level.values[static_cast<std::size_t>(level.number.at(id))].data) continue;
    if (std::find(region.inputs_.begin(), region.inputs_.end(), id) != region.inputs_.end()) continue;
    region.inputs_.push_back(id);
    inputs.push_back(level.number.at(id));
  }
  for (ValueId id : node.outputs) {
    if (!id) continue;
    region.outputs_.push_back(id);
    outputs.push_back(level.number.at(id));
  }
  region.storage_->regions.push_back(writer.finish(level, {written}, inputs, outputs));
  region.region_ = &region.storage_->regions.back();
  return region;
}

}  // namespace infini
