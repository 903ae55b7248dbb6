// Layout changes between kernels.
#pragma once

#include "backends/cpu/device.h"
#include "libcore/base/result.h"
#include "libcore/plugin/it_backend.h"

namespace infini::cpu {

// Moves a dense tensor of `type` from one axis order to another; unsupported for blocked layouts and packed element types.
Status reorder(Device& device, const it_tensor& type, const it_layout* from, const void* input, const it_layout* to, void* output);

}  // namespace infini::cpu
