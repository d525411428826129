#include "runtime/kernels/device_memory.h"

#include "runtime/error.h"
#include "runtime/kernels/kernels.h"

namespace saltern {

namespace {

void expect(int code, const char *what, size_t bytes) {
  if (code != 0) fail("cannot ", what, " ", bytes, " bytes: ", last_kernel_error());
}

}  // namespace

DeviceMemory::DeviceMemory(const halide_device_interface_t &device, void *host, size_t bytes)
    : device_(device), extent_(0, static_cast<int32_t>(bytes), 1) {
  buffer_.host = static_cast<uint8_t *>(host);
  buffer_.type = halide_type_t(halide_type_uint, 8);
  buffer_.dimensions = 1;
  buffer_.dim = &extent_;
  expect(device_.device_malloc(nullptr, &buffer_, &device_), "get from the device", bytes);
}

DeviceMemory::~DeviceMemory() { device_.device_free(nullptr, &buffer_); }

void DeviceMemory::copy_to_device() {
  buffer_.set_host_dirty(true);
  expect(device_.copy_to_device(nullptr, &buffer_, &device_), "copy to the device", buffer_.size_in_bytes());
}

void DeviceMemory::copy_to_host() {
  buffer_.set_device_dirty(true);
  expect(device_.copy_to_host(nullptr, &buffer_), "copy from the device", buffer_.size_in_bytes());
}

DeviceMemory &whole_on_device(Storage &storage, const halide_device_interface_t &device, bool wanted) {
  auto *there = dynamic_cast<DeviceMemory *>(storage.on_device());
  if (!there || &there->device() != &device) {
    storage.to_host();
    auto made = std::make_unique<DeviceMemory>(device, const_cast<void *>(storage.begin()), storage.bytes());
    there = made.get();
    storage.set_on_device(std::move(made));
    storage.set_newest(Storage::Newest::host);
  }
  if (wanted && storage.newest() == Storage::Newest::host) {
    there->copy_to_device();
    storage.set_newest(Storage::Newest::both);
  }
  return *there;
}

}  // namespace saltern
