#include "runtime/kernels/device_kernels.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>

namespace saltern {

namespace {

using Newest = Storage::Newest;

void expect(int code, const char *what, size_t bytes) {
  if (code != 0) fail("cannot ", what, " ", bytes, " bytes: ", last_kernel_error());
}

// Memory on a device that mirrors a stretch of memory here, byte by byte.
class DeviceMemory : public Storage::OnDevice {
 public:
  // Its contents are undefined.
  DeviceMemory(const halide_device_interface_t &device, void *host, size_t bytes)
      : device_(device), extent_(0, static_cast<int32_t>(bytes), 1) {
    buffer_.host = static_cast<uint8_t *>(host);
    buffer_.type = halide_type_t(halide_type_uint, 8);
    buffer_.dimensions = 1;
    buffer_.dim = &extent_;
    expect(device_.device_malloc(nullptr, &buffer_, &device_), "get from the device", bytes);
  }
  ~DeviceMemory() override { device_.device_free(nullptr, &buffer_); }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  const halide_device_interface_t &device() const { return device_; }
  // What kernels know it by.
  uint64_t handle() const { return buffer_.device; }

  void copy_to_device() {
    buffer_.set_host_dirty(true);
    expect(device_.copy_to_device(nullptr, &buffer_, &device_), "copy to the device", buffer_.size_in_bytes());
  }
  void copy_to_host() override {
    buffer_.set_device_dirty(true);
    expect(device_.copy_to_host(nullptr, &buffer_), "copy from the device", buffer_.size_in_bytes());
  }

 private:
  const halide_device_interface_t &device_;
  halide_dimension_t extent_;
  halide_buffer_t buffer_ = {};
};

// The device's copy of all that a storage holds, right in every byte where `wanted`.
DeviceMemory &whole_on_device(Storage &storage, const halide_device_interface_t &device, bool wanted) {
  auto *there = dynamic_cast<DeviceMemory *>(storage.on_device());
  if (!there || &there->device() != &device) {
    storage.to_host();
    auto made = std::make_unique<DeviceMemory>(device, const_cast<void *>(storage.begin()), storage.bytes());
    there = made.get();
    storage.set_on_device(std::move(made));
    storage.set_newest(Newest::host);
  }
  if (wanted && storage.newest() == Newest::host) {
    there->copy_to_device();
    storage.set_newest(Newest::both);
  }
  return *there;
}

// One for each name; nothing where it could not be compiled, for the reason given.
struct Found {
  std::optional<CompiledKernel> kernel;
  std::string failure;
};

struct Devices {
  std::mutex mutex;  // one thread at a time compiles
  DeviceSupport support;
  std::map<std::pair<Device, std::string>, Found> kernels;
  std::map<Device, const halide_device_interface_t *> tried;
};

Devices &devices() {
  static auto *all = new Devices;
  return *all;
}

std::mutex calling;  // one thread at a time calls
std::atomic<int64_t> on_device{0}, on_cpu{0};

const DeviceSupport &support() {
  if (!devices().support.memory)
    fail("kernels for devices are compiled while a program runs: it has to link Saltern::compiler");
  return devices().support;
}

// The bytes from the first element of a view to its last.
struct Span {
  int64_t elements = 1, reach = 1;  // reach: with holes
  bool forwards = true;
  size_t bytes;

  explicit Span(const halide_buffer_t &b) {
    for (int d = 0; d < b.dimensions; ++d) {
      elements *= b.dim[d].extent;
      reach += static_cast<int64_t>(b.dim[d].extent - 1) * b.dim[d].stride;
      forwards &= b.dim[d].stride >= 0;
    }
    bytes = static_cast<size_t>(reach) * static_cast<size_t>(b.type.bytes());
  }
};

// One view of a call while the call is done.
class Lent {
 public:
  Lent(View &view, const halide_device_interface_t &device, bool output)
      : storage_(view.memory()), buffer_(*view.buffer()), output_(output) {
    const Span span(buffer_);
    const bool whole = !storage_.is_borrowed() && buffer_.host == storage_.begin() && storage_.bytes() > 0;
    const bool all_written =
        output && static_cast<size_t>(span.elements) * buffer_.type.bytes() == (whole ? storage_.bytes() : span.bytes);
    if (whole) {
      buffer_.device = whole_on_device(storage_, device, !all_written).handle();
      buffer_.set_device_dirty(storage_.newest() == Newest::device);
      if (output) storage_.written_on_device();
    } else {
      storage_.to_host();
      if (output) storage_.written();
      passing_ = std::make_unique<DeviceMemory>(device, buffer_.host, span.bytes);
      if (!all_written) passing_->copy_to_device();
      buffer_.device = passing_->handle();
    }
    buffer_.device_interface = &device;
  }

