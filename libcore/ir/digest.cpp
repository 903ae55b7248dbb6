// Digests of graphs: equal for graphs that compute the same by the same nodes in the same order, whatever their inner values are called.
#include <bit>

#include "libcore/base/hash.h"
#include "libcore/base/text.h"
#include "libcore/ir/module.h"

namespace infini {
namespace {

void add_extents(Hasher& hasher, const Extents& extents) {
  hasher.add(extents.size());
  for (std::int64_t extent : extents) hasher.add(static_cast<std::uint64_t>(extent));
}

class GraphHash {
 public:
  explicit GraphHash(bool content) : content_(content) {}

  Status add(const Graph& graph) {
    std::vector<std::uint64_t> numbers(graph.values().size(), unseen);
    std::uint64_t next = 0;
    hasher_.add("graph");
    for (auto list : {graph.inputs(), graph.captures()}) {
      hasher_.add(list.size());
      for (ValueId id : list) {
        hasher_.add(graph.value(id).name);
        hasher_.add(to_string(graph.value(id).type));
        numbers[id.at()] = next++;
      }
    }
    hasher_.add(graph.symbols().size());
    for (const Symbol& symbol : graph.symbols()) {
      hasher_.add(symbol.name);
      hasher_.add(to_string(symbol.bounds));
    }
    Numbering numbering{graph, numbers, next};
    hasher_.add(graph.nodes().size());
    for (const Node& node : graph.nodes()) IT_TRY_VOID(within(describe(graph, node), this->node(numbering, node)));
    hasher_.add(graph.outputs().size());
    for (ValueId id : graph.outputs()) {
      hasher_.add(graph.value(id).name);
      IT_TRY_VOID(value(numbering, id));
    }
    return {};
  }

  Hash128 finish() const { return hasher_.finish(); }

 private:
  static constexpr std::uint64_t unseen = UINT64_MAX;
  static constexpr std::uint64_t absent = UINT64_MAX - 1;

  // Numbers of values in the order in which they are met.
  struct Numbering {
    const Graph& graph;
    std::vector<std::uint64_t>& numbers;
    std::uint64_t next;
  };

  Status value(Numbering& numbering, ValueId id) {
    if (!id) {
      hasher_.add(absent);
      return {};
    }
    std::uint64_t& number = numbering.numbers[id.at()];
    bool first = number == unseen;
    if (first) number = numbering.next++;
    hasher_.add(number);
    const ValueInfo& info = numbering.graph.value(id);
    if (first && info.constant) return within(text("constant '", info.name, "'"), constant(info.name, *info.constant));
    return {};
  }

  Status constant(const std::string& name, const Constant& constant) {
    hasher_.add("constant");
    hasher_.add(static_cast<std::uint64_t>(constant.dtype));
    add_extents(hasher_, constant.extents);
    const Tensor* tensor = constant.at_hand();
    bool small = tensor && constant.size() <= inline_limit;
    if (!content_ && !small) {
      hasher_.add(name);
      return {};
    }
    IT_TRY(Hash128 digest, content_digest(constant));
    hasher_.add(digest.high);
    hasher_.add(digest.low);
    return {};
  }

  Status node(Numbering& numbering, const Node& node) {
    hasher_.add(node.domain);
    hasher_.add(node.type);
    hasher_.add(static_cast<std::uint64_t>(node.version));
    hasher_.add(node.overload);
    hasher_.add(node.inputs.size());
    for (ValueId input : node.inputs) IT_TRY_VOID(value(numbering, input));
    hasher_.add(node.attributes.size());
    for (const Attribute& attribute : node.attributes) {
      hasher_.add(attribute.name);
      hasher_.add(static_cast<std::uint64_t>(kind(attribute.value)));
      IT_TRY_VOID(this->attribute(numbering, attribute.value));
    }
    hasher_.add(node.outputs.size());
    for (ValueId output : node.outputs) IT_TRY_VOID(value(numbering, output));
    return {};
  }

  void add_number(std::int64_t number) { hasher_.add(static_cast<std::uint64_t>(number)); }
  void add_real(float number) { hasher_.add(std::uint64_t{std::bit_cast<std::uint32_t>(number)}); }

  void add_tensor(const Tensor& tensor) {
    hasher_.add(static_cast<std::uint64_t>(tensor.dtype()));
    add_extents(hasher_, tensor.extents());
    Hash128 digest = content_digest(tensor);
    hasher_.add(digest.high);
    hasher_.add(digest.low);
  }

  Status add_body(Numbering& numbering, const Body& body) {
    for (ValueId capture : body.captures) IT_TRY_VOID(value(numbering, capture));
    return add(*body.graph);
  }

  Status attribute(Numbering& numbering, const AttributeValue& value) {
    auto add_all = [this](const auto& list, const auto& add_one) {
      hasher_.add(list.size());
      for (const auto& item : list) add_one(item);
    };
    switch (kind(value)) {
      case AttributeKind::integer: add_number(std::get<std::int64_t>(value)); break;
      case AttributeKind::real: add_real(std::get<float>(value)); break;
      case AttributeKind::text: hasher_.add(std::get<std::string>(value)); break;
      case AttributeKind::integers: add_all(std::get<std::vector<std::int64_t>>(value), [this](std::int64_t v) { add_number(v); }); break;
      case AttributeKind::reals: add_all(std::get<std::vector<float>>(value), [this](float v) { add_real(v); }); break;
      case AttributeKind::texts: add_all(std::get<std::vector<std::string>>(value), [this](const std::string& v) { hasher_.add(v); }); break;
      case AttributeKind::tensor: add_tensor(std::get<Tensor>(value)); break;
      case AttributeKind::type: hasher_.add(to_string(std::get<Type>(value))); break;
      case AttributeKind::tensors: add_all(std::get<std::vector<Tensor>>(value), [this](const Tensor& v) { add_tensor(v); }); break;
      case AttributeKind::body: return add_body(numbering, std::get<Body>(value));
      case AttributeKind::bodies:
        hasher_.add(std::get<std::vector<Body>>(value).size());
        for (const Body& body : std::get<std::vector<Body>>(value)) IT_TRY_VOID(add_body(numbering, body));
        break;
    }
    return {};
  }

  bool content_;
  Hasher hasher_;
};

}  // namespace

Hash128 content_digest(const Tensor& tensor) {
  if (tensor.dtype() != DType::str) return content_hash(tensor.bytes());
  Hasher hasher;
  for (const std::string& element : tensor.strings()) hasher.add(element);
  return hasher.finish();
}

Result<Hash128> content_digest(const Constant& constant) {
  if (constant.digest) return *constant.digest;
  IT_TRY(Tensor tensor, load(constant));
  return content_digest(tensor);
}

Hash128 structure_digest(const Graph& graph) {
  GraphHash hash(false);
  Status status = hash.add(graph);  // reads nothing, so nothing fails
  IT_CHECK(status.has_value());
  return hash.finish();
}

Result<Hash128> content_digest(const Graph& graph) {
  GraphHash hash(true);
  IT_TRY_VOID(hash.add(graph));
  return hash.finish();
}

}  // namespace infini
