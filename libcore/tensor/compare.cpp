#include "libcore/tensor/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "libcore/base/text.h"

namespace infini {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t block_size = 2048;  // numbers at a time: both blocks stay in the first cache
constexpr std::size_t lanes = 8;

// Sums of one block or of all, in double. The order of addition is fixed by the blocks, not by the machine.
struct Sums {
  double difference = 0, actual = 0, expected = 0, product = 0;  // squares, and a * b
  double max_absolute = 0, max_relative = 0, max_expected = 0;

  void add(const Sums& other) {
    difference += other.difference;
    actual += other.actual;
    expected += other.expected;
    product += other.product;
    max_absolute = std::max(max_absolute, other.max_absolute);
    max_relative = std::max(max_relative, other.max_relative);
    max_expected = std::max(max_expected, other.max_expected);
  }
};

// The element of a tensor with the largest excess over its tolerance.
struct Worst {
  double excess = -infinity;
  std::int64_t index = -1;

  void offer(double candidate, std::int64_t at) {
    if (candidate > excess || index < 0) {
      excess = candidate;
      index = at;
    }
  }
};

struct Numbers {
  Sums sums;
  Worst worst;
  std::int64_t mismatches = 0;
};

// Sums of `count` finite pairs, in lanes so that the compiler can use vectors; `excess` becomes the largest. False (and
// nothing of use) if a number is not finite.
bool sum_finite(const double* a, const double* b, std::size_t count, const Tolerance& tolerance, Sums& sums, double& excess) {
  std::array<double, lanes> difference{}, actual{}, expected{}, product{}, absolute{}, relative{}, largest{}, over{};
  over.fill(-infinity);
  for (std::size_t i = 0; i < count; i += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      double x = a[i + j];
      double y = b[i + j];
      double d = std::abs(x - y);
      double size = std::abs(y);
      difference[j] += d * d;
      actual[j] += x * x;
      expected[j] += y * y;
      product[j] += x * y;
      double quotient = size > 0 ? d / size : 0;
      double beyond = d - (tolerance.absolute + tolerance.relative * size);
      absolute[j] = absolute[j] < d ? d : absolute[j];
      relative[j] = relative[j] < quotient ? quotient : relative[j];
      largest[j] = largest[j] < size ? size : largest[j];
      over[j] = over[j] < beyond ? beyond : over[j];
    }
  }
  double total = 0;
  for (std::size_t j = 0; j < lanes; ++j) {
    sums.add({difference[j], actual[j], expected[j], product[j], absolute[j], relative[j], largest[j]});
    excess = std::max(excess, over[j]);
    total += actual[j] + expected[j];
  }
  return std::isfinite(total);
}

class NumberComparer {
 public:
  NumberComparer(const Tolerance& tolerance, double scale) : tolerance_(tolerance), scale_(scale) {}

  // Elements `first` to `first + count`; count is at most block_size, and both arrays have room for a multiple of the lanes.
  void block(double* a, double* b, std::int64_t first, std::size_t count) {
    for (std::size_t i = count; i % lanes != 0; ++i) a[i] = b[i] = 0;
    Sums sums;
    double excess = -infinity;
    if (scale_ == 1 && sum_finite(a, b, (count + lanes - 1) / lanes * lanes, tolerance_, sums, excess)) {
      out_.sums.add(sums);
      // Single elements matter only where some mismatch, or one is the worst so far (a block of equal ones has one as well).
      if (excess > 0 || excess > out_.worst.excess || out_.worst.index < 0) judge(a, b, first, count);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) pair(a[i], b[i], first + static_cast<std::int64_t>(i));
  }

  const Numbers& numbers() const { return out_; }

 private:
  void judge(const double* a, const double* b, std::int64_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      double beyond = std::abs(a[i] - b[i]) - (tolerance_.absolute + tolerance_.relative * std::abs(b[i]));
      if (beyond > 0) ++out_.mismatches;
      out_.worst.offer(beyond, first + static_cast<std::int64_t>(i));
    }
  }

  void pair(double a, double b, std::int64_t index) {
    bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (same) return;
      ++out_.mismatches;
      out_.sums.max_absolute = out_.sums.max_relative = out_.sums.difference = infinity;
      out_.worst.offer(infinity, index);
      return;
    }
    double d = std::abs(a - b);
    double size = std::abs(b);
    double beyond = d - (tolerance_.absolute + tolerance_.relative * size);
    if (beyond > 0) ++out_.mismatches;
    out_.worst.offer(beyond, index);
    double x = a * scale_;
    double y = b * scale_;
    out_.sums.add({(x - y) * (x - y), x * x, y * y, x * y, d, size > 0 ? d / size : 0, size});
  }

  Tolerance tolerance_;
  double scale_;  // of the sums of squares alone; not 1 where they left the range of double
  Numbers out_;
};

