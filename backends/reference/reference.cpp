// The reference device: runs every operator by its own definition. Slow, exact, and the oracle of every other backend.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "libcore/base/text.h"
#include "libcore/ops/op.h"
#include "libcore/plugin/it_backend.h"

using namespace infini;

struct it_device {
  OpTable ops;
};

namespace {

struct OpenDims final : FreshDims {
  Dim next() override { return Dim::symbol("#run"); }
};

it_status say(it_status status, it_message error, const std::string& text) {
  if (error.size) std::snprintf(error.text, error.size, "%s", text.c_str());
  return status;
}

it_status status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::unsupported: return IT_UNSUPPORTED;
    case ErrorKind::usage:
    case ErrorKind::bad_input: return IT_INVALID;
    case ErrorKind::run_failed:
    case ErrorKind::io: return IT_DEVICE_FAILED;
    case ErrorKind::internal: break;
  }
  return IT_INTERNAL;
}

std::string_view string(it_text text) { return {text.data, text.size}; }

Type type_of(const it_tensor& t) { return Type::tensor(static_cast<DType>(t.dtype), to_shape(Extents(t.extents, t.extents + t.rank))); }

Tensor tensor_of(const it_tensor& t, const void* data) {
  Extents extents(t.extents, t.extents + t.rank);
  auto dtype = static_cast<DType>(t.dtype);
  std::size_t bytes = byte_size(dtype, *element_count(extents));
  return Tensor::view(dtype, std::move(extents), {static_cast<const std::byte*>(data), bytes}, nullptr);
}

// The attribute as ops know it; nothing for a nested region.
std::optional<AttributeValue> attribute_of(const it_attribute& a) {
  switch (a.kind) {
    case IT_ATTR_INT: return a.i;
    case IT_ATTR_FLOAT: return static_cast<float>(a.f);
    case IT_ATTR_STRING: return std::string(string(a.s));
    case IT_ATTR_INTS: return std::vector<std::int64_t>(a.ints, a.ints + a.count);
    case IT_ATTR_FLOATS: return std::vector<float>(a.floats, a.floats + a.count);
    case IT_ATTR_STRINGS: {
      std::vector<std::string> strings;
      for (std::size_t i = 0; i < a.count; ++i) strings.emplace_back(string(a.strings[i]));
      return strings;
    }
    case IT_ATTR_TENSOR: return tensor_of(a.tensor, a.tensor_data);
    case IT_ATTR_REGION: break;
  }
  return std::nullopt;
}

}  // namespace

// A node of one region of length 1; constants are views of the host's bytes.
struct it_kernel {
  const OpDef* op = nullptr;
  Attributes attributes;
  std::vector<std::optional<Type>> types;        // of the node's inputs
  std::vector<std::optional<Tensor>> constants;  // of the node's inputs
  std::vector<std::int32_t> input_position;      // in launch's inputs, -1 for constants and left-out ones
  std::vector<std::int32_t> output_position;     // in launch's outputs, -1 for outputs not wanted

  std::vector<InputFact> facts() const {
    std::vector<InputFact> out;
    for (std::size_t i = 0; i < types.size(); ++i) {
      out.push_back(types[i] ? InputFact{&*types[i], constants[i] ? &*constants[i] : nullptr, nullptr} : InputFact{});
    }
    return out;
  }
};

