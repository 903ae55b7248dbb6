#include "libcore/tensor/generate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "libcore/base/text.h"
#include "libcore/tensor/element.h"
#include "libcore/tensor/random.h"

namespace infini {
namespace {

// The integers that `dtype` (an integer or bool) holds, as far as int64 can say.
std::int64_t least(DType dtype) { return is_signed_int(dtype) ? -(std::int64_t{1} << (info(dtype).bits - 2)) * 2 : 0; }
std::int64_t greatest(DType dtype) {
  if (dtype == DType::boolean) return 1;
  int bits = info(dtype).bits - (is_signed_int(dtype) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}
bool is_whole(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

Status check_bounds(DType dtype, std::int64_t low, std::int64_t high) {
  if (!is_whole(dtype) || (low >= least(dtype) && high <= greatest(dtype))) return {};
  return usage_error(text("values from ", low, " to ", high, " do not fit ", name(dtype)));
}

// ---- literals

Error unfit(DType dtype, const std::string& element) { return usage_error(text(quoted(element), " is not a value of type ", name(dtype))); }

bool parse_large(const std::string& element, std::uint64_t& out) {
  const char* end = element.data() + element.size();
  auto [at, error] = std::from_chars(element.data(), end, out);
  return !element.empty() && error == std::errc() && at == end;
}

Status put_whole(TensorWriter& writer, std::int64_t index, const std::string& element) {
  DType dtype = writer.tensor().dtype();
  std::int64_t value = 0;
  std::uint64_t large = 0;
  double real = 0;
  if (element == "true" || element == "false") {
    value = element == "true" ? 1 : 0;
  } else if (parse_int(element, value)) {
  } else if (dtype == DType::u64 && parse_large(element, large)) {
    writer.set_int(index, static_cast<std::int64_t>(large));
    return {};
  } else if (parse_double(element, real) && real == std::trunc(real) && std::abs(real) < 0x1p63) {
    value = static_cast<std::int64_t>(real);
  } else {
    return unfit(dtype, element);
  }
  if (value < least(dtype) || value > greatest(dtype)) return unfit(dtype, element);
  writer.set_int(index, value);
  return {};
}

Status put_element(TensorWriter& writer, std::int64_t index, const std::string& element) {
  DType dtype = writer.tensor().dtype();
  if (dtype == DType::str) {
    writer.strings()[static_cast<std::size_t>(index)] = element;
    return {};
  }
  if (is_whole(dtype)) return put_whole(writer, index, element);
  double value = 0;
  if (!parse_double(element, value)) return unfit(dtype, element);
  writer.set_double(index, value);
  return {};
}

Status fill_literal(const ValueSpec& spec, TensorWriter& writer) {
  const Tensor& tensor = writer.tensor();
  bool flat = spec.extents.size() == 1 && spec.extents[0] == tensor.count();
  if (!spec.fills && spec.extents != tensor.extents() && !flat) {
    return usage_error(text("a literal of shape ", to_string(spec.extents), " does not suit ", to_string(tensor.type())));
  }
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    IT_TRY_VOID(put_element(writer, i, spec.elements[spec.fills ? 0 : static_cast<std::size_t>(i)]));
  }
  return {};
}

// ---- drawn and counted values

// Sets all elements to draw(counter), a double.
template <class Draw>
void fill_real(TensorWriter& writer, const Draw& draw) {
  const Tensor& tensor = writer.tensor();
  DType dtype = tensor.dtype();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    auto counter = static_cast<std::uint64_t>(i);
    if (dtype == DType::str) {
      writer.strings()[static_cast<std::size_t>(i)] = text(draw(counter));
    } else if (is_complex(dtype)) {
      DType part = dtype == DType::c64 ? DType::f32 : DType::f64;
      store_bits(part, writer.bytes(), 2 * i, encode_float(part, draw(2 * counter)));
      store_bits(part, writer.bytes(), 2 * i + 1, encode_float(part, draw(2 * counter + 1)));
    } else {
      writer.set_double(i, is_whole(dtype) ? std::floor(draw(counter)) : draw(counter));
    }
  }
}

template <class Draw>
void fill_whole(TensorWriter& writer, const Draw& draw) {
  const Tensor& tensor = writer.tensor();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::int64_t value = draw(static_cast<std::uint64_t>(i));
    if (tensor.dtype() == DType::str) {
      writer.strings()[static_cast<std::size_t>(i)] = text(value);
    } else {
      writer.set_int(i, value);
    }
  }
}

Status fill_uniform(const ValueSpec& spec, const RandomNumbers& random, TensorWriter& writer) {
  DType dtype = writer.tensor().dtype();
  IT_TRY_VOID(check_bounds(dtype, truncate_to_int(std::floor(spec.first)), truncate_to_int(std::ceil(spec.second) - 1)));
  DType part = dtype == DType::c64 ? DType::f32 : dtype;
  double width = spec.second - spec.first;
  fill_real(writer, [&](std::uint64_t counter) {
    double offset = width * random.unit(counter);
    double value = spec.first + offset;
    // Rounding to a narrow type can reach the bound, which is excluded.
    bool reaches = is_floating(part) ? round_to(part, value) >= spec.second : value >= spec.second;
    return reaches ? spec.first : value;
  });
  return {};
}

Status fill_drawn(const ValueSpec& spec, const GenerateOptions& options, TensorWriter& writer) {
  RandomNumbers random(options.seed, options.name);
  DType dtype = writer.tensor().dtype();
  if (spec.kind == ValueKind::uniform) return fill_uniform(spec, random, writer);
  if (spec.kind == ValueKind::normal) {
    fill_real(writer, [&](std::uint64_t counter) {
      double offset = spec.second * random.normal(counter);
      return spec.first + offset;
    });
  } else if (spec.kind == ValueKind::mask) {
    fill_whole(writer, [&](std::uint64_t counter) { return random.unit(counter) < spec.first ? 1 : 0; });
  } else {
    bool index = spec.kind == ValueKind::index;
    std::int64_t low = index ? 0 : spec.low;
    std::int64_t high = index ? std::max<std::int64_t>(options.index_limit, 1) : spec.high;
    if (index && is_whole(dtype) && high - 1 > greatest(dtype)) high = greatest(dtype);
    IT_TRY_VOID(check_bounds(dtype, low, high - 1));
    std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    fill_whole(writer, [&](std::uint64_t counter) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + random.below(count, counter));
    });
  }
  return {};
}

}  // namespace

Result<Tensor> generate(const ValueSpec& spec, DType dtype, const Extents& extents, const GenerateOptions& options) {
  IT_TRY(TensorWriter writer, TensorWriter::make(dtype, extents));
  switch (spec.kind) {
    case ValueKind::zeros: break;
    case ValueKind::iota: fill_whole(writer, [](std::uint64_t counter) { return static_cast<std::int64_t>(counter); }); break;
    case ValueKind::literal: IT_TRY_VOID(fill_literal(spec, writer)); break;
    case ValueKind::uniform:
    case ValueKind::normal:
    case ValueKind::randint:
    case ValueKind::index:
    case ValueKind::mask: IT_TRY_VOID(fill_drawn(spec, options, writer)); break;
  }
  return std::move(writer).finish();
}

}  // namespace infini