// Elements as doubles, `count` from `first` on.
void load_doubles(const Tensor& tensor, std::int64_t first, std::size_t count, double* out) {
  if (tensor.dtype() == DType::f32) {
    std::array<float, block_size> piece;
    std::memcpy(piece.data(), tensor.bytes().data() + static_cast<std::size_t>(first) * sizeof(float), count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) out[i] = piece[i];
    return;
  }
  if (tensor.dtype() == DType::f64) {
    std::memcpy(out, tensor.bytes().data() + static_cast<std::size_t>(first) * sizeof(double), count * sizeof(double));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = tensor.as_double(first + static_cast<std::int64_t>(i));
}

Numbers compare_doubles(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance, double scale) {
  NumberComparer comparer(tolerance, scale);
  std::array<double, block_size> a;
  std::array<double, block_size> b;
  for (std::int64_t first = 0; first < actual.count(); first += static_cast<std::int64_t>(block_size)) {
    std::size_t count = std::min(block_size, static_cast<std::size_t>(actual.count() - first));
    load_doubles(actual, first, count, a.data());
    load_doubles(expected, first, count, b.data());
    comparer.block(a.data(), b.data(), first, count);
  }
  return comparer.numbers();
}

Numbers compare_floats(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  Numbers out = compare_doubles(actual, expected, tolerance, 1);
  double largest = out.sums.max_expected;
  bool left_range = largest > 0 && out.sums.max_absolute < infinity && !(std::isfinite(out.sums.difference + out.sums.actual) && out.sums.expected > 0x1p-900);
  if (left_range) out = compare_doubles(actual, expected, tolerance, 1 / std::max(largest, 0x1p-1000));
  return out;
}

Numbers compare_ints(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  Numbers out;
  bool is_unsigned = is_unsigned_int(actual.dtype());
  bool exact = actual.dtype() == DType::boolean;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    std::int64_t a = actual.as_int(i);
    std::int64_t b = expected.as_int(i);
    auto p = static_cast<std::uint64_t>(a);
    auto q = static_cast<std::uint64_t>(b);
    bool above = is_unsigned ? p > q : a > b;
    auto d = static_cast<double>(above ? p - q : q - p);
    double x = is_unsigned ? static_cast<double>(p) : static_cast<double>(a);
    double y = is_unsigned ? static_cast<double>(q) : static_cast<double>(b);
    double beyond = exact ? d : d - (tolerance.absolute + tolerance.relative * std::abs(y));
    if (beyond > 0) ++out.mismatches;
    out.worst.offer(beyond, i);
    out.sums.add({d * d, x * x, y * y, x * y, d, y != 0 ? d / std::abs(y) : 0, std::abs(y)});
  }
  return out;
}

Numbers compare_complex(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  DType part = actual.dtype() == DType::c64 ? DType::f32 : DType::f64;
  Tensor a = Tensor::view(part, {actual.count() * 2}, actual.bytes(), nullptr);
  Tensor b = Tensor::view(part, {actual.count() * 2}, expected.bytes(), nullptr);
  Numbers out;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    double p = a.as_double(2 * i), q = a.as_double(2 * i + 1), r = b.as_double(2 * i), s = b.as_double(2 * i + 1);
    auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    bool finite = std::isfinite(p) && std::isfinite(q) && std::isfinite(r) && std::isfinite(s);
    if (!finite && same(p, r) && same(q, s)) continue;
    double d = finite ? std::hypot(p - r, q - s) : infinity;
    double size = finite ? std::hypot(r, s) : 0;
    double beyond = d - (tolerance.absolute + tolerance.relative * size);
    if (beyond > 0) ++out.mismatches;
    out.worst.offer(beyond, i);
    out.sums.add({d * d, finite ? p * p + q * q : 0, size * size, finite ? p * r + q * s : 0, d, size > 0 ? d / size : 0, size});
  }
  return out;
}

Numbers compare_strings(const Tensor& actual, const Tensor& expected) {
  Numbers out;
  for (std::int64_t i = 0; i < actual.count(); ++i) {
    auto at = static_cast<std::size_t>(i);
    bool same = actual.strings()[at] == expected.strings()[at];
    if (!same) ++out.mismatches;
    out.worst.offer(same ? 0 : 1, i);
  }
  return out;
}

Extents coordinates(const Extents& extents, std::int64_t index) {
  Extents out(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    out[axis] = index % extents[axis];
    index /= extents[axis];
  }
  return out;
}

