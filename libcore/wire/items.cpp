#include "libcore/wire/items.h"

#include <memory>
#include <utility>

#include "libcore/base/text.h"
#include "libcore/wire/encode.h"
#include "libcore/wire/format.h"
#include "libcore/wire/messages.h"

namespace infini::wire {
namespace {

class ItemEncoder {
 public:
  ItemEncoder(std::uint64_t next, std::vector<Tensor>& chunked) : next_(next), chunked_(chunked) {}

  void item(const Value& value, v1::Item& message) {
    std::visit([&](const auto& held) { encode(held, message); }, value.held);
  }

 private:
  void encode(const Tensor& tensor, v1::Item& message) {
    v1::Constant& constant = *message.mutable_tensor();
    constant = encode_constant_type(tensor.dtype(), tensor.extents());
    if (!encode_tensor(tensor, next_, constant)) return;
    ++next_;
    chunked_.push_back(tensor);
  }
  void encode(const Sequence& sequence, v1::Item& message) {
    v1::SequenceItem& out = *message.mutable_sequence();
    *out.mutable_element() = encode_type(sequence.element);
    for (const Value& value : sequence.items) item(value, *out.add_items());
  }
  void encode(const Optional& optional, v1::Item& message) {
    v1::OptionalItem& out = *message.mutable_optional();
    *out.mutable_element() = encode_type(optional.element);
    if (optional.item) item(*optional.item, *out.mutable_item());
  }
  void encode(const Map& map, v1::Item& message) {
    v1::MapItem& out = *message.mutable_map();
    out.set_key_type(static_cast<std::uint32_t>(map.key));
    out.mutable_string_keys()->Add(map.string_keys.begin(), map.string_keys.end());
    out.mutable_integer_keys()->Add(map.int_keys.begin(), map.int_keys.end());
    for (const Value& value : map.items) item(value, *out.add_items());
  }

  std::uint64_t next_;
  std::vector<Tensor>& chunked_;
};

Status collect(const v1::Item& item, int depth, std::vector<const v1::Constant*>& tensors) {
  if (depth > nesting_limit) return bad_input(text("a value has more than ", nesting_limit, " levels"));
  if (item.has_tensor()) tensors.push_back(&item.tensor());
  for (const v1::Item& inner : item.sequence().items()) IT_TRY_VOID(collect(inner, depth + 1, tensors));
  for (const v1::Item& inner : item.map().items()) IT_TRY_VOID(collect(inner, depth + 1, tensors));
  if (item.has_optional() && item.optional().has_item()) IT_TRY_VOID(collect(item.optional().item(), depth + 1, tensors));
  return {};
}

Result<Value> decode(const v1::Item& message, ConstantReader& constants);

Result<std::vector<Value>> decode_list(const google::protobuf::RepeatedPtrField<v1::Item>& messages, ConstantReader& constants) {
  std::vector<Value> items;
  for (const v1::Item& message : messages) {
    IT_TRY(Value item, decode(message, constants));
    items.push_back(std::move(item));
  }
  return items;
}

Result<Value> decode_map(const v1::MapItem& message, ConstantReader& constants) {
  Map map;
  IT_TRY(map.key, decode_dtype(message.key_type()));
  map.string_keys.assign(message.string_keys().begin(), message.string_keys().end());
  map.int_keys.assign(message.integer_keys().begin(), message.integer_keys().end());
  IT_TRY(map.items, decode_list(message.items(), constants));
  std::size_t keys = map.key == DType::str ? map.string_keys.size() : map.int_keys.size();
  if (keys != map.items.size() || map.string_keys.size() + map.int_keys.size() != keys) {
    return bad_input(text("a map has ", keys, " keys of its type, ", map.items.size(), " values"));
  }
  return Value(std::move(map));
}

Result<Value> decode(const v1::Item& message, ConstantReader& constants) {
  switch (message.kind_case()) {
    case v1::Item::kTensor: {
      IT_TRY(Tensor tensor, constants.tensor(message.tensor()));
      return Value(std::move(tensor));
    }
    case v1::Item::kSequence: {
      Sequence sequence;
      IT_TRY(sequence.element, decode_type(message.sequence().element()));
      IT_TRY(sequence.items, decode_list(message.sequence().items(), constants));
      return Value(std::move(sequence));
    }
    case v1::Item::kOptional: {
      Optional optional;
      IT_TRY(optional.element, decode_type(message.optional().element()));
      if (message.optional().has_item()) {
        IT_TRY(Value item, decode(message.optional().item(), constants));
        optional.item = std::make_shared<const Value>(std::move(item));
      }
      return Value(std::move(optional));
    }
    case v1::Item::kMap: return decode_map(message.map(), constants);
    case v1::Item::KIND_NOT_SET: break;
  }
  return bad_input("a value is of no kind");
}

using Named = std::vector<std::pair<std::string, Value>>;

Result<Named> decode_named(const google::protobuf::RepeatedPtrField<v1::NamedItem>& messages, ConstantReader& constants) {
  Named out;
  for (const v1::NamedItem& message : messages) {
    IT_TRY(Value value, within(text("'", message.name(), "'"), decode(message.item(), constants)));
    out.emplace_back(message.name(), std::move(value));
  }
  return out;
}

}  // namespace

v1::TestVector encode_test_vector(const TestVector& test, std::uint64_t first, std::vector<Tensor>& chunked) {
  v1::TestVector message;
  message.set_name(test.name);
  message.set_rtol(test.rtol);
  message.set_atol(test.atol);
  ItemEncoder encoder(first, chunked);
  auto encode = [&encoder](const Named& list, google::protobuf::RepeatedPtrField<v1::NamedItem>& out) {
    for (const auto& [name, value] : list) {
      v1::NamedItem& item = *out.Add();
      item.set_name(name);
      encoder.item(value, *item.mutable_item());
    }
  };
  encode(test.inputs, *message.mutable_inputs());
  encode(test.outputs, *message.mutable_outputs());
  return message;
}

Status collect_tensors(const v1::TestVector& message, std::vector<const v1::Constant*>& tensors) {
  for (const v1::NamedItem& item : message.inputs()) IT_TRY_VOID(collect(item.item(), 0, tensors));
  for (const v1::NamedItem& item : message.outputs()) IT_TRY_VOID(collect(item.item(), 0, tensors));
  return {};
}

Result<TestVector> decode_test_vector(const v1::TestVector& message, ConstantReader& constants) {
  TestVector test;
  test.name = message.name();
  test.rtol = message.rtol();
  test.atol = message.atol();
  IT_TRY(test.inputs, decode_named(message.inputs(), constants));
  IT_TRY(test.outputs, decode_named(message.outputs(), constants));
  return test;
}

}  // namespace infini::wire
