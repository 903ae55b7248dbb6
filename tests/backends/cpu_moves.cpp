// Nodes that move elements on the CPU backend: every result is the very bytes that the ONNX text asks for.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/backends/cpu_case.h"

using namespace cpu_test;
using infini::DType;

namespace {

Doubles counting(std::int64_t n) {
  Doubles x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i % 127));
  return x;
}

// All index tuples of the extents, row-major.
void for_each_index(const Extents& extents, const std::function<void(const Extents&)>& body) {
  for (std::int64_t i = 0; i < count(extents); ++i) {
    Extents index(extents.size());
    std::int64_t rest = i;
    for (std::size_t k = extents.size(); k-- > 0;) {
      index[k] = rest % extents[k];
      rest /= extents[k];
    }
    body(index);
  }
}

double at(const Extents& extents, const Doubles& data, const Extents& index) {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < extents.size(); ++k) place = place * extents[k] + index[k];
  return data[static_cast<std::size_t>(place)];
}

constexpr DType widths[] = {DType::u8, DType::i16, DType::f32, DType::i64};

}  // namespace

TEST_CASE("cpu: Transpose of every order and element width") {
  for (const auto& [extents, perm] : std::vector<std::pair<Extents, Extents>>{{{3, 5}, {1, 0}}, {{2, 3, 4}, {0, 2, 1}}, {{2, 3, 4}, {2, 1, 0}}, {{2, 3, 4, 5}, {0, 2, 1, 3}},
                                                                              {{2, 3, 4, 5}, {0, 3, 1, 2}}, {{1, 12, 64, 33}, {0, 1, 3, 2}}, {{70, 50}, {1, 0}}, {{4}, {0}},
                                                                              {{2, 1, 3, 1, 5}, {4, 3, 2, 1, 0}}, {{0, 3}, {1, 0}}})
    for (DType dtype : widths) {
      Doubles x = counting(count(extents)), y;
      Extents turned;
      for (std::int64_t p : perm) turned.push_back(extents[static_cast<std::size_t>(p)]);
      for_each_index(turned, [&, e = extents, order = perm](const Extents& index) {
        Extents from(index.size());
        for (std::size_t k = 0; k < index.size(); ++k) from[static_cast<std::size_t>(order[k])] = index[k];
        y.push_back(at(e, x, from));
      });
      Case c;
      int a = c.input(extents, x, dtype), b = c.value(turned, dtype);
      c.node("Transpose", {a}, {b}, {{"perm", perm}});
      c.output(b);
      check_exact(c, {y});
    }
}

TEST_CASE("cpu: Slice with steps and negative numbers, Expand, Tile") {
  Extents e{4, 5, 6, 7};
  Doubles x = counting(count(e));
  for (bool back : {false, true}) {
    // axis 1: 1..5 step 2 (or 4..0 step -2), axis -1: 2..INT64_MAX
    Extents turned{4, 2, 6, 5};
    Doubles y;
    for_each_index(turned, [&](const Extents& i) { y.push_back(at(e, x, {i[0], back ? 4 - 2 * i[1] : 1 + 2 * i[1], i[2], 2 + i[3]})); });
    Case c;
    double highest = 9.2e18;
    int a = c.input(e, x), starts = c.constant({2}, {back ? -1.0 : 1.0, 2}, DType::i64), ends = c.constant({2}, {back ? 0.0 : 5.0, highest}, DType::i64);
    int axes = c.constant({2}, {1, -1}, DType::i64), steps = c.constant({2}, {back ? -2.0 : 2.0, 1}, DType::i64), b = c.value(turned);
    c.node("Slice", {a, starts, ends, axes, steps}, {b});
    c.output(b);
    check_exact(c, {y});
  }
  Extents wide{4, 5, 6, 7}, narrow{5, 1, 7};
  Doubles small = counting(35), y;
  for_each_index(wide, [&](const Extents& i) { y.push_back(at(narrow, small, {i[1], 0, i[3]})); });
  Case c;
  int a = c.input(narrow, small), shape = c.constant({4}, {4, 5, 6, 7}, DType::i64), b = c.value(wide);
  c.node("Expand", {a, shape}, {b});
  c.output(b);
  check_exact(c, {y});
  Extents tiled{4, 9, 2};
  Doubles z;
  for_each_index(tiled, [&](const Extents& i) { z.push_back(at({2, 3, 2}, x, {i[0] % 2, i[1] % 3, i[2]})); });
  Case t;
  a = t.input({2, 3, 2}, Doubles(x.begin(), x.begin() + 12)), shape = t.constant({3}, {2, 3, 1}, DType::i64), b = t.value(tiled);
  t.node("Tile", {a, shape}, {b});
  t.output(b);
  check_exact(t, {z});
}

