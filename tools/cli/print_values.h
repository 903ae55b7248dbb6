// Values for people, one line each or their elements; numbers for programs.
#pragma once

#include <string>
#include <string_view>

#include "libcore/tensor/tensor.h"

namespace infini::cli {

// A number as JSON; those that JSON does not have are "inf", "-inf" and "nan".
std::string json_double(double value);

// Of the elements that are numbers; without any, min is infinite, max minus that, and the mean NaN.
struct Statistics {
  double min = 0, max = 0, mean = 0;
  std::int64_t not_numbers = 0;  // elements that are NaN
};
bool has_statistics(const Tensor& tensor);  // no strings, no complex numbers
Statistics statistics(const Tensor& tensor);

// "y f32[1,10] min -3.2 max 5.1 mean 0.04".
std::string summary_line(std::string_view name, const Value& value);
// Name, type and all elements, the middle of long ones left out: "y f32[2,3] = [[1, 2, 3], [4, 5, 6]]".
std::string printed(std::string_view name, const Value& value, std::size_t max_elements);

}  // namespace infini::cli
