// Values for people: one line each, or their elements.
#pragma once

#include <string>
#include <string_view>

#include "libcore/tensor/tensor.h"

namespace infini::cli {

// "y f32[1,10] min -3.2 max 5.1 mean 0.04".
std::string summary_line(std::string_view name, const Value& value);
// Name, type and all elements, the middle of long ones left out: "y f32[2,3] = [[1, 2, 3], [4, 5, 6]]".
std::string printed(std::string_view name, const Value& value, std::size_t max_elements);

}  // namespace infini::cli
