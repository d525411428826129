#pragma once
// Memory on a device that mirrors a stretch of memory here, byte by byte.

#include <HalideRuntime.h>

#include "runtime/tensor/storage.h"

namespace saltern {

class DeviceMemory : public Storage::OnDevice {
 public:
  // Its contents are undefined.
  DeviceMemory(const halide_device_interface_t &device, void *host, size_t bytes);
  ~DeviceMemory() override;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  const halide_device_interface_t &device() const { return device_; }
  // What kernels know it by.
  uint64_t handle() const { return buffer_.device; }
  void copy_to_device();
  void copy_to_host() override;

 private:
  const halide_device_interface_t &device_;
  halide_dimension_t extent_;
  halide_buffer_t buffer_ = {};
};

// The device's copy of all that a storage holds, right in every byte where `wanted`.
DeviceMemory &whole_on_device(Storage &storage, const halide_device_interface_t &device, bool wanted);

}  // namespace saltern
