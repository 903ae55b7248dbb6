// The header of a .npy file: NumPy's format versions 1.0, 2.0 and 3.0
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "libcore/base/result.h"
#include "libcore/tensor/dim.h"

namespace infini {

inline constexpr std::size_t most_npy_axes = 64;  // as many as NumPy has

// How one element lies in the file.
struct NpyDescr {
  char kind = 'f';      // f i u b c U S V
  std::size_t size = 0; // bytes of one element (U: 4 per character)
  bool swapped = false; // most significant byte first
};

struct NpyHeader {
  NpyDescr descr;
  bool fortran_order = false;
  Extents shape;
  std::size_t data_offset = 0;  // bytes from the start of the file
};

// bad_input: not npy, truncated, malformed. unsupported: objects, records, dates, long doubles.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes);

// Everything before the data, a multiple of 64 bytes. descr: as NumPy spells it, "<f4".
std::string npy_header(const std::string& descr, const Extents& shape);

}  // namespace infini
