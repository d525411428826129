#pragma once
// The device that kernels run on.
//
//   const UseDevice device(Device::opencl);  // an Error says what is missing
//   const Tensor y = net(x).value();         // library kernels and formulas run there, the CPU does the rest
//
// A kernel is compiled for a device when it is called there first, by Saltern::compiler, and kept on disk; which kernels
// can be, their declarations say (docs/gpu-kernels.md). Tensors stay on the device between kernels, and come back when
// somebody looks at their elements (runtime/tensor/storage.h). Memory that somebody else owns, and tensors that begin
// inside of another's memory, are copied for each kernel.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "runtime/temporarily.h"

namespace saltern {

enum class Device { cpu, opencl, cuda };

std::string_view name(Device device);
Device device(std::string_view name);

// The one that kernels are called for: the CPU unless another is set.
Device device_in_use();

// While it lives, kernels run on this device where they can. Not for concurrent use.
struct UseDevice : Temporarily<Device, std::atomic<Device>> {
  explicit UseDevice(Device device);
};

// Where kernels ran so far while another device than the CPU was in use,
struct DeviceCounts {
  int64_t on_device = 0, on_cpu = 0;
};
DeviceCounts device_counts();
// and why each of those that ran on the CPU did so.
std::map<std::string, std::string> kernels_without_device();

}  // namespace saltern
