// A graph as a standard ONNX model. Weights are written one at a time after the structure, never held together.
#include <algorithm>
#include <climits>
#include <filesystem>

#include "libcore/base/file.h"
#include "libcore/base/text.h"
#include "libcore/ir/inline.h"
#include "libcore/ir/rewrite.h"
#include "libcore/onnx/export_graph.h"
#include "libcore/onnx/export_opset.h"
#include "libcore/onnx/onnx.h"
#include "libcore/onnx/wire.h"

namespace infini {
namespace {

using namespace onnx_files;

constexpr std::uint32_t model_graph = 7, graph_initializer = 5, tensor_raw_data = 9;  // fields of onnx.proto
constexpr std::uint64_t data_alignment = 4096;                                        // of external data, for mapping

// IR versions: the first that a release with that opset wrote.
int ir_version_of(int opset) {
  constexpr std::pair<int, int> first[] = {{25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}};
  for (auto [from, version] : first) {
    if (opset >= from) return version;
  }
  return 8;
}

Result<Graph> without_fused(const Graph& graph) {
  auto inlined = [](const Graph& inner) { return inline_bodies(inner, is_fused); };
  IT_TRY(Graph nested, map_bodies(graph, [](const Node&) { return true; }, inlined));
  return inline_bodies(nested, is_fused);
}

class ModelWriter {
 public:
  ModelWriter(const std::string& path, bool external) : path_(path), external_(external) {}

  Status write(const onnx::ModelProto& head, const onnx::GraphProto& graph, const std::vector<Weight>& weights) {
    IT_TRY_VOID(plan(weights, graph.ByteSizeLong()));
    if (external_) IT_TRY_VOID(write_data(weights));
    IT_TRY(FileWriter file, FileWriter::open(path_));
    IT_TRY_VOID(file.write(head.SerializeAsString()));
    std::string start;
    put_tag(start, model_graph, wire_bytes);
    put_varint(start, graph_size_);
    IT_TRY_VOID(file.write(start));
    IT_TRY_VOID(file.write(graph.SerializeAsString()));
    for (std::size_t i = 0; i < weights.size(); ++i) IT_TRY_VOID(write_weight(file, weights[i], headers_[i]));
    return file.commit();
  }

 private:
  // Everything of an initializer but its bytes, and the size of the whole graph.
  Status plan(const std::vector<Weight>& weights, std::uint64_t structure) {
    for (const Weight& weight : weights) {
      onnx::TensorProto message = tensor_header(weight.name, weight.constant->dtype, weight.constant->extents);
      if (weight.constant->dtype == DType::str) {
        IT_TRY(Tensor tensor, within(weight.name, load(*weight.constant)));
        for (const std::string& element : tensor.strings()) message.add_string_data(element);
      }
      headers_.push_back(message.SerializeAsString());
    }
    measure(weights, structure);
    if (graph_size_ < INT_MAX && !external_) return {};
    if (path_ == "-") return unsupported(text("the model takes ", human_bytes(graph_size_), ", more than fits in one ONNX file; write it to a file, with its weights beside it"));
    external_ = true;
    refer(weights);
    measure(weights, structure);
    if (graph_size_ >= INT_MAX) return unsupported(text("the model takes ", human_bytes(graph_size_), " without its weights, more than fits in an ONNX file"));
    return {};
  }

  bool outside(const Weight& weight) const { return external_ && weight.constant->dtype != DType::str && weight.constant->size() > inline_limit; }
  bool inside(const Weight& weight) const { return weight.constant->dtype != DType::str && !outside(weight); }

  std::uint64_t tensor_size(const Weight& weight, const std::string& header) const {
    if (!inside(weight)) return header.size();
    std::uint64_t bytes = weight.constant->size();
    return header.size() + 1 + varint_size(bytes) + bytes;
  }

  void measure(const std::vector<Weight>& weights, std::uint64_t structure) {
    graph_size_ = structure;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      std::uint64_t size = tensor_size(weights[i], headers_[i]);
      graph_size_ += 1 + varint_size(size) + size;
    }
  }

  // Large weights get their place in the data file.
  void refer(const std::vector<Weight>& weights) {
    std::string location = std::filesystem::path(data_path()).filename().string();
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      offsets_.push_back(offset);
      if (!outside(weights[i])) continue;
      onnx::TensorProto reference;
      reference.set_data_location(onnx::TensorProto::EXTERNAL);
      auto entry = [&reference](const char* key, std::string value) {
        auto* pair = reference.add_external_data();
        pair->set_key(key);
        pair->set_value(std::move(value));
      };
      std::uint64_t size = weights[i].constant->size();
      entry("location", location);
      entry("offset", text(offset));
      entry("length", text(size));
      headers_[i] += reference.SerializeAsString();
      offset = (offset + size + data_alignment - 1) / data_alignment * data_alignment;
    }
  }

  std::string data_path() const { return path_ + ".data"; }

  Status write_data(const std::vector<Weight>& weights) {
    IT_TRY(FileWriter file, FileWriter::open(data_path()));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!outside(weights[i])) continue;
      std::vector<std::byte> gap(offsets_[i] - file.written());
      IT_TRY_VOID(file.write(gap));
      IT_TRY(Tensor tensor, within(weights[i].name, load(*weights[i].constant)));
      IT_TRY_VOID(file.write(tensor.bytes()));
    }
    return file.commit();
  }

  Status write_weight(FileWriter& file, const Weight& weight, const std::string& header) {
    std::string start;
    put_tag(start, graph_initializer, wire_bytes);
    put_varint(start, tensor_size(weight, header));
    start += header;
    if (!inside(weight)) return file.write(start);
    IT_TRY(Tensor tensor, within(weight.name, load(*weight.constant)));
    put_tag(start, tensor_raw_data, wire_bytes);
    put_varint(start, tensor.bytes().size());
    IT_TRY_VOID(file.write(start));
    return file.write(tensor.bytes());
  }

  std::string path_;
  bool external_;
  std::vector<std::string> headers_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t graph_size_ = 0;
};

}  // namespace

Status export_onnx(const Module& module, const std::string& path, const ExportOptions& options) {
  IT_TRY(Graph graph, without_fused(module.graph));
  IT_TRY(auto opsets, choose_opsets(graph, options.opset));
  onnx::ModelProto head;
  head.set_ir_version(ir_version_of(opsets[""]));
  head.set_producer_name("InfiniTensor");
  for (const auto& [domain, version] : opsets) {
    auto* import = head.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  for (const auto& [key, value] : graph.metadata()) {
    auto* entry = head.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  std::vector<Weight> weights;
  IT_TRY(onnx::GraphProto message, graph_message(graph, weights));
  return ModelWriter(path, options.external_data).write(head, message, weights);
}

}  // namespace infini
