#include "tools/cli/print_values.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"

namespace infini::cli {
namespace {

std::string element(const Tensor& tensor, std::int64_t i) {
  if (tensor.dtype() == DType::str) return infini::quoted(tensor.strings()[static_cast<std::size_t>(i)]);
  if (tensor.dtype() == DType::boolean) return tensor.as_int(i) ? "true" : "false";
  if (tensor.dtype() == DType::u64) return text(static_cast<std::uint64_t>(tensor.as_int(i)));
  if (is_integer(tensor.dtype())) return text(tensor.as_int(i));
  double value = tensor.as_double(i);
  return tensor.dtype() == DType::f64 ? text(value) : text(static_cast<float>(value));
}

// Elements [begin, end) of the axes from `axis` on, in brackets.
void append(const Tensor& tensor, std::size_t axis, std::int64_t begin, std::size_t& left, std::string& out) {
  if (axis == tensor.rank()) {
    out += element(tensor, begin);
    if (left > 0) --left;
    return;
  }
  std::int64_t stride = 1;
  for (std::size_t a = axis + 1; a < tensor.rank(); ++a) stride *= tensor.extents()[a];
  out += '[';
  for (std::int64_t i = 0; i < tensor.extents()[axis]; ++i) {
    if (i > 0) out += ", ";
    if (left == 0) {
      out += "...";
      break;
    }
    append(tensor, axis + 1, begin + i * stride, left, out);
  }
  out += ']';
}

std::string statistics_text(const Tensor& tensor) {
  Statistics found = statistics(tensor);
  std::int64_t numbers = tensor.count() - found.not_numbers;
  if (numbers == 0) return found.not_numbers ? text(" all ", found.not_numbers, " are NaN") : " empty";
  auto shown = [](double value) { return text(static_cast<float>(value)); };
  return text(" min ", shown(found.min), " max ", shown(found.max), " mean ", shown(found.mean), found.not_numbers ? text(" NaN ", found.not_numbers) : "");
}

}  // namespace

std::string json_double(double value) { return std::isfinite(value) ? text(value) : json_text(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"); }

bool has_statistics(const Tensor& tensor) { return tensor.dtype() != DType::str && !is_complex(tensor.dtype()); }

Statistics statistics(const Tensor& tensor) {
  Statistics out{.min = INFINITY, .max = -INFINITY};
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    double value = tensor.as_double(i);
    if (std::isnan(value)) {
      ++out.not_numbers;
      continue;
    }
    out.min = std::min(out.min, value);
    out.max = std::max(out.max, value);
    sum += value;
  }
  out.mean = sum / static_cast<double>(tensor.count() - out.not_numbers);
  return out;
}

std::string summary_line(std::string_view written, const Value& value) {
  std::string name = printable(written);
  const Tensor* tensor = value.tensor();
  if (const Sequence* sequence = value.sequence()) return text(name, " ", to_string(value.type()), " of ", sequence->items.size());
  if (!tensor || !has_statistics(*tensor)) return text(name, " ", to_string(value.type()));
  return text(name, " ", to_string(value.type()), statistics_text(*tensor));
}

std::string printed(std::string_view name, const Value& value, std::size_t max_elements) {
  std::string out = text(printable(name), " ", to_string(value.type()));
  if (const Sequence* sequence = value.sequence()) {
    for (std::size_t i = 0; i < sequence->items.size(); ++i) out += "\n  " + printed(text(i), sequence->items[i], max_elements);
    return out;
  }
  if (const Optional* optional = value.optional()) return optional->item ? out + "\n  " + printed("item", *optional->item, max_elements) : out + " empty";
  const Tensor* tensor = value.tensor();
  if (!tensor || is_complex(tensor->dtype())) return out;
  out += " = ";
  append(*tensor, 0, 0, max_elements, out);
  return out;
}

}  // namespace infini::cli
