#include "tests/backends/cpu_case.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/tensor/element.h"

namespace cpu_test {

Device::Device(const std::string& options) {
  std::vector<std::string> words;
  std::vector<it_option> list;
  for (const std::string& word : infini::split(options, ' '))
    if (!word.empty()) words.push_back(word);
  for (const std::string& word : words) {
    std::size_t equals = word.find('=');
    list.push_back({{word.data(), equals}, {word.data() + equals + 1, word.size() - equals - 1}});
  }
  char text[256] = {};
  if (table->open(0, list.data(), list.size(), &handle, {text, sizeof text}) != IT_OK) handle = nullptr;
  error = text;
}

namespace {

std::vector<std::byte> bytes_of(const Doubles& numbers, infini::DType dtype) {
  std::size_t width = static_cast<std::size_t>(infini::info(dtype).bits) / 8;
  std::vector<std::byte> bytes(1 + numbers.size() * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    bool floating = infini::is_floating(dtype);
    std::uint64_t bits = floating ? infini::encode_float(dtype, numbers[i]) : infini::encode_int(dtype, static_cast<std::int64_t>(numbers[i]));
    std::memcpy(bytes.data() + 1 + i * width, &bits, width);
  }
  return bytes;
}

// Moves elements between row-major and an axis order.
std::vector<std::byte> reordered(const std::byte* from, const Extents& extents, const std::vector<std::int32_t>& order, std::size_t width, bool back) {
  std::int64_t total = count(extents);
  std::vector<std::byte> to(static_cast<std::size_t>(total) * width);
  std::vector<std::int64_t> stride(extents.size());
  std::int64_t step = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    std::size_t axis = order.empty() ? i : static_cast<std::size_t>(order[i]);
    stride[axis] = step;
    step *= extents[axis];
  }
  for (std::int64_t item = 0; item < total; ++item) {
    std::int64_t rest = item, place = 0;
    for (std::size_t i = extents.size(); i-- > 0;) {
      place += rest % extents[i] * stride[i];
      rest /= extents[i];
    }
    std::int64_t f = back ? place : item, t = back ? item : place;
    std::memcpy(to.data() + static_cast<std::size_t>(t) * width, from + static_cast<std::size_t>(f) * width, width);
  }
  return to;
}

std::vector<std::vector<std::int32_t>> orders(const it_layout* layouts, const it_region& region, const std::int32_t* values, std::int32_t n) {
  std::vector<std::vector<std::int32_t>> result(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; layouts && i < n; ++i)
    if (layouts[i].order) result[static_cast<std::size_t>(i)].assign(layouts[i].order, layouts[i].order + region.values[values[i]].type.rank);
  return result;
}

it_text text_of(const std::string& s) { return {s.data(), s.size()}; }

}  // namespace

int Case::input(const Extents& extents, const Doubles& numbers, infini::DType dtype) {
  REQUIRE(count(extents) == static_cast<std::int64_t>(numbers.size()));
  values_.push_back({extents, dtype, bytes_of(numbers, dtype)});
  inputs_.push_back(static_cast<int>(values_.size()) - 1);
  return inputs_.back();
}

int Case::constant(const Extents& extents, const Doubles& numbers, infini::DType dtype) {
  REQUIRE(count(extents) == static_cast<std::int64_t>(numbers.size()));
  values_.push_back({extents, dtype, bytes_of(numbers, dtype), true});
  return static_cast<int>(values_.size()) - 1;
}

int Case::value(const Extents& extents, infini::DType dtype) {
  values_.push_back({extents, dtype, {}});
  return static_cast<int>(values_.size()) - 1;
}

void Case::node(const std::string& op, std::vector<int> inputs, std::vector<int> outputs, std::vector<Attribute> attributes) {
  nodes_.push_back({op, std::move(inputs), std::move(outputs), std::move(attributes)});
}

std::vector<it_node> Case::raw_nodes() {
  std::vector<it_node> result;
  for (NodeText& node : nodes_) {
    raw_attributes_.emplace_back();
    for (Attribute& from : node.attributes) {
      it_attribute to{};
      to.name = text_of(from.name);
      if (auto* i = std::get_if<std::int64_t>(&from.value)) to.kind = IT_ATTR_INT, to.i = *i;
      if (auto* f = std::get_if<double>(&from.value)) to.kind = IT_ATTR_FLOAT, to.f = *f;
      if (auto* s = std::get_if<std::string>(&from.value)) to.kind = IT_ATTR_STRING, to.s = text_of(*s);
      if (auto* list = std::get_if<std::vector<std::int64_t>>(&from.value)) to.kind = IT_ATTR_INTS, to.count = list->size(), to.ints = list->data();
      raw_attributes_.back().push_back(to);
    }
    it_node to{};
    to.op = text_of(node.op);
    to.input_count = static_cast<std::int32_t>(node.inputs.size());
    to.inputs = node.inputs.data();
    to.output_count = static_cast<std::int32_t>(node.outputs.size());
    to.outputs = node.outputs.data();
    to.attribute_count = static_cast<std::int32_t>(raw_attributes_.back().size());
    to.attributes = raw_attributes_.back().data();
    result.push_back(to);
  }
  return result;
}

