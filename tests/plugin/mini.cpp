// A small device with an address space of its own: what it hands out are addresses that the host cannot read or write.
// It runs Add, Mul, Relu and MatMul in f32, row-major. With one of FAULT_*, it breaks the contract in one way.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <infinitensor/it_backend.h>

namespace {

using Extents = std::vector<int64_t>;
constexpr int32_t f32 = 1;
constexpr size_t address_space = size_t{64} << 30;

it_status say(it_status status, it_message error, const std::string& text) {
  if (error.size) std::snprintf(error.text, error.size, "%s", text.c_str());
  return status;
}

std::string text_of(it_text text) { return {text.data, text.size}; }
Extents extents_of(const it_tensor& tensor) { return {tensor.extents, tensor.extents + tensor.rank}; }
int64_t count(const Extents& extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

// ---- memory: addresses from a range that nobody may touch, each standing for bytes elsewhere ------------------------------------------------

class Memory {
 public:
  Memory() : begin_(static_cast<char*>(mmap(nullptr, address_space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))), next_(begin_) {}
  ~Memory() { munmap(begin_, address_space); }
  void* allocate(size_t bytes) {
    size_t rounded = (bytes + 64) / 64 * 64;
    if (begin_ == MAP_FAILED || rounded > static_cast<size_t>(begin_ + address_space - next_)) return nullptr;
    blocks_[next_].resize(rounded);
    return std::exchange(next_, next_ + rounded);
  }
  void release(void* address) { blocks_.erase(static_cast<char*>(address)); }
  // The bytes that an address inside a block stands for; nullptr if there are not as many.
  char* bytes(const void* address, size_t size) {
    auto block = blocks_.upper_bound(const_cast<char*>(static_cast<const char*>(address)));
    if (block == blocks_.begin()) return nullptr;
    --block;
    auto offset = static_cast<size_t>(static_cast<const char*>(address) - block->first);
    return offset + size <= block->second.size() ? block->second.data() + offset : nullptr;
  }

 private:
  char* begin_;
  char* next_;
  std::map<char*, std::vector<char>> blocks_;
};

// ---- kernels -------------------------------------------------------------------------------------------------------------------------------

// An operand: where its extents fit those of the result from the right, an axis of 1 is repeated.
struct Operand {
  Extents extents;
  std::vector<float> constant;
  int32_t input = -1;  // of the region, which lists each value once; -1: the constant
};

// The offset of element `at` of the result in an operand of these extents.
int64_t broadcast_offset(const Extents& extents, const Extents& result, int64_t at) {
  int64_t offset = 0, step = 1;
  for (size_t axis = result.size(); axis-- > 0;) {
    int64_t index = at % result[axis];
    at /= result[axis];
    size_t missing = result.size() - extents.size();
    if (axis < missing) continue;
    int64_t extent = extents[axis - missing];
    if (extent != 1) offset += index * step;
    step *= extent;
  }
  return offset;
}

void elementwise(const std::string& op, const std::vector<Operand>& operands, const std::vector<const float*>& data, const Extents& result, float* out) {
  for (int64_t i = 0; i < count(result); ++i) {
    float a = data[0][broadcast_offset(operands[0].extents, result, i)];
    float b = operands.size() > 1 ? data[1][broadcast_offset(operands[1].extents, result, i)] : 0;
    out[i] = op == "Add" ? a + b : op == "Mul" ? a * b : a < 0 ? 0 : a;
  }
}

// Matrices of the last two axes; vectors were given an axis of 1.
void matrix_product(std::vector<Operand> operands, const std::vector<const float*>& data, const Extents& result_extents, float* out) {
  Extents &a = operands[0].extents, &b = operands[1].extents, result = result_extents;
  if (b.size() == 1) result.push_back(1), b.push_back(1);
  if (a.size() == 1) result.insert(result.end() - 1, 1), a.insert(a.begin(), 1);
  int64_t rows = a[a.size() - 2], inner = a.back(), columns = b.back();
  Extents batch(result.begin(), result.end() - 2), batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  for (int64_t m = 0; m < count(batch); ++m) {
    const float* left = data[0] + broadcast_offset(batch_a, batch, m) * rows * inner;
    const float* right = data[1] + broadcast_offset(batch_b, batch, m) * inner * columns;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) sum += double{left[i * inner + k]} * right[k * columns + j];
        *out++ = static_cast<float>(sum);
      }
    }
  }
}