std::string shown(const Tensor& tensor, std::int64_t index) {
  DType dtype = tensor.dtype();
  if (dtype == DType::str) return quoted(tensor.strings()[static_cast<std::size_t>(index)]);
  if (dtype == DType::boolean) return text(tensor.as_int(index) != 0);
  if (dtype == DType::u64) return text(static_cast<std::uint64_t>(tensor.as_int(index)));
  if (is_integer(dtype)) return text(tensor.as_int(index));
  if (is_complex(dtype)) {
    DType part = dtype == DType::c64 ? DType::f32 : DType::f64;
    Tensor parts = Tensor::view(part, {tensor.count() * 2}, tensor.bytes(), nullptr);
    return text("(", shown(parts, 2 * index), ",", shown(parts, 2 * index + 1), ")");
  }
  if (dtype == DType::f32) return text(static_cast<float>(tensor.as_double(index)));
  return text(tensor.as_double(index));
}

// Walks both values and gathers one Comparison.
class Comparer {
 public:
  explicit Comparer(const Tolerance& tolerance) : tolerance_(tolerance) {}

  void value(const Value& actual, const Value& expected, const std::string& item) {
    if (actual.held.index() != expected.held.index()) return differs(item, to_string(actual.type()), to_string(expected.type()));
    if (const Tensor* a = actual.tensor()) return tensor(*a, *expected.tensor(), item);
    if (const Sequence* a = actual.sequence()) return items(a->items, expected.sequence()->items, item);
    if (const Optional* a = actual.optional()) {
      const Optional& b = *expected.optional();
      if (!a->item || !b.item) {
        if (a->item || b.item) differs(item, a->item ? "a value" : "no value", b.item ? "a value" : "no value");
        return;
      }
      return value(*a->item, *b.item, inside(item, 0));
    }
    const Map& a = std::get<Map>(actual.held);
    const Map& b = std::get<Map>(expected.held);
    if (a.key != b.key || a.string_keys != b.string_keys || a.int_keys != b.int_keys) return differs(item, "a map", "a map with other keys");
    items(a.items, b.items, item);
  }

  Comparison finish() {
    out_.max_absolute = sums_.max_absolute;
    out_.max_relative = sums_.max_relative;
    double length = std::sqrt(sums_.expected);
    out_.relative_l2 = sums_.difference == 0 ? 0 : length > 0 ? std::sqrt(sums_.difference) / length : infinity;
    double lengths = std::sqrt(sums_.actual) * length;
    out_.cosine = lengths > 0 ? sums_.product / lengths : sums_.actual == sums_.expected ? 1 : 0;
    if (out_.mismatches > 0 && out_.reason.empty()) out_.reason = reason_of_numbers();
    out_.equal = out_.reason.empty();
    return std::move(out_);
  }

 private:
  static std::string inside(const std::string& item, std::size_t index) { return item.empty() ? text(index) : text(item, ".", index); }

  // The first difference of structure is the reason.
  void differs(const std::string& item, const std::string& actual, const std::string& expected) {
    if (!out_.reason.empty()) return;
    out_.reason = text(item.empty() ? "" : text("item ", item, ": "), actual, ", expected ", expected);
  }

  void items(const std::vector<Value>& actual, const std::vector<Value>& expected, const std::string& item) {
    if (actual.size() != expected.size()) return differs(item, text(actual.size(), " items"), text(expected.size()));
    for (std::size_t i = 0; i < actual.size(); ++i) value(actual[i], expected[i], inside(item, i));
  }

  void tensor(const Tensor& actual, const Tensor& expected, const std::string& item) {
    if (actual.dtype() != expected.dtype() || actual.extents() != expected.extents()) {
      return differs(item, to_string(actual.type()), to_string(expected.type()));
    }
    if (actual.count() == 0 || actual.dtype() == DType::none) return;
    Numbers numbers = is_floating(actual.dtype())        ? compare_floats(actual, expected, tolerance_)
                      : is_complex(actual.dtype())       ? compare_complex(actual, expected, tolerance_)
                      : actual.dtype() == DType::str     ? compare_strings(actual, expected)
                                                         : compare_ints(actual, expected, tolerance_);
    out_.count += actual.count();
    out_.mismatches += numbers.mismatches;
    sums_.add(numbers.sums);
    if (numbers.worst.index < 0 || numbers.worst.excess <= worst_excess_) return;
    worst_excess_ = numbers.worst.excess;
    std::int64_t at = numbers.worst.index;
    out_.worst = {item, coordinates(actual.extents(), at), shown(actual, at), shown(expected, at)};
  }

  std::string reason_of_numbers() const {
    const WorstElement& w = out_.worst;
    std::string place = text(w.item.empty() ? "" : text("item ", w.item, " "), to_string(w.at));
    return text(out_.mismatches, " of ", out_.count, out_.count == 1 ? " element differs" : " elements differ", "; worst at ", place, ": ",
                w.actual, ", expected ", w.expected);
  }

  Tolerance tolerance_;
  Comparison out_;
  Sums sums_;
  double worst_excess_ = -infinity;
};

}  // namespace

Comparison compare(const Value& actual, const Value& expected, const Tolerance& tolerance) {
  Comparer comparer(tolerance);
  comparer.value(actual, expected, "");
  return comparer.finish();
}

}  // namespace infini
