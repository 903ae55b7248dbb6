// Resize of the CPU backend: the examples of the ONNX operator text.
#include <doctest/doctest.h>

#include <string>

#include "tests/backends/cpu_case.h"

using namespace cpu_test;

namespace {

void check_resize(const Extents& in, const Doubles& x, const Extents& out, const Doubles& y, const Doubles& scales, std::vector<Attribute> attributes) {
  Case c;
  int a = c.input(in, x), b = c.value(out);
  if (scales.empty()) c.node("Resize", {a, -1, -1, c.constant({4}, Doubles(out.begin(), out.end()), infini::DType::i64)}, {b}, std::move(attributes));
  else c.node("Resize", {a, -1, c.constant({4}, scales)}, {b}, std::move(attributes));
  c.output(b);
  check_all(c, {y});
}

}  // namespace

TEST_CASE("cpu: Resize, nearest and linear") {
  const std::string nearest = "nearest", linear = "linear";
  check_resize({1, 1, 2, 2}, {1, 2, 3, 4}, {1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}, {1, 1, 2, 3}, {{"mode", nearest}});
  check_resize({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 2}, {1, 3}, {1, 1, 0.6, 0.6}, {{"mode", nearest}});
  check_resize({1, 1, 2, 2}, {1, 2, 3, 4}, {1, 1, 4, 4}, {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}, {1, 1, 2, 2}, {{"mode", linear}});
  check_resize({1, 1, 2, 2}, {1, 2, 3, 4}, {1, 1, 4, 4},
               {1, 4.0 / 3, 5.0 / 3, 2, 5.0 / 3, 2, 7.0 / 3, 8.0 / 3, 7.0 / 3, 8.0 / 3, 3, 10.0 / 3, 3, 10.0 / 3, 11.0 / 3, 4}, {1, 1, 2, 2},
               {{"mode", linear}, {"coordinate_transformation_mode", std::string("align_corners")}});
  check_resize({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 2}, {2.6666665, 4.3333331}, {1, 1, 0.6, 0.6}, {{"mode", linear}});
  check_resize({1, 1, 2, 2}, {1, 2, 3, 4}, {1, 1, 4, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}, {},
               {{"mode", nearest}, {"coordinate_transformation_mode", std::string("asymmetric")}, {"nearest_mode", std::string("floor")}});
  Doubles x = noise(2 * 5 * 9, 1), y;
  for (std::int64_t plane = 0; plane < 10; ++plane)
    for (std::int64_t i = 0; i < 36; ++i) y.push_back(x[static_cast<std::size_t>(plane * 9 + i / 6 / 2 * 3 + i % 6 / 2)]);
  check_resize({2, 5, 3, 3}, x, {2, 5, 6, 6}, y, {1, 1, 2, 2}, {{"mode", nearest}, {"coordinate_transformation_mode", std::string("asymmetric")}, {"nearest_mode", std::string("floor")}});
}