  halide_buffer_t *buffer() { return &buffer_; }

  // What the kernel wrote, wherever it did so, is known to be there.
  void done() {
    if (!output_) return;
    if (passing_ && !buffer_.host_dirty())
      passing_->copy_to_host();
    else if (buffer_.host_dirty())
      storage_.set_newest(Newest::host);
  }

 private:
  Storage &storage_;
  halide_buffer_t buffer_;  // the view's own stays as it is
  const bool output_;
  std::unique_ptr<DeviceMemory> passing_;  // for this call alone
};

}  // namespace

void set_device_support(const DeviceSupport &support) {
  const std::lock_guard<std::mutex> lock(devices().mutex);
  devices().support = support;
}

const halide_device_interface_t &memory_of(Device device) {
  const std::lock_guard<std::mutex> lock(devices().mutex);
  const halide_device_interface_t *&memory = devices().tried[device];
  if (memory) return *memory;
  const halide_device_interface_t *found = support().memory(device);
  uint8_t byte = 0;
  try {
    DeviceMemory(*found, &byte, 1).copy_to_device();
  } catch (const Error &e) {
    unsupported("there is no ", name(device), " device here (",
                device == Device::cuda ? "that needs an NVIDIA GPU and its driver's libcuda.so"
                                       : "that needs libOpenCL.so and a driver; Debian's ocl-icd-libopencl1 and "
                                         "pocl-opencl-icd run OpenCL on the CPU",
                "): ", e.what());
  }
  memory = found;
  return *memory;
}

const CompiledKernel *find_device_kernel(const CompiledKernel &kernel) {
  const Device device = device_in_use();
  if (device == Device::cpu || kernel.device != Device::cpu || !find_compiled_kernel(kernel.name)) return nullptr;
  const std::lock_guard<std::mutex> lock(devices().mutex);
  const auto [row, is_new] = devices().kernels.try_emplace({device, kernel.name});
  Found &found = row->second;
  if (is_new) {
    try {
      found.kernel = support().library_kernel(device, kernel.name);
    } catch (const std::exception &e) {
      found.failure = e.what();
    }
  }
  return found.kernel ? &*found.kernel : nullptr;
}

bool fits_device(const std::vector<KernelArgument> &arguments) {
  return std::all_of(arguments.begin(), arguments.end(), [](const KernelArgument &a) {
    const View *view = std::get_if<View>(&a);
    if (!view) return true;
    const Span span(*View(*view).buffer());
    constexpr size_t most = std::numeric_limits<int32_t>::max();
    return span.forwards && span.bytes <= most && view->memory().bytes() <= most;
  });
}

void call_on_device(const CompiledKernel &kernel, std::vector<KernelArgument> &arguments) {
  if (!fits_device(arguments)) fail("kernel ", kernel.name, ": tensors of this size or order do not fit the device");
  const halide_device_interface_t &device = memory_of(kernel.device);
  const std::lock_guard<std::mutex> lock(calling);
  const halide_filter_metadata_t &m = *kernel.metadata();
  std::vector<std::unique_ptr<Lent>> lent;
  std::vector<void *> addresses;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (auto *view = std::get_if<View>(&arguments[i])) {
      const bool output = m.arguments[i].kind == halide_argument_kind_output_buffer;
      lent.push_back(std::make_unique<Lent>(*view, device, output));
      addresses.push_back(lent.back()->buffer());
    } else {
      addresses.push_back(std::visit([](auto &a) -> void * { return &a; }, arguments[i]));
    }
  }
  call_by_address(kernel, std::move(addresses));
  for (const auto &view : lent) view->done();
  ++on_device;
}

DeviceCounts device_counts() { return {on_device, on_cpu}; }

void count_on_cpu() {
  if (device_in_use() != Device::cpu) ++on_cpu;
}

std::map<std::string, std::string> kernels_without_device() {
  const std::lock_guard<std::mutex> lock(devices().mutex);
  std::map<std::string, std::string> all;
  for (const auto &[row, found] : devices().kernels)
    if (!found.kernel) all[row.second] = found.failure;
  return all;
}

}  // namespace saltern
