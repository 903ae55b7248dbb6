#include "libcore/tensor/npy_text.h"

#include <array>

namespace infini {
namespace {

constexpr char32_t escape = 0xdc00;

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

// Length of the well-formed sequence at the start of `text` (Unicode 15, table 3-7), 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < length; ++i) {
    unsigned next = byte_at(text, i);
    if (next < (i == 1 ? low : 0x80) || next > (i == 1 ? high : 0xbf)) return 0;
  }
  return length;
}

}  // namespace

std::u32string to_utf32(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = sequence_length(text);
    if (length == 0) {
      out += static_cast<char32_t>(escape + byte_at(text, 0));
      text.remove_prefix(1);
      continue;
    }
    constexpr std::array<unsigned, 5> lead_bits = {0, 0x7f, 0x1f, 0x0f, 0x07};
    char32_t point = byte_at(text, 0) & lead_bits[length];
    for (std::size_t i = 1; i < length; ++i) point = point << 6 | (byte_at(text, i) & 0x3f);
    out += point;
    text.remove_prefix(length);
  }
  return out;
}

std::optional<std::string> to_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  for (char32_t point : text) {
    if (point >= escape + 0x80 && point <= escape + 0xff) {
      put(point - escape);
    } else if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      return std::nullopt;
    } else if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | point >> 6);
      put(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
      put(0xe0 | point >> 12);
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    } else {
      put(0xf0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3f));
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    }
  }
  return out;
}

}  // namespace infini