namespace {

std::int32_t position_in(const std::int32_t* list, std::int32_t count, std::int32_t value) {
  auto found = std::find(list, list + count, value);
  return found == list + count ? -1 : static_cast<std::int32_t>(found - list);
}

Result<std::unique_ptr<it_kernel>> build(const it_device& device, const it_region& region) {
  if (region.node_count != 1) return unsupported(text("the reference runs one node at a time, the region has ", region.node_count));
  const it_node& node = region.nodes[0];
  auto kernel = std::make_unique<it_kernel>();
  kernel->op = device.ops.find(string(node.domain), string(node.op));
  if (!kernel->op) return unsupported(text("operator ", string(node.op), " has no definition"));
  if (kernel->op->run_body) return unsupported(text(string(node.op), " runs a body, which is the host's to do"));
  for (std::int32_t i = 0; i < node.attribute_count; ++i) {
    std::optional<AttributeValue> value = attribute_of(node.attributes[i]);
    if (!value) return unsupported("nested regions are the host's to run");
    kernel->attributes.set(std::string(string(node.attributes[i].name)), std::move(*value));
  }
  for (std::int32_t i = 0; i < node.input_count; ++i) {
    std::int32_t v = node.inputs[i];
    bool present = v >= 0, constant = present && region.values[v].data != nullptr;
    kernel->types.push_back(present ? std::optional(type_of(region.values[v].type)) : std::nullopt);
    kernel->constants.push_back(constant ? std::optional(tensor_of(region.values[v].type, region.values[v].data)) : std::nullopt);
    kernel->input_position.push_back(present && !constant ? position_in(region.inputs, region.input_count, v) : -1);
  }
  for (std::int32_t i = 0; i < node.output_count; ++i) {
    kernel->output_position.push_back(node.outputs[i] < 0 ? -1 : position_in(region.outputs, region.output_count, node.outputs[i]));
  }
  return kernel;
}

// True if the node can run: by a reference, or by a meaning that exists for these types.
Status runnable(const it_kernel& kernel) {
  OpenDims open;
  std::vector<InputFact> facts = kernel.facts();
  OpContext context(*kernel.op, kernel.attributes, facts, kernel.output_position.size(), &open);
  if (kernel.op->reference) return {};
  auto program = meaning_of(context);
  if (!program && !kernel.op->on_values) return std::move(program.error());
  return {};
}

it_status device_count(int32_t* count, it_message) {
  *count = 1;
  return IT_OK;
}

it_status open_device(int32_t index, const it_option* options, size_t option_count, it_device** device, it_message error) {
  if (index != 0) return say(IT_INVALID, error, text("there is one reference device, number 0, not ", index));
  for (size_t i = 0; i < option_count; ++i) {
    if (string(options[i].key) != "threads") return say(IT_INVALID, error, text("the reference device has no option '", string(options[i].key), "'"));
  }
  *device = new (std::nothrow) it_device;
  return *device ? IT_OK : say(IT_OUT_OF_MEMORY, error, "no memory for a device");
}

void close_device(it_device* device) { delete device; }

it_status describe(it_device*, it_device_info* info, it_message) {
  std::snprintf(info->name, sizeof info->name, "reference");
  std::snprintf(info->description, sizeof info->description, "every operator by its definition, one thread");
  info->host_memory = 1;
  info->flops_per_ns = 0.2;
  info->bytes_per_ns = 5;
  return IT_OK;
}

it_status allocate(it_device*, size_t bytes, void** memory, it_message error) {
  constexpr size_t alignment = 64;
  if (bytes > SIZE_MAX - alignment) return say(IT_OUT_OF_MEMORY, error, text(bytes, " bytes are more than there can be"));
  *memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  return *memory ? IT_OK : say(IT_OUT_OF_MEMORY, error, text("no memory for ", bytes, " bytes"));
}

void release(it_device*, void* memory) { std::free(memory); }

it_status copy(it_device*, it_stream*, void* to, size_t to_offset, const void* from, size_t from_offset, size_t bytes, it_message) {
  std::memmove(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  return IT_OK;
}
it_status upload(it_device* device, it_stream* stream, void* to, size_t offset, const void* from, size_t bytes, it_message error) {
  return copy(device, stream, to, offset, from, 0, bytes, error);
}
it_status download(it_device* device, it_stream* stream, void* to, const void* from, size_t offset, size_t bytes, it_message error) {
  return copy(device, stream, to, 0, from, offset, bytes, error);
}

it_status candidates(it_device* device, const it_region* region, it_offer offer, it_message reason) {
  auto kernel = build(*device, *region);
  if (!kernel) return say(status_of(kernel.error()), reason, kernel.error().text());
  if (Status able = runnable(**kernel); !able) return say(status_of(able.error()), reason, able.error().text());
  constexpr double ns_per_element = 50;
  it_candidate candidate{};
  candidate.struct_size = sizeof candidate;
  candidate.kernel = (*kernel)->op->reference ? "reference" : "meaning";
  for (std::int32_t i = 0; i < region->output_count; ++i) {
    const it_tensor& type = region->values[region->outputs[i]].type;
    double elements = 1;
    for (std::int32_t axis = 0; axis < type.rank; ++axis) elements *= static_cast<double>(type.extents[axis]);
    candidate.cost_ns += elements * ns_per_element;
  }
  offer.offer(offer.sink, &candidate);
  return IT_OK;
}

it_status prepare(it_device* device, const it_region* region, int32_t, const void*, size_t, it_kernel** kernel, it_message error) {
  auto built = build(*device, *region);
  if (!built) return say(status_of(built.error()), error, built.error().text());
  *kernel = built->release();
  return IT_OK;
}

void discard(it_device*, it_kernel* kernel) { delete kernel; }

it_status launch(it_device*, it_stream*, it_kernel* kernel, const void* const* inputs, void* const* outputs, void*, it_message error) {
  OpenDims open;
  std::vector<InputFact> facts = kernel->facts();
  OpContext context(*kernel->op, kernel->attributes, facts, kernel->output_position.size(), &open);
  std::vector<Value> held(kernel->types.size());
  std::vector<const Value*> values(kernel->types.size(), nullptr);
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!kernel->types[i]) continue;
    if (kernel->constants[i]) {
      held[i] = *kernel->constants[i];
    } else {
      Extents extents = *constant_extents(*kernel->types[i]->shape);
      std::size_t bytes = byte_size(kernel->types[i]->dtype, *element_count(extents));
      auto* data = static_cast<const std::byte*>(inputs[kernel->input_position[i]]);
      held[i] = Tensor::view(kernel->types[i]->dtype, std::move(extents), {data, bytes}, nullptr);
    }
    values[i] = &held[i];
  }
  auto results = run_reference(context, values, {});
  if (!results) return say(status_of(results.error()), error, results.error().text());
  for (std::size_t i = 0; i < kernel->output_position.size(); ++i) {
    if (kernel->output_position[i] < 0) continue;
    std::span<const std::byte> bytes = (*results)[i].tensor()->bytes();
    if (!bytes.empty()) std::memcpy(outputs[kernel->output_position[i]], bytes.data(), bytes.size());
  }
  return IT_OK;
}

const it_backend table = [] {
  it_backend t{};
  t.abi = IT_ABI;
  t.struct_size = sizeof t;
  t.facts = {"reference", "1", __VERSION__, IT_CXX_ABI, "", ""};
  t.device_count = device_count;
  t.open = open_device;
  t.close = close_device;
  t.describe = describe;
  t.allocate = allocate;
  t.release = release;
  t.upload = upload;
  t.download = download;
  t.copy = copy;
  t.candidates = candidates;
  t.prepare = prepare;
  t.discard = discard;
  t.launch = launch;
  return t;
}();

}  // namespace

const it_backend* it_backend_query(uint32_t max_abi) { return max_abi >= IT_ABI ? &table : nullptr; }