TEST_CASE("cpu: Slice with steps beyond the axis takes one element, Tile by 0 none") {
  for (double step : {-0x1p63, 9.2e18}) {
    Case c;
    int a = c.input({2, 3}, counting(6)), starts = c.constant({1}, {1}, DType::i64), ends = c.constant({1}, {step < 0 ? -9.0 : 9.0}, DType::i64);
    int axes = c.constant({1}, {1}, DType::i64), steps = c.constant({1}, {step}, DType::i64), b = c.value({2, 1});
    c.node("Slice", {a, starts, ends, axes, steps}, {b});
    c.output(b);
    check_exact(c, {{1, 4}});
  }
  Case c;
  int a = c.input({2, 3}, counting(6)), repeats = c.constant({2}, {0, 5}, DType::i64), b = c.value({0, 15});
  c.node("Tile", {a, repeats}, {b});
  c.output(b);
  check_exact(c, {{}});
}

TEST_CASE("cpu: DepthToSpace and SpaceToDepth undo each other as ONNX orders them") {
  Extents e{2, 8, 3, 2}, spread{2, 2, 6, 4};
  Doubles x = counting(count(e));
  for (const char* mode : {"DCR", "CRD"}) {
    Doubles y;
    for_each_index(spread, [&](const Extents& i) {
      std::int64_t block = i[2] % 2 * 2 + i[3] % 2, channel = std::string(mode) == "DCR" ? block * 2 + i[1] : i[1] * 4 + block;
      y.push_back(at(e, x, {i[0], channel, i[2] / 2, i[3] / 2}));
    });
    Case c;
    int a = c.input(e, x), b = c.value(spread);
    c.node("DepthToSpace", {a}, {b}, {{"blocksize", 2}, {"mode", std::string(mode)}});
    c.output(b);
    check_exact(c, {y});
    if (std::string(mode) != "DCR") continue;
    Case back;
    a = back.input(spread, y), b = back.value(e);
    back.node("SpaceToDepth", {a}, {b}, {{"blocksize", 2}});
    back.output(b);
    check_exact(back, {x});
  }
}

TEST_CASE("cpu: Concat and Split over every axis") {
  for (std::int64_t axis : {0, 1, 2, -1})
    for (DType dtype : widths) {
      Extents e{4, 6, 3, 5}, parts[3] = {e, e, e};
      std::size_t k = static_cast<std::size_t>(axis < 0 ? axis + 4 : axis);
      parts[0][k] = 1, parts[1][k] = 2, parts[2][k] = 4;
      e[k] = 7;
      Doubles whole = counting(count(e)), pieces[3];
      for_each_index(e, [&](const Extents& i) { pieces[i[k] < 1 ? 0 : i[k] < 3 ? 1 : 2].push_back(at(e, whole, i)); });
      Case c;
      std::vector<int> ins;
      for (int p = 0; p < 3; ++p) ins.push_back(p == 1 ? c.constant(parts[p], pieces[p], dtype) : c.input(parts[p], pieces[p], dtype));
      int y = c.value(e, dtype);
      c.node("Concat", ins, {y}, {{"axis", axis}});
      c.output(y);
      check_exact(c, {whole});
      Case s;
      int x = s.input(e, whole, dtype), sizes = s.constant({3}, {1, 2, 4}, DType::i64);
      std::vector<int> outs;
      for (const Extents& part : parts) outs.push_back(s.value(part, dtype)), s.output(outs.back());
      s.node("Split", {x, sizes}, outs, {{"axis", axis}});
      check_exact(s, {pieces[0], pieces[1], pieces[2]});
    }
}