const it_region* Case::level(const std::vector<int>& inputs, std::vector<it_node> nodes, bool hide_constants) {
  raw_values_.emplace_back();
  for (Value& value : values_) {
    it_value to{};
    to.type = {static_cast<it_dtype>(value.dtype), static_cast<std::int32_t>(value.extents.size()), value.extents.data()};
    if (value.constant && !hide_constants) to.data = value.bytes.data() + 1, to.data_size = value.bytes.size() - 1;
    raw_values_.back().push_back(to);
  }
  raw_node_lists_.push_back(std::move(nodes));
  it_region region{};
  region.struct_size = sizeof region;
  region.value_count = static_cast<std::int32_t>(raw_values_.back().size());
  region.values = raw_values_.back().data();
  region.node_count = static_cast<std::int32_t>(raw_node_lists_.back().size());
  region.nodes = raw_node_lists_.back().data();
  region.input_count = static_cast<std::int32_t>(inputs.size());
  region.inputs = inputs.data();
  region.output_count = static_cast<std::int32_t>(outputs_.size());
  region.outputs = outputs_.data();
  regions_.push_back(region);
  return &regions_.back();
}

const it_region* Case::region() {
  if (!regions_.empty()) return &regions_.back();
  if (!fused_) return level(inputs_, raw_nodes(), false);
  static const std::string body = "body", fused = "fused", domain = "infini";
  // Constants are operands of the fused node; its body knows their types alone.
  std::deque<std::vector<int>>& lists = lists_;
  lists.push_back(inputs_);
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].constant) lists.back().push_back(static_cast<int>(i));
  const it_region* inner = level(lists.back(), raw_nodes(), true);
  raw_attributes_.emplace_back();
  it_attribute attribute{};
  attribute.name = text_of(body);
  attribute.kind = IT_ATTR_REGION;
  attribute.region = inner;
  raw_attributes_.back().push_back(attribute);
  it_node node{};
  node.domain = text_of(domain);
  node.op = text_of(fused);
  node.input_count = static_cast<std::int32_t>(lists.back().size());
  node.inputs = lists.back().data();
  node.output_count = static_cast<std::int32_t>(outputs_.size());
  node.outputs = outputs_.data();
  node.attribute_count = 1;
  node.attributes = raw_attributes_.back().data();
  return level(inputs_, {node}, false);
}

std::vector<Offered> Case::offers(Device& device, std::string* reason) {
  struct Sink {
    const it_region* region;
    std::vector<Offered> list;
  } sink{region(), {}};
  it_offer offer{&sink, [](void* held, const it_candidate* c) {
                   Sink& s = *static_cast<Sink*>(held);
                   s.list.push_back({c->id, c->kernel, orders(c->input_layouts, *s.region, s.region->inputs, s.region->input_count),
                                     orders(c->output_layouts, *s.region, s.region->outputs, s.region->output_count), c->workspace, c->packed,
                                     {c->in_place, c->in_place + c->in_place_count}});
                 }};
  char text[512] = {};
  it_status status = device.table->candidates(device.handle, region(), offer, {text, sizeof text});
  CHECK((status == IT_OK) == !sink.list.empty());
  if (reason) *reason = text;
  return sink.list;
}

