// Strings between UTF-8 and the UTF-32 of NumPy's 'U' elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace infini {

// Code points of `text`; a byte b that is not part of valid UTF-8 becomes U+DC00 + b.
std::u32string to_utf32(std::string_view text);
// UTF-8 of `text`, U+DC80 to U+DCFF as single bytes; nothing if a number is no code point or another surrogate.
std::optional<std::string> to_utf8(std::u32string_view text);

}  // namespace infini
