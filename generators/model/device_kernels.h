#pragma once
// Library kernels for devices, compiled while the program runs (loaded_kernel.h), for runtime/kernels/device_kernels.h.
//
// Programs need not call anything here: linking Saltern::compiler is enough.

#include <string>

#include "runtime/kernels/kernels.h"

namespace saltern::generators {

// For tensors of any size. Throws an Error where the kernel has no GPU mapping.
CompiledKernel device_kernel(Device device, const std::string &kernel);

}  // namespace saltern::generators
