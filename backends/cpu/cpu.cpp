// The native CPU backend behind the plugin table. Options of open: threads=N (default: the processors this process may use),
// isa=portable|avx2|avx512 (default: the best there is), reproducible=0|1, fault=NAME (faults.def; for tests).
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "backends/cpu/device.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/reorder.h"
#include "libcore/base/text.h"
#include "libcore/plugin/it_backend.h"

struct it_device {
  explicit it_device(int threads) : cpu(threads) {}
  infini::cpu::Device cpu;
};
struct it_kernel {
  std::unique_ptr<infini::cpu::Kernel> kernel;
};

namespace infini::cpu {
namespace {

std::string_view view(it_text text) { return {text.data, text.size}; }

it_status fail(it_message to, it_status status, std::string_view sentence) {
  if (to.text && to.size > 0) {
    std::size_t length = std::min(sentence.size(), to.size - 1);
    std::memcpy(to.text, sentence.data(), length);
    to.text[length] = 0;
  }
  return status;
}

it_status fail(it_message to, const Error& error) {
  switch (error.kind) {
    case ErrorKind::unsupported: return fail(to, IT_UNSUPPORTED, error.text());
    case ErrorKind::usage:
    case ErrorKind::bad_input: return fail(to, IT_INVALID, error.text());
    case ErrorKind::run_failed:
    case ErrorKind::io: return fail(to, IT_DEVICE_FAILED, error.text());
    case ErrorKind::internal: break;
  }
  return fail(to, IT_INTERNAL, error.text());
}

it_status out_of_memory(it_message to, std::size_t bytes) {
  return fail(to, IT_OUT_OF_MEMORY, text("the system refused ", human_bytes(bytes), " of memory"));
}

it_status device_count(std::int32_t* count, it_message) {
  *count = 1;
  return IT_OK;
}

int usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct Options {
  std::int64_t threads = usable_processors();
  Isa isa = best_isa();
  Fault fault = Fault::none;
  bool reproducible = false;
};

Result<Fault> parse_fault(std::string_view name) {
#define FAULT(fault, sentence) \
  if (name == #fault) return Fault::fault;
#include "backends/cpu/faults.def"
#undef FAULT
  return usage_error(text("the cpu device has no planted fault ", quoted(name)));
}

Status read_option(std::string_view key, std::string_view value, Options& options) {
  if (key == "threads") {
    if (!parse_int(value, options.threads) || options.threads < 1 || options.threads > 1024)
      return usage_error(text("threads=", value, " is not a number from 1 to 1024"));
    return {};
  }
  if (key == "isa") {
    std::optional<Isa> isa = parse_isa(value);
    if (!isa) return usage_error(text("isa=", value, " is none of portable, avx2, avx512"));
    if (*isa > best_isa()) return usage_error(text("isa=", value, " is more than this processor has: it lacks ", join(lacks(*isa), ", "), "; ", name(best_isa()), " is its best"));
    options.isa = *isa;
    return {};
  }
  if (key == "reproducible") {
    if (value != "0" && value != "1") return usage_error(text("reproducible=", value, " is neither 0 nor 1"));
    options.reproducible = value == "1";
    return {};
  }
  if (key == "fault") {
    IT_TRY(options.fault, parse_fault(value));
    return {};
  }
  return usage_error(text("the cpu device has no option ", quoted(key), "; it has threads, isa, reproducible, fault"));
}

it_status open(std::int32_t index, const it_option* options, std::size_t option_count, it_device** device, it_message error) {
  if (index != 0) return fail(error, IT_INVALID, text("there is one cpu device, cpu:0, not cpu:", index));
  Options chosen;
  for (std::size_t i = 0; i < option_count; ++i)
    if (Status status = read_option(view(options[i].key), view(options[i].value), chosen); !status) return fail(error, status.error());
  it_device* opened = new (std::nothrow) it_device(static_cast<int>(chosen.threads));
  if (!opened) return out_of_memory(error, sizeof(it_device));
  opened->cpu.isa = chosen.isa;
  opened->cpu.fault = chosen.fault;
  opened->cpu.reproducible = chosen.reproducible;
  *device = opened;
  return IT_OK;
}

void close(it_device* device) { delete device; }

it_status describe(it_device* device, it_device_info* info, it_message error) {
  it_device_info facts{};
  facts.struct_size = sizeof facts;
  std::string about = text(device->cpu.pool.threads(), " threads, ", name(device->cpu.isa));
  fail({facts.name, sizeof facts.name}, IT_OK, "cpu");
  fail({facts.description, sizeof facts.description}, IT_OK, about);
  facts.host_memory = 1;
  facts.flops_per_ns = rates(device->cpu.isa).flops_per_ns * device->cpu.pool.threads();
  facts.bytes_per_ns = rates(device->cpu.isa).memory_per_ns * device->cpu.pool.threads();
  if (info->struct_size < sizeof info->struct_size) return fail(error, IT_INVALID, "the device info has no size");
  std::size_t size = std::min(info->struct_size, sizeof facts);
  facts.struct_size = size;
  std::memcpy(info, &facts, size);
  return IT_OK;
}

it_status allocate(it_device*, std::size_t bytes, void** memory, it_message error) {
  *memory = allocate_pages(bytes);
  return *memory ? IT_OK : out_of_memory(error, bytes);
}

void release(it_device*, void* memory) { release_pages(memory); }

it_status upload(it_device*, it_stream*, void* to, std::size_t offset, const void* from, std::size_t bytes, it_message) {
  if (bytes) std::memcpy(static_cast<std::byte*>(to) + offset, from, bytes);
  return IT_OK;
}

it_status download(it_device*, it_stream*, void* to, const void* from, std::size_t offset, std::size_t bytes, it_message) {
  if (bytes) std::memcpy(to, static_cast<const std::byte*>(from) + offset, bytes);
  return IT_OK;
}

it_status copy(it_device*, it_stream*, void* to, std::size_t to_offset, const void* from, std::size_t from_offset, std::size_t bytes, it_message) {
  if (bytes) std::memmove(static_cast<std::byte*>(to) + to_offset, static_cast<const std::byte*>(from) + from_offset, bytes);
  return IT_OK;
}

// A candidate's number: its family's place in kernels.def and its place among the family's offers.
constexpr std::int32_t number(std::size_t family, std::size_t offer) { return static_cast<std::int32_t>(family * 64 + offer); }

std::vector<it_layout> layouts(const std::vector<Order>& orders) {
  std::vector<it_layout> result;
  for (const Order& order : orders) {
    it_layout layout{};
    layout.order = order.empty() ? nullptr : order.data();
    result.push_back(layout);
  }
  return result;
}

void hand_over(const Candidate& from, std::int32_t id, it_offer offer) {
  std::vector<it_layout> inputs = layouts(from.input_orders), outputs = layouts(from.output_orders);
  it_candidate to{};
  to.struct_size = sizeof to;
  to.id = id;
  to.kernel = from.kernel.c_str();
  to.input_layouts = inputs.empty() ? nullptr : inputs.data();
  to.output_layouts = outputs.empty() ? nullptr : outputs.data();
  to.workspace = from.workspace;
  to.packed = from.packed;
  to.in_place_count = static_cast<std::int32_t>(from.in_place.size());
  to.in_place = from.in_place.data();
  to.numerics = from.numerics;
  to.cost_ns = from.cost_ns;
  offer.offer(offer.sink, &to);
}

std::string nothing_offered(const Region& region, const std::vector<std::string>& reasons) {
  if (!reasons.empty()) return join(reasons, "; ");
  if (region.nodes.empty()) return "the region has no node";
  const Node& node = region.nodes[0];
  std::string op = node.domain().empty() ? std::string(node.op()) : text(node.domain(), ".", node.op());
  const Value* first = region.output(node, 0);
  return text("no kernel for ", op, first ? text(" of ", infini::name(first->dtype)) : std::string(),
              region.nodes.size() > 1 ? text(" followed by ", region.nodes.size() - 1, " more nodes") : std::string());
}

it_status candidates(it_device* device, const it_region* raw, it_offer offer, it_message reason) {
  Result<Region> region = Region::make(*raw);
  if (!region) return fail(reason, region.error());
  std::vector<std::string> reasons;
  bool any = false;
  std::span<const Family> all = families();
  for (std::size_t f = 0; f < all.size(); ++f) {
    Offers offers = all[f].offer(*region, device->cpu);
    if (!offers) {
      if (offers.error().kind != ErrorKind::unsupported) return fail(reason, offers.error());
      reasons.push_back(offers.error().text());
      continue;
    }
    for (std::size_t i = 0; i < offers->size(); ++i) hand_over((*offers)[i], number(f, i), offer), any = true;
  }
  return any ? IT_OK : fail(reason, IT_UNSUPPORTED, nothing_offered(*region, reasons));
}

it_status prepare(it_device* device, const it_region* raw, std::int32_t id, const void* packed, std::size_t packed_bytes, it_kernel** kernel,
                  it_message error) {
  Result<Region> region = Region::make(*raw);
  if (!region) return fail(error, region.error());
  std::size_t family = static_cast<std::size_t>(id) / 64, place = static_cast<std::size_t>(id) % 64;
  if (id < 0 || family >= families().size()) return fail(error, IT_INVALID, text("there is no candidate ", id));
  Offers offers = families()[family].offer(*region, device->cpu);
  if (!offers) return fail(error, offers.error());
  if (place >= offers->size()) return fail(error, IT_INVALID, text("there is no candidate ", id));
  std::span<const float> kept;
  if (packed && packed_bytes == (*offers)[place].packed) kept = {static_cast<const float*>(packed), packed_bytes / sizeof(float)};
  Result<std::unique_ptr<Kernel>> made = (*offers)[place].prepare(kept);
  if (!made) return fail(error, made.error());
  *kernel = new (std::nothrow) it_kernel{std::move(*made)};
  return *kernel ? IT_OK : out_of_memory(error, sizeof(it_kernel));
}

void discard(it_device*, it_kernel* kernel) { delete kernel; }

it_status launch(it_device* device, it_stream*, it_kernel* kernel, const void* const* inputs, void* const* outputs, void* workspace, it_message error) {
  Status status = kernel->kernel->launch({device->cpu, inputs, outputs, workspace});
  return status ? IT_OK : fail(error, status.error());
}

it_status export_packed(it_device*, it_kernel* kernel, void* to, std::size_t bytes, it_message error) {
  std::span<const float> packed = kernel->kernel->packed();
  if (bytes != packed.size_bytes())
    return fail(error, IT_INVALID, text("the kernel holds ", packed.size_bytes(), " packed bytes, room was given for ", bytes));
  if (bytes) std::memcpy(to, packed.data(), bytes);
  return IT_OK;
}

it_status reorder(it_device* device, it_stream*, const it_tensor* type, const it_layout* from, const void* input, const it_layout* to, void* output,
                  it_message error) {
  Status status = reorder(device->cpu, *type, from, input, to, output);
  return status ? IT_OK : fail(error, status.error());
}

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "g++ " __VERSION__;
#endif

const it_backend table = {
    .abi = IT_ABI,
    .struct_size = sizeof(it_backend),
    .facts = {"cpu", "1", compiler, "", "", ""},
    .device_count = device_count,
    .open = open,
    .close = close,
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .upload = upload,
    .download = download,
    .copy = copy,
    .stream_create = nullptr,
    .stream_destroy = nullptr,
    .stream_wait = nullptr,
    .event_record = nullptr,
    .event_wait = nullptr,
    .event_destroy = nullptr,
    .candidates = candidates,
    .prepare = prepare,
    .discard = discard,
    .launch = launch,
    .export_packed = export_packed,
    .capture_begin = nullptr,
    .capture_end = nullptr,
    .replay = nullptr,
    .graph_destroy = nullptr,
    .reorder = reorder,
};

}  // namespace
}  // namespace infini::cpu

const it_backend* it_backend_query(std::uint32_t max_abi) { return max_abi >= IT_ABI ? &infini::cpu::table : nullptr; }
