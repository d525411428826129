#pragma once
// Kernels on devices: where they come from, and how they are called.

#include "runtime/kernels/kernels.h"

namespace saltern {

// What compiles kernels for devices; Saltern::compiler sets it when it is linked. Both throw an Error that says why they
// cannot.
struct DeviceSupport {
  const halide_device_interface_t *(*memory)(Device) = nullptr;
  CompiledKernel (*library_kernel)(Device, const std::string &name) = nullptr;
};
void set_device_support(const DeviceSupport &support);

// The memory of a device, once it was tried: an Error names what is missing.
const halide_device_interface_t &memory_of(Device device);

// A library kernel for the device in use; null where that is the CPU, or the CPU is to do it.
const CompiledKernel *find_device_kernel(const CompiledKernel &kernel);

// Whether a device can address the arguments.
bool fits_device(const std::vector<KernelArgument> &arguments);
// Calls a kernel that was compiled for a device. Arguments are where they are needed then, and known to be written.
void call_on_device(const CompiledKernel &kernel, std::vector<KernelArgument> &arguments);
// The CPU did one while a device may be in use.
void count_on_cpu();

}  // namespace saltern
