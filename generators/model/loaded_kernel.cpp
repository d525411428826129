#include "generators/model/loaded_kernel.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "generators/model/cache.h"
#include "generators/model/compile.h"
#include "generators/model/kernel_cache.h"
#include "generators/model/kernel_jobs.h"
#include "generators/model/temporary_folder.h"
#include "generators/model/toolchain.h"
#include "generators/targets.h"

namespace saltern::generators {

namespace {

const std::string symbol = "saltern_kernel", library = "kernel.so", object = "kernel.o", runtime_object = "runtime.o";
constexpr unsigned most_seconds = 60;  // what takes longer to compile is left to others

// The cache; where there is none, a folder that goes with the program.
std::string cache_folder() {
  const std::string folder = default_cache_folder();
  if (!folder.empty()) return folder;
  static const TemporaryFolder forgotten;
  return forgotten.path();
}

// A library that stays loaded as long as the program runs.
class Library {
 public:
  explicit Library(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) fail("cannot load ", path, ": ", dlerror());
  }

  template <typename F>
  F function(const std::string &name) const {
    void *found = dlsym(library_, name.c_str());
    if (!found) fail("a kernel has no function ", name);
    return reinterpret_cast<F>(found);
  }

  // Where Halide's run-time support is inside: threads, memory and errors are to be the program's.
  void use_program() const {
    compiled_kernels();  // which says what these are
    set<halide_do_par_for_t>("halide_set_custom_do_par_for", halide_do_par_for);
    set<halide_malloc_t>("halide_set_custom_malloc", halide_malloc);
    set<halide_free_t>("halide_set_custom_free", halide_free);
    set<halide_error_handler_t>("halide_set_error_handler", halide_error);
  }

 private:
  template <typename F>
  void set(const char *setter, F f) const {
    function<F (*)(F)>(setter)(f);
  }

  void *library_;
};

// Links objects in a folder, which go.
void link(const std::string &folder, const std::vector<std::string> &objects, std::vector<std::string> more) {
  std::vector<std::string> command = {c_compiler(), "-shared", "-o", library, "-Wl,-Bsymbolic"};
  command.insert(command.end(), objects.begin(), objects.end());
  command.insert(command.end(), more.begin(), more.end());
  command.insert(command.end(), {"-lm", "-lpthread", "-ldl"});
  run_program(command, folder);
  for (const std::string &file : objects) std::filesystem::remove(folder + "/" + file);
}

struct DeviceRuntime {
  std::string path;
  const halide_device_interface_t *memory;
};

// Kernels find it by its name, under which it is loaded once.
const DeviceRuntime &runtime_of(Device device) {
  static std::mutex mutex;
  static std::map<Device, DeviceRuntime> loaded;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto known = loaded.find(device); known != loaded.end()) return known->second;
  const std::string called(name(device));
  const Cache::Entry kept =
      Cache(cache_folder())
          .find_or_make("devices", "run-time support for " + called + "\n" + program_identity(),
                        [&](const std::string &making) {
                          run_in_processes({[&] {
                                             Halide::compile_standalone_runtime(
                                                 making + "/" + runtime_object,
                                                 Halide::Target(cpu_targets().back().halide + "-" + called));
                                           }},
                                           1, nullptr);
                          link(making, {runtime_object}, {"-Wl,-soname,libsaltern_" + called + ".so"});
                        });
  const Library made(kept.path(library));
  made.use_program();
  const auto memory = made.function<const halide_device_interface_t *(*)()>("halide_" + called + "_device_interface");
  return loaded[device] = {kept.path(library), memory()};
}

// The instruction set in use and, unless that is the CPU, the device.
std::string target_with(Device device) {
  for (const CpuTarget &t : cpu_targets())
    if (t.name == name(instruction_set_in_use()))
      return t.halide + (device == Device::cpu ? "" : gpu_features(std::string(name(device)))) + "-no_runtime";
  fail("no CPU target is called ", name(instruction_set_in_use()));
}

}  // namespace

const halide_device_interface_t *device_memory(Device device) { return runtime_of(device).memory; }

CompiledKernel loaded_kernel(const std::string &name, const std::string &shelf, const std::string &key, Device device,
                             const WriteObject &write) {
  const std::string target = target_with(device), folder = cache_folder();
  const bool on_cpu = device == Device::cpu;
  const std::string runtime = on_cpu ? "" : runtime_of(device).path;
  const auto make = [&](const std::string &making) {
    // In a process of its own: whatever becomes of the compiler, the program goes on.
    run_in_processes({[&] {
                       alarm(most_seconds);
                       write(target, symbol, making + "/" + object);
                     }},
                     1, nullptr);
    if (!on_cpu) return link(making, {object}, {runtime});
    KernelCache(folder).provide_halide_runtime(making + "/" + runtime_object);
    link(making, {object, runtime_object}, {});
  };
  const std::string full = key + "\n" + target + "\n" + program_identity();
  const Library made(Cache(folder).find_or_make(shelf, full, make).path(library));
  if (on_cpu) made.use_program();
  const auto call = made.function<int (*)(void **)>(symbol + "_argv");
  return {name, {call, call, call}, made.function<const halide_filter_metadata_t *(*)()>(symbol + "_metadata"), device};
}

}  // namespace saltern::generators
