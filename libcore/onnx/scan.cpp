#include "libcore/onnx/scan.h"

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <climits>

#include "libcore/base/text.h"
#include "libcore/onnx/wire.h"

namespace infini::onnx_files {
namespace {

enum class Message { model, graph, node, function, attribute, tensor, sparse_tensor, other };

// Where tensors can be: field numbers of onnx.proto.
struct Child {
  Message parent;
  std::uint32_t field;
  Message child;
};
constexpr std::array<Child, 15> children = {{
    {Message::model, 7, Message::graph},          {Message::model, 25, Message::function},
    {Message::graph, 1, Message::node},           {Message::graph, 5, Message::tensor},
    {Message::graph, 15, Message::sparse_tensor}, {Message::node, 5, Message::attribute},
    {Message::function, 7, Message::node},        {Message::function, 11, Message::attribute},
    {Message::attribute, 5, Message::tensor},     {Message::attribute, 6, Message::graph},
    {Message::attribute, 10, Message::tensor},    {Message::attribute, 11, Message::graph},
    {Message::attribute, 22, Message::sparse_tensor},
    {Message::sparse_tensor, 1, Message::tensor}, {Message::sparse_tensor, 2, Message::tensor},
}};
constexpr std::uint32_t model_training_info = 20, tensor_raw_data = 9;
// 19000 to 19999 are protobuf's own: no schema can have this field.
constexpr std::uint32_t cut_field = 19500;
constexpr int nesting_limit = 100;  // messages inside messages, as protobuf has it
constexpr std::uint64_t structure_limit = INT_MAX;

Message child_of(Message parent, std::uint32_t field) {
  for (const Child& c : children) {
    if (c.parent == parent && c.field == field) return c.child;
  }
  return Message::other;
}

class Scanner {
 public:
  explicit Scanner(ByteReader reader) : reader_(std::move(reader)) {}

  Result<ScannedModel> scan() {
    std::string structure;
    IT_TRY_VOID(top_level(structure));
    IT_TRY_VOID(check_size(structure.size()));
    google::protobuf::io::CodedInputStream input(reinterpret_cast<const std::uint8_t*>(structure.data()), static_cast<int>(structure.size()));
    input.SetTotalBytesLimit(INT_MAX);
    if (!scanned_.model.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
      return bad_input("not an ONNX model: a message inside it is malformed or nested deeper than 100");
    }
    if (reader_.file()) scanned_.file = *reader_.file();
    return std::move(scanned_);
  }

 private:
  Status top_level(std::string& out) {
    while (true) {
      IT_TRY(bool ended, reader_.at_end());
      if (ended) return {};
      IT_TRY_VOID(field(Message::model, reader_.size(), 0, out));
    }
  }

  Status message(Message kind, std::uint64_t end, int depth, std::string& out) {
    if (depth > nesting_limit) return malformed(text("messages are nested deeper than ", nesting_limit));
    while (reader_.position() < end) IT_TRY_VOID(field(kind, end, depth, out));
    if (reader_.position() > end) return malformed("a field is longer than the message it stands in");
    return {};
  }

  Status field(Message parent, std::uint64_t end, int depth, std::string& out) {
    IT_TRY(std::uint64_t tag, reader_.varint());
    std::uint64_t number = tag >> 3;
    auto wire = static_cast<std::uint32_t>(tag & 7);
    if (number == 0 || number > 0x1fffffff) return malformed(text("there is no field number ", number));
    auto id = static_cast<std::uint32_t>(number);
    IT_TRY_VOID(check_size(out.size()));
    if (wire == wire_bytes) return bytes_field(parent, id, {end, depth}, out);
    put_tag(out, id, static_cast<Wire>(wire));
    if (wire == wire_varint) {
      IT_TRY(std::uint64_t value, reader_.varint());
      put_varint(out, value);
      return {};
    }
    if (wire == wire_fixed64) return reader_.append_to(out, 8);
    if (wire == wire_fixed32) return reader_.append_to(out, 4);
    return malformed(text("field ", id, " has wire type ", wire));
  }

  struct Place {
    std::uint64_t end;
    int depth;
  };
  Status bytes_field(Message parent, std::uint32_t id, Place place, std::string& out) {
    IT_TRY(std::uint64_t length, reader_.varint());
    if (reader_.position() > place.end || length > place.end - reader_.position()) {
      return malformed(text("field ", id, " claims ", length, " bytes, more than the message it stands in has left"));
    }
    if (parent == Message::model && id == model_training_info) return reader_.skip(length);
    if (parent == Message::tensor && id == tensor_raw_data && length > inline_limit) {
      IT_TRY(Cut cut, reader_.cut(length));
      put_tag(out, cut_field, wire_varint);
      put_varint(out, scanned_.cuts.size());
      scanned_.cuts.push_back(std::move(cut));
      return {};
    }
    Message child = child_of(parent, id);
    if (child != Message::other && length > inline_limit) {
      std::string nested;
      IT_TRY_VOID(message(child, reader_.position() + length, place.depth + 1, nested));
      put_tag(out, id, wire_bytes);
      put_varint(out, nested.size());
      out += nested;
      return {};
    }
    IT_TRY_VOID(check_size(length));
    put_tag(out, id, wire_bytes);
    put_varint(out, length);
    return reader_.append_to(out, length);
  }

  static Status check_size(std::uint64_t size) {
    if (size > structure_limit) return bad_input("the model holds more than 2 GiB beside its raw weights");
    return {};
  }

  Error malformed(std::string_view what) const { return bad_input(text("not an ONNX model: at byte ", reader_.position(), " ", what)); }

  ByteReader reader_;
  ScannedModel scanned_;
};

}  // namespace

Result<ScannedModel> scan_model(ByteReader reader) { return Scanner(std::move(reader)).scan(); }

std::optional<std::size_t> cut_number(const onnx::TensorProto& tensor) {
  const auto& unknown = tensor.GetReflection()->GetUnknownFields(tensor);
  std::optional<std::size_t> number;
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() == static_cast<int>(cut_field) && field.type() == google::protobuf::UnknownField::TYPE_VARINT) number = field.varint();
  }
  return number;
}

}  // namespace infini::onnx_files