TEST_CASE("cpu: Pad with a constant, also by negative amounts and on some axes") {
  Extents e{2, 3, 4, 5};
  Doubles x = counting(count(e));
  Extents wide{2, 6, 2, 7};  // channels 1 and 2 more, rows cut by 1 and 1, columns 0 and 2 more
  Doubles y;
  for_each_index(wide, [&](const Extents& i) {
    bool inside = i[1] >= 1 && i[1] < 4 && i[3] < 5;
    y.push_back(inside ? at(e, x, {i[0], i[1] - 1, i[2] + 1, i[3]}) : 9.0);
  });
  for (bool some : {false, true}) {
    Case c;
    int a = c.input(e, x), b = c.value(wide), value = c.constant({}, {9});
    int pads = some ? c.constant({6}, {-1, 1, 0, -1, 2, 2}, DType::i64) : c.constant({8}, {0, 1, -1, 0, 0, 2, -1, 2}, DType::i64);
    std::vector<int> ins{a, pads, value};
    if (some) ins.push_back(c.constant({3}, {2, 1, -1}, DType::i64));
    c.node("Pad", ins, {b}, {{"mode", std::string("constant")}});
    c.output(b);
    check_exact(c, {y});
  }
}

TEST_CASE("cpu: Pad that reflects, repeats the edge or wraps around, also several times and by negative amounts") {
  auto source = [](const std::string& mode, std::int64_t i, std::int64_t n) {
    if (mode == "edge") return i < 0 ? 0 : i >= n ? n - 1 : i;
    while (i < 0 || i >= n) i = mode == "wrap" ? (i < 0 ? i + n : i - n) : n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  Extents e{1, 3, 4, 5};
  for (const std::string mode : {"reflect", "edge", "wrap"})
    for (const Extents& pads : {Extents{0, 0, 2, 3, 0, 0, 1, 4}, Extents{0, 1, -1, 0, 0, 2, 0, 9}, Extents{2, 0, 0, -2, 0, 7, -3, 12}, Extents{0, 0, 0, -4, 0, 0, 0, 0}})
      for (DType dtype : widths) {
        Doubles x = counting(count(e)), y;
        Extents padded;
        for (std::size_t k = 0; k < 4; ++k) padded.push_back(e[k] + pads[k] + pads[k + 4]);
        for_each_index(padded, [&](const Extents& i) {
          Extents from;
          for (std::size_t k = 0; k < 4; ++k) from.push_back(source(mode, i[k] - pads[k], e[k]));
          y.push_back(at(e, x, from));
        });
        Case c;
        int a = c.input(e, x, dtype), amounts = c.constant({8}, Doubles(pads.begin(), pads.end()), DType::i64), b = c.value(padded, dtype);
        c.node("Pad", {a, amounts}, {b}, {{"mode", mode}});
        c.output(b);
        check_exact(c, {y}, mode.c_str());
      }
}

TEST_CASE("cpu: ScatterElements and ScatterND replace and combine; an index outside is an error") {
  using Combine = double (*)(double, double);
  const std::vector<std::pair<std::string, Combine>> reductions = {{"none", [](double, double b) { return b; }},
                                                                   {"add", [](double a, double b) { return a + b; }},
                                                                   {"mul", [](double a, double b) { return a * b; }},
                                                                   {"max", [](double a, double b) { return std::max(a, b); }},
                                                                   {"min", [](double a, double b) { return std::min(a, b); }}};
  Extents e{3, 4, 2}, few{2, 3, 2};
  Doubles rows{0, -1, 2, 2, 1, -3, 0, 0, -2, 1, 2, 0};  // each of 12 updates goes to one of 3 rows
  for (const auto& [reduction, combine] : reductions)
    for (DType dtype : {DType::f32, DType::i64, DType::u8, DType::f16, DType::f64})
      for (DType index : {DType::i32, DType::i64}) {
        Doubles x(24, 2.0), updates{1, 2, 3, 4, 5, 6, 7, 3, 2, 1, 2, 3}, y = x;
        std::size_t number = 0;
        Combine combined = combine;
        for_each_index(few, [&](const Extents& i) {
          std::int64_t row = static_cast<std::int64_t>(rows[number]);
          double& place = y[static_cast<std::size_t>(((row < 0 ? row + 3 : row) * 4 + i[1]) * 2 + i[2])];
          place = combined(place, updates[number++]);
        });
        Case c;
        int a = c.input(e, x, dtype), i = c.input(few, rows, index), u = c.constant(few, updates, dtype), b = c.value(e, dtype);
        c.node("ScatterElements", {a, i, u}, {b}, {{"axis", std::int64_t{0}}, {"reduction", reduction}});
        c.output(b);
        check_exact(c, {y}, reduction.c_str());
      }
  for (const auto& [reduction, combine] : reductions) {
    Doubles x = counting(24), updates = counting(8), y = x;  // slices of 2 at [0,3], [2,1], [2,1], [-1,-4]
    const std::size_t begins[] = {6, 18, 18, 16};
    for (std::size_t v = 0; v < 4; ++v)
      for (std::size_t k = 0; k < 2; ++k) y[begins[v] + k] = combine(y[begins[v] + k], updates[2 * v + k]);
    Case c;
    int a = c.input(e, x), i = c.input({2, 2, 2}, {0, 3, 2, 1, 2, 1, -1, -4}, DType::i64), u = c.input({2, 2, 2}, updates), b = c.value(e);
    c.node("ScatterND", {a, i, u}, {b}, {{"reduction", reduction}});
    c.output(b);
    check_exact(c, {y}, reduction.c_str());
  }
  Device device("threads=2");
  Case c;
  int a = c.input({3, 2}, counting(6)), i = c.input({1, 2}, {1, 3}, DType::i64), u = c.input({1, 2}, {0, 0}), b = c.value({3, 2});
  c.node("ScatterElements", {a, i, u}, {b}, {{"axis", std::int64_t{0}}, {"reduction", std::string("none")}});
  c.output(b);
  std::string error;
  CHECK(c.run(device, c.offers(device)[0], &error).empty());
  CHECK(error == "index 3 is outside axis 0 of data, which has 3 elements");
}

TEST_CASE("cpu: ConstantOfShape, and Dropout whose mask is wanted") {
  Case zeros;
  int shape = zeros.constant({3}, {3, 200, 300}, DType::i64), made = zeros.value({3, 200, 300});
  zeros.node("ConstantOfShape", {shape}, {made});
  zeros.output(made);
  check_exact(zeros, {Doubles(180000, 0.0)});
  Case dropout;
  int x = dropout.input({2, 3, 4}, counting(24)), y = dropout.value({2, 3, 4}), mask = dropout.value({2, 3, 4}, DType::boolean);
  dropout.node("Dropout", {x}, {y, mask});
  dropout.output(y);
  dropout.output(mask);
  check_exact(dropout, {counting(24), Doubles(24, 1.0)});
}

TEST_CASE("cpu: Gather along any axis; an index outside is an error") {
  for (std::int64_t axis : {0, 1, -1})
    for (DType index : {DType::i32, DType::i64})
      for (bool constant : {false, true}) {
        Extents e{5, 6, 7}, turned = e;
        std::size_t k = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
        turned.erase(turned.begin() + static_cast<std::ptrdiff_t>(k));
        turned.insert(turned.begin() + static_cast<std::ptrdiff_t>(k), {2, 2});
        Doubles x = counting(count(e)), picks{4, -1, 0, 2}, y;
        for_each_index(turned, [&](const Extents& i) {
          Extents from;
          for (std::size_t d = 0; d < 3; ++d) from.push_back(d < k ? i[d] : d > k ? i[d + 1] : 0);
          double pick = picks[static_cast<std::size_t>(i[k] * 2 + i[k + 1])];
          from[k] = static_cast<std::int64_t>(pick) + (pick < 0 ? e[k] : 0);
          y.push_back(at(e, x, from));
        });
        Case c;
        int a = constant ? c.constant(e, x) : c.input(e, x), i = c.input({2, 2}, picks, index), b = c.value(turned);
        c.node("Gather", {a, i}, {b}, {{"axis", axis}});
        c.output(b);
        check_exact(c, {y});
      }
  Device device("threads=2");
  Case c;
  int a = c.input({3, 2}, counting(6)), i = c.input({2}, {1, 3}, DType::i64), b = c.value({2, 2});
  c.node("Gather", {a, i}, {b}, {{"axis", 0}});
  c.output(b);
  std::string error;
  CHECK(c.run(device, c.offers(device)[0], &error).empty());
  CHECK(error == "Gather: index 3 (number 1) is outside an axis of 3");
}

TEST_CASE("cpu: views hand their operand on") {
  Doubles x = counting(24);
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"}) {
    Case c;
    bool same = std::string(op) == "Identity" || std::string(op) == "Dropout";
    int a = c.input({2, 3, 4}, x), shape = c.input({2}, {6, 4}, DType::i64), y = c.value(same ? Extents{2, 3, 4} : Extents{6, 4});
    c.node(op, std::string(op) == "Reshape" ? std::vector<int>{a, shape} : std::vector<int>{a}, {y});
    c.output(y);
    check_exact(c, {x}, op);
  }
}
