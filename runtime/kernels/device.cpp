#include "runtime/kernels/device.h"

#include <array>

#include "runtime/error.h"
#include "runtime/kernels/device_kernels.h"

namespace saltern {

namespace {

constexpr std::array<std::string_view, 3> names = {"cpu", "opencl", "cuda"};

std::atomic<Device> in_use{Device::cpu};

}  // namespace

std::string_view name(Device device) { return names[static_cast<size_t>(device)]; }

Device device(std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Device>(i);
  fail("there is no device '", name, "'; expected cpu, opencl or cuda");
}

Device device_in_use() { return in_use; }

UseDevice::UseDevice(Device device) : Temporarily(in_use, device) {
  if (device != Device::cpu) memory_of(device);
}

}  // namespace saltern
