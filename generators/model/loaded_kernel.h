#pragma once
// Kernels that are compiled while the program runs. Each is a shared library in the cache (cache.h), for the CPU at hand
// and one device, and needs a C compiler to link with.

#include <functional>
#include <string>

#include "runtime/kernels/kernels.h"

namespace saltern::generators {

// Writes an object file with the function `symbol` in it; the target is as Halide spells it.
using WriteObject = std::function<void(const std::string &target, const std::string &symbol, const std::string &file)>;

// Takes the kernel from the cache, where it is kept on the shelf by its key, or compiles it first. It stays loaded as long
// as the program runs. Throws an Error where it cannot be made.
CompiledKernel loaded_kernel(const std::string &name, const std::string &shelf, const std::string &key, Device device,
                             const WriteObject &write);

// The memory of a device, by Halide's run-time support for it, which all of its kernels share.
const halide_device_interface_t *device_memory(Device device);

}  // namespace saltern::generators
