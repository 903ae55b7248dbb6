// The protobuf runtime in this process.
#pragma once

#include <string>

#include "libcore/base/result.h"

namespace infini {

// "3.21.12": of the headers that this was built with.
std::string protobuf_built_version();
// unsupported, in the runtime's own words: it is not of a version that works with those headers.
Status check_protobuf();

}  // namespace infini
