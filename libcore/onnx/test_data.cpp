#include "libcore/onnx/test_data.h"

#include <onnx/onnx-data_pb.h>

#include <algorithm>
#include <filesystem>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/onnx/messages.h"
#include "libcore/onnx/payload.h"
#include "libcore/tensor/npz.h"

namespace infini::onnx_files {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t file_limit = INT32_MAX;  // bytes of one message
constexpr int nesting_limit = 16;

// The messages that hold values, turned into values.
class ValueReader {
 public:
  Result<Value> tensor(const onnx::TensorProto& proto) const {
    IT_TRY(Tensor tensor, tensor_of(proto, none_));
    return Value(std::move(tensor));
  }

  Result<Value> sequence(const onnx::SequenceProto& proto, const Type& type, int depth = 0) const {
    IT_TRY_VOID(check_depth(depth));
    Type element = type.element ? *type.element : Type{};
    Sequence out{element, {}};
    auto add = [&out](Result<Value> item) -> Status {
      if (!item) return std::move(item.error());
      out.items.push_back(std::move(*item));
      return {};
    };
    for (const auto& item : proto.tensor_values()) IT_TRY_VOID(add(tensor(item)));
    for (const auto& item : proto.sequence_values()) IT_TRY_VOID(add(sequence(item, element, depth + 1)));
    for (const auto& item : proto.map_values()) IT_TRY_VOID(add(map(item, element, depth + 1)));
    for (const auto& item : proto.optional_values()) IT_TRY_VOID(add(optional(item, element, depth + 1)));
    if (out.element.kind == TypeKind::unknown && !out.items.empty()) out.element = out.items[0].type();
    return Value(std::move(out));
  }

  Result<Value> optional(const onnx::OptionalProto& proto, const Type& type, int depth = 0) const {
    IT_TRY_VOID(check_depth(depth));
    Type element = type.element ? *type.element : Type{};
    Result<Value> item = bad_input("empty");
    if (proto.has_tensor_value()) item = tensor(proto.tensor_value());
    else if (proto.has_sequence_value()) item = sequence(proto.sequence_value(), element, depth + 1);
    else if (proto.has_map_value()) item = map(proto.map_value(), element, depth + 1);
    else if (proto.has_optional_value()) item = optional(proto.optional_value(), element, depth + 1);
    else return Value(Optional{element, nullptr});
    if (!item) return item;
    return Value(Optional{element, std::make_shared<const Value>(std::move(*item))});
  }

  Result<Value> map(const onnx::MapProto& proto, const Type& type, int depth = 0) const {
    IT_TRY_VOID(check_depth(depth));
    Map out;
    out.string_keys.assign(proto.string_keys().begin(), proto.string_keys().end());
    out.int_keys.assign(proto.keys().begin(), proto.keys().end());
    if (!out.string_keys.empty()) out.key = DType::str;
    IT_TRY(Value values, sequence(proto.values(), Type::sequence(type.element ? *type.element : Type{}), depth + 1));
    out.items = values.sequence()->items;
    if (out.items.size() != std::max(out.string_keys.size(), out.int_keys.size())) return bad_input("a map has another number of keys than of values");
    return Value(std::move(out));
  }

 private:
  static Status check_depth(int depth) {
    if (depth > nesting_limit) return bad_input(text("a value is nested deeper than ", nesting_limit));
    return {};
  }

  Payloads none_;
};

template <class Message, class Read>
Result<Value> parsed(const std::vector<std::byte>& bytes, Read read) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return bad_input(text("not a ", message.GetTypeName()));
  return read(message);
}

Status check_type(const Value& value, const Type& type) {
  if (type.is_tensor() && value.tensor() && value.tensor()->dtype() != type.dtype) {
    return bad_input(text("holds ", to_string(value.type()), ", but the graph has ", to_string(type)));
  }
  return {};
}

