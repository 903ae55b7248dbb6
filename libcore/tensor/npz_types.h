// The member `__dtypes__.json` of npz.h: a JSON object of strings, and the spelling of types in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/tensor/type.h"

namespace infini {

// In the order of the text.
using NpzTypes = std::vector<std::pair<std::string, std::string>>;

std::string write_npz_types(const NpzTypes& types);
// bad_input: not a JSON object of strings, or a name twice.
Result<NpzTypes> parse_npz_types(std::string_view json);

// "f32", "seq(f32)", "optional(seq(str))"; an element whose type is not known is "unknown". Shapes are left out.
std::string npz_type(const Type& type);
Result<Type> parse_npz_type(std::string_view spelling);

}  // namespace infini