it_status Case::launch(Device& device, const Offered& offered, it_kernel* kernel, bool in_place, std::vector<Doubles>& results, it_message message) {
  auto width = [](const Value& v) { return static_cast<std::size_t>(infini::info(v.dtype).bits) / 8; };
  std::vector<std::vector<std::byte>> ins, outs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Value& v = values_[static_cast<std::size_t>(inputs_[i])];
    ins.push_back(reordered(v.bytes.data() + 1, v.extents, offered.input_orders[i], width(v), false));
    in.push_back(ins.back().data());
  }
  for (int output : outputs_) {
    const Value& v = values_[static_cast<std::size_t>(output)];
    outs.emplace_back(infini::byte_size(v.dtype, count(v.extents)), std::byte{0x5a});
    out.push_back(outs.back().data());
  }
  std::vector<const std::byte*> made(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) made[i] = outs[i].data();
  for (const it_in_place& pair : offered.in_place) {
    std::size_t from = static_cast<std::size_t>(pair.input), to = static_cast<std::size_t>(pair.output);
    if (in_place) out[to] = ins[from].data(), made[to] = ins[from].data();
    if (in_place) break;  // one pair at a time: two operands cannot both be the result
  }
  std::vector<std::byte> workspace(offered.workspace + 64, std::byte{0xff});  // NaN, so that room that is read unwritten shows
  void* room = workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64) % 64;
  it_status status = IT_OK;
  for (int round = 0; round < (in_place ? 1 : 2) && status == IT_OK; ++round)
    status = device.table->launch(device.handle, nullptr, kernel, in.data(), out.data(), room, message);
  for (std::size_t i = 0; i < outputs_.size() && status == IT_OK; ++i) {
    const Value& v = values_[static_cast<std::size_t>(outputs_[i])];
    std::vector<std::byte> plain = reordered(made[i], v.extents, offered.output_orders[i], width(v), true);
    Doubles numbers;
    for (std::int64_t j = 0; j < count(v.extents); ++j) numbers.push_back(infini::decode_float(v.dtype, infini::load_bits(v.dtype, plain.data(), j)));
    results.push_back(std::move(numbers));
  }
  return status;
}

std::vector<Doubles> Case::run(Device& device, const Offered& offered, std::string* error, bool in_place) {
  char text[512] = {};
  it_message message{text, sizeof text};
  it_kernel* kernel = nullptr;
  std::vector<Doubles> results;
  it_status status = device.table->prepare(device.handle, region(), offered.id, nullptr, 0, &kernel, message);
  if (status == IT_OK) {
    status = launch(device, offered, kernel, in_place, results, message);
    // Packed constants come back as they were exported.
    std::vector<std::byte> packed(offered.packed);
    CHECK(device.table->export_packed(device.handle, kernel, packed.data(), packed.size(), message) == IT_OK);
    device.table->discard(device.handle, kernel);
    if (!packed.empty() && status == IT_OK) {
      std::vector<Doubles> again;
      CHECK(device.table->prepare(device.handle, region(), offered.id, packed.data(), packed.size(), &kernel, message) == IT_OK);
      CHECK(launch(device, offered, kernel, in_place, again, message) == IT_OK);
      CHECK(again == results);
      device.table->discard(device.handle, kernel);
    }
  }
  if (error) *error = text;
  return results;
}

Doubles noise(std::int64_t n, unsigned seed) {
  Doubles numbers(static_cast<std::size_t>(n));
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (double& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<double>(static_cast<std::int32_t>(state) >> 8) / 8388608.0;
  }
  return numbers;
}

double relative_l2(const Doubles& actual, const Doubles& expected) {
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    double a = actual[i], e = expected[i];
    if (std::isnan(a) != std::isnan(e)) return std::numeric_limits<double>::infinity();
    if (std::isnan(e) || a == e) {
      if (std::isfinite(e)) size += e * e;
      continue;
    }
    difference += (a - e) * (a - e);
    size += e * e;
  }
  if (difference == 0) return 0;
  return size == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / size);
}

void check_all(Case& c, const std::vector<Doubles>& expected, double limit, const char* note) {
  for (const char* options : {"threads=1 isa=portable", "threads=2 isa=avx2", "threads=2 isa=avx512"}) {
    Device device(options);
    if (!device.handle) continue;
    std::string reason;
    std::vector<Offered> offers = c.offers(device, &reason);
    INFO(std::string(note), " ", std::string(options), " ", reason);
    REQUIRE(!offers.empty());
    for (const Offered& offered : offers) {
      std::string error;
      std::vector<Doubles> results = c.run(device, offered, &error);
      INFO(offered.kernel, " ", error);
      REQUIRE(results.size() == expected.size());
      for (std::size_t i = 0; i < results.size(); ++i) CHECK(relative_l2(results[i], expected[i]) <= limit);
      if (offered.in_place.empty()) continue;
      std::vector<Doubles> shared = c.run(device, offered, &error, true);
      REQUIRE(shared.size() == expected.size());
      for (std::size_t i = 0; i < shared.size(); ++i) CHECK(relative_l2(shared[i], expected[i]) <= limit);
    }
  }
}

}  // namespace cpu_test