Result<Value> value_from(const std::vector<std::byte>& bytes, const Type& type) {
  ValueReader reader;
  if (type.kind == TypeKind::sequence) return parsed<onnx::SequenceProto>(bytes, [&](const auto& m) { return reader.sequence(m, type); });
  if (type.kind == TypeKind::optional) return parsed<onnx::OptionalProto>(bytes, [&](const auto& m) { return reader.optional(m, type); });
  if (type.kind == TypeKind::map) return parsed<onnx::MapProto>(bytes, [&](const auto& m) { return reader.map(m, type); });
  IT_TRY(Value value, parsed<onnx::TensorProto>(bytes, [&](const auto& m) { return reader.tensor(m); }));
  IT_TRY_VOID(check_type(value, type));
  return value;
}

// input_0.pb, input_1.pb, ... for the first values of `ids`; a missing number ends the row.
Status read_row(const fs::path& folder, std::string_view stem, const Graph& graph, std::span<const ValueId> ids,
                std::vector<std::pair<std::string, Value>>& out) {
  std::error_code ignored;
  for (std::size_t i = 0;; ++i) {
    fs::path path = folder / text(stem, "_", i, ".pb");
    if (!fs::exists(path, ignored)) return {};
    if (i >= ids.size()) return bad_input(text("'", path.string(), "' is one more than the graph has ", stem, "s: ", ids.size()));
    const ValueInfo& value = graph.value(ids[i]);
    IT_TRY(std::vector<std::byte> bytes, read_file(path.string(), file_limit));
    IT_TRY(Value read, within(path.string(), value_from(bytes, value.type)));
    out.emplace_back(value.name, std::move(read));
  }
}

Result<TestVector> read_set(const fs::path& folder, const Graph& graph) {
  TestVector test;
  test.name = folder.filename().string();
  IT_TRY_VOID(read_row(folder, "input", graph, graph.inputs(), test.inputs));
  IT_TRY_VOID(read_row(folder, "output", graph, graph.outputs(), test.outputs));
  return test;
}

// The folders test_data_set_N in `folder`, by number.
std::vector<fs::path> sets_in(const fs::path& folder) {
  constexpr std::string_view stem = "test_data_set_";
  std::vector<std::pair<std::int64_t, fs::path>> numbered;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::int64_t number = 0;
    if (name.starts_with(stem) && parse_int(std::string_view(name).substr(stem.size()), number)) numbered.emplace_back(number, at->path());
  }
  std::sort(numbered.begin(), numbered.end());
  std::vector<fs::path> sets;
  for (auto& [number, path] : numbered) sets.push_back(std::move(path));
  return sets;
}

// Members by name: inputs and outputs of the graph.
Result<TestVector> read_archive(const std::string& path, const Graph& graph) {
  TestVector test;
  test.name = fs::path(path).stem().string();
  IT_TRY(NamedValues members, load_npz(path));
  auto named = [&graph](std::span<const ValueId> ids, const std::string& name) {
    return std::find_if(ids.begin(), ids.end(), [&](ValueId id) { return graph.value(id).name == name; });
  };
  for (auto& [name, value] : members) {
    auto input = named(graph.inputs(), name);
    auto output = named(graph.outputs(), name);
    bool is_input = input != graph.inputs().end();
    if (!is_input && output == graph.outputs().end()) return bad_input(text("'", path, "' has '", name, "', which is no input or output of the graph"));
    IT_TRY_VOID(within(text(path, ": ", name), check_type(value, graph.value(is_input ? *input : *output).type)));
    (is_input ? test.inputs : test.outputs).emplace_back(name, std::move(value));
  }
  return test;
}

}  // namespace

Result<std::vector<TestVector>> read_test_data(const std::string& path, const Graph& graph) {
  std::error_code error;
  if (path.ends_with(".npz")) {
    IT_TRY(TestVector test, read_archive(path, graph));
    return std::vector<TestVector>{std::move(test)};
  }
  if (!fs::is_directory(path, error)) return bad_input(text("test data '", path, "' is not a folder"));
  std::vector<fs::path> sets = sets_in(path);
  if (sets.empty()) sets.push_back(path);
  std::vector<TestVector> tests;
  for (const fs::path& set : sets) {
    IT_TRY(TestVector test, read_set(set, graph));
    if (test.inputs.empty() && test.outputs.empty()) return bad_input(text("'", set.string(), "' holds no input_0.pb and no output_0.pb"));
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace infini::onnx_files
