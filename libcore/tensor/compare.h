// Comparison of what was computed with what was expected.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/tensor/tensor.h"

namespace infini {

// A number a is as expected (b) if |a - b| <= absolute + relative * |b|, in double; complex numbers by their modulus.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

// The element that exceeds its tolerance most, or comes closest to it.
struct WorstElement {
  std::string item;  // "" for a tensor, "2" or "2.0" inside of sequences, optionals and maps
  Extents at;
  std::string actual;
  std::string expected;
};

// Errors are over all elements that are finite on both sides; infinite if one side alone is not.
struct Comparison {
  bool equal = true;
  std::int64_t count = 0;       // elements compared
  std::int64_t mismatches = 0;
  WorstElement worst;           // of no element where count is 0
  double max_absolute = 0;      // |a - b|
  double max_relative = 0;      // |a - b| / |b|, where b is not 0
  double relative_l2 = 0;       // ||a - b|| / ||b||
  double cosine = 1;            // of the angle between a and b; 1 if both are 0
  std::string reason;           // one line, if not equal
};

// Types and shapes must be the same. NaN equals NaN, an infinity the same infinity; bools and strings are exact whatever the
// tolerance; integers of 64 bits are subtracted exactly. Sequences, optionals and maps go item by item.
Comparison compare(const Value& actual, const Value& expected, const Tolerance& tolerance = {});

}  // namespace infini