#if defined(FAULT_adds)
constexpr const char* about = "mini runs Add";
bool runs(const std::string& op) { return op == "Add"; }
#else
constexpr const char* about = "mini runs Add, Mul, Relu and MatMul, one at a time";
bool runs(const std::string& op) { return op == "Add" || op == "Mul" || op == "Relu" || op == "MatMul"; }
#endif

}  // namespace

struct it_device {
  Memory memory;
};

struct it_kernel {
  std::string op;
  std::vector<Operand> operands;
  Extents result;
};

namespace {

it_status device_count(int32_t* count, it_message) {
#if defined(FAULT_no_driver)
  *count = 0;
#else
  *count = 1;
#endif
  return IT_OK;
}

it_status open_device(int32_t index, const it_option*, size_t options, it_device** device, it_message error) {
#if defined(FAULT_aborts)
  std::abort();
#elif defined(FAULT_exits)
  std::exit(0);
#endif
  if (index != 0 || options != 0) return say(IT_INVALID, error, "there is one mini device, mini:0, without options");
  *device = new it_device;
  return IT_OK;
}

void close_device(it_device* device) { delete device; }

it_status describe(it_device*, it_device_info* info, it_message) {
  std::snprintf(info->name, sizeof info->name, "mini");
  std::snprintf(info->description, sizeof info->description, "Add, Mul, Relu and MatMul in f32, with a memory of its own");
  info->host_memory = 0;
  return IT_OK;
}

it_status allocate(it_device* device, size_t bytes, void** memory, it_message error) {
  *memory = device->memory.allocate(bytes);
  return *memory ? IT_OK : say(IT_OUT_OF_MEMORY, error, "no address space left");
}

void release(it_device* device, void* memory) { device->memory.release(memory); }

it_status outside(it_message error) { return say(IT_INVALID, error, "an address that is not of this device"); }

it_status upload(it_device* device, it_stream*, void* to, size_t offset, const void* from, size_t bytes, it_message error) {
  char* target = device->memory.bytes(static_cast<char*>(to) + offset, bytes);
  if (!target) return outside(error);
  std::memcpy(target, from, bytes);
  return IT_OK;
}

it_status download(it_device* device, it_stream*, void* to, const void* from, size_t offset, size_t bytes, it_message error) {
  const char* source = device->memory.bytes(static_cast<const char*>(from) + offset, bytes);
  if (!source) return outside(error);
  std::memcpy(to, source, bytes);
  return IT_OK;
}

it_status copy(it_device* device, it_stream*, void* to, size_t to_offset, const void* from, size_t from_offset, size_t bytes, it_message error) {
  char* target = device->memory.bytes(static_cast<char*>(to) + to_offset, bytes);
  const char* source = device->memory.bytes(static_cast<const char*>(from) + from_offset, bytes);
  if (!target || !source) return outside(error);
  std::memmove(target, source, bytes);
  return IT_OK;
}

it_status candidates(it_device*, const it_region* region, it_offer offer, it_message reason) {
  const it_node& node = region->nodes[0];
  std::string op = text_of(node.op);
  if (region->node_count != 1 || node.domain.size != 0 || !runs(op)) return say(IT_UNSUPPORTED, reason, about);
  for (int32_t i = 0; i < node.input_count; ++i) {
    if (region->values[node.inputs[i]].type.dtype != f32) return say(IT_UNSUPPORTED, reason, "mini computes in f32 alone");
  }
  double elements = static_cast<double>(count(extents_of(region->values[node.outputs[0]].type)));
  it_candidate candidate{};
  candidate.struct_size = sizeof candidate;
#if defined(FAULT_small_candidate)
  candidate.struct_size = 8;
#endif
  candidate.kernel = op == "MatMul" ? "mini_matmul" : "mini_elementwise";
  candidate.numerics = op == "MatMul" ? IT_ROUNDING : IT_EXACT;
  candidate.cost_ns = elements;
  offer.offer(offer.sink, &candidate);
  return IT_OK;
}

it_status prepare(it_device*, const it_region* region, int32_t, const void*, size_t, it_kernel** kernel, it_message) {
  const it_node& node = region->nodes[0];
  auto made = std::make_unique<it_kernel>();
  made->op = text_of(node.op);
  made->result = extents_of(region->values[node.outputs[0]].type);
  for (int32_t i = 0; i < node.input_count; ++i) {
    const it_value& value = region->values[node.inputs[i]];
    Operand operand{extents_of(value.type), {}, -1};
    for (int32_t k = 0; k < region->input_count; ++k) {
      if (region->inputs[k] == node.inputs[i]) operand.input = k;
    }
    if (operand.input < 0) {
      operand.constant.resize(static_cast<size_t>(count(operand.extents)));
      std::memcpy(operand.constant.data(), value.data, value.data_size);  // perhaps unaligned
    }
    made->operands.push_back(std::move(operand));
  }
  *kernel = made.release();
  return IT_OK;
}

void discard(it_device*, it_kernel* kernel) { delete kernel; }

it_status launch(it_device* device, it_stream*, it_kernel* kernel, const void* const* inputs, void* const* outputs, void*, it_message error) {
  std::vector<const float*> data;
  for (const Operand& operand : kernel->operands) {
    size_t bytes = static_cast<size_t>(count(operand.extents)) * sizeof(float);
    const void* source = operand.input < 0 ? static_cast<const void*>(operand.constant.data()) : device->memory.bytes(inputs[operand.input], bytes);
    if (!source && bytes) return outside(error);
    data.push_back(static_cast<const float*>(source));
  }
  auto* out = reinterpret_cast<float*>(device->memory.bytes(outputs[0], static_cast<size_t>(count(kernel->result)) * sizeof(float)));
  if (!out) return outside(error);
#if defined(FAULT_wrong)
  for (int64_t i = 0; i < count(kernel->result); ++i) out[i] = 3;
  return IT_OK;
#endif
  if (kernel->op == "MatMul") {
    matrix_product(kernel->operands, data, kernel->result, out);
  } else {
    elementwise(kernel->op, kernel->operands, data, kernel->result, out);
  }
  return IT_OK;
}

[[maybe_unused]] it_backend make_table() {
  it_backend table{};
  table.abi = IT_ABI;
  table.struct_size = sizeof table;
  table.facts = {"mini", "1", __VERSION__, IT_CXX_ABI, "", ""};
  table.device_count = device_count;
  table.open = open_device;
  table.close = close_device;
  table.describe = describe;
  table.allocate = allocate;
  table.release = release;
  table.upload = upload;
  table.download = download;
  table.copy = copy;
  table.candidates = candidates;
  table.prepare = prepare;
  table.discard = discard;
  table.launch = launch;
#if defined(FAULT_wrong_abi)
  table.abi = IT_ABI + 1;
#elif defined(FAULT_short_table)
  table.struct_size = 64;
#elif defined(FAULT_other_cxx_abi)
  table.facts.cxx_abi = "libstdc++ cxx11=0";
#elif defined(FAULT_other_sdk)
  table.facts.sdk_built_for = "mini SDK 2.0";
  table.facts.sdk_found = "mini SDK 1.0";
#elif defined(FAULT_no_functions)
  table.upload = nullptr;
#elif defined(FAULT_throws)
  throw std::runtime_error("no licence");
#endif
  return table;
}

}  // namespace

#if !defined(FAULT_no_symbol)
const it_backend* it_backend_query(uint32_t max_abi) {
  static const it_backend table = make_table();
  return max_abi >= IT_ABI ? &table : nullptr;
}
#endif
