#include "runtime/kernels/kernels.h"

#include <map>

#include "runtime/kernels/device_kernels.h"
#include "runtime/kernels/thread_pool.h"
#include "runtime/tensor/memory.h"

// The library's own kernels, a row for each line of generators/kernels.cmake.
#define SALTERN_KERNEL(name)                            \
  extern "C" int saltern_##name##_sse41_argv(void **);  \
  extern "C" int saltern_##name##_avx2_argv(void **);   \
  extern "C" int saltern_##name##_avx512_argv(void **); \
  extern "C" const halide_filter_metadata_t *saltern_##name##_sse41_metadata();
#include "kernel_rows.inc"
#undef SALTERN_KERNEL

namespace saltern {

namespace {

using Registry = std::map<std::string, CompiledKernel, std::less<>>;

thread_local std::string last_error;

void remember_error(void *, const char *message) {
  last_error = message;
  while (!last_error.empty() && last_error.back() == '\n') last_error.pop_back();
}

const Registry &registry() {
  static const Registry *r = [] {
    auto *made = new Registry;
#define SALTERN_KERNEL(name)                                                                                 \
  (*made)[#name] = {#name,                                                                                   \
                    {saltern_##name##_sse41_argv, saltern_##name##_avx2_argv, saltern_##name##_avx512_argv}, \
                    saltern_##name##_sse41_metadata};
#include "kernel_rows.inc"
#undef SALTERN_KERNEL
    halide_set_error_handler(remember_error);
    install_scratch_memory();
    install_thread_pool();
    return made;
  }();
  return *r;
}

}  // namespace

std::vector<CompiledKernel> compiled_kernels() {
  std::vector<CompiledKernel> all;
  for (const auto &[name, row] : registry()) all.push_back(row);
  return all;
}

const CompiledKernel *find_compiled_kernel(std::string_view name) {
  const auto it = registry().find(name);
  return it == registry().end() ? nullptr : &it->second;
}

const std::string &last_kernel_error() { return last_error; }

void call_by_address(const CompiledKernel &kernel, std::vector<void *> arguments) {
  const int expected = kernel.metadata()->num_arguments;
  if (static_cast<int>(arguments.size()) != expected)
    fail("kernel ", kernel.name, " takes ", expected, " arguments, not ", arguments.size());
  if (kernel.call(arguments.data()) != 0) fail("kernel ", kernel.name, ": ", last_error);
}

void call(const CompiledKernel &kernel, std::vector<KernelArgument> arguments) {
  const halide_filter_metadata_t &m = *kernel.metadata();
  const bool fits = arguments.size() == static_cast<size_t>(m.num_arguments);
  const auto is_output = [&](size_t i) { return m.arguments[i].kind == halide_argument_kind_output_buffer; };
  bool makes_elements = false, reads_outlines = false;
  for (size_t i = 0; fits && i < arguments.size(); ++i) {
    const View *view = std::get_if<View>(&arguments[i]);
    if (!view) continue;
    reads_outlines |= view->is_outline();
    if (!is_output(i)) continue;
    if (view->is_empty() || view->is_outline())
      view->memory().written();
    else
      makes_elements = true;
  }
  if (fits && !makes_elements) return;  // kernels are for tensors that have elements
  if (reads_outlines) fail("kernel ", kernel.name, " is to compute where only shapes are known");
  const CompiledKernel *there = kernel.device == Device::cpu ? find_device_kernel(kernel) : &kernel;
  if (there == &kernel || (there && fits && fits_device(arguments))) return call_on_device(*there, arguments);
  // Before the kernel runs: one that fails may have written some.
  for (size_t i = 0; fits && i < arguments.size(); ++i)
    if (const View *view = std::get_if<View>(&arguments[i])) {
      view->memory().to_host();
      if (is_output(i)) view->memory().written();
    }
  count_on_cpu();
  std::vector<void *> addresses;
  addresses.reserve(arguments.size());
  for (KernelArgument &a : arguments)
    if (auto *view = std::get_if<View>(&a))
      addresses.push_back(view->buffer());
    else
      addresses.push_back(std::visit([](auto &scalar) -> void * { return &scalar; }, a));
  call_by_address(kernel, std::move(addresses));
}

void call(std::string_view name, std::vector<KernelArgument> arguments) {
  const CompiledKernel *kernel = find_compiled_kernel(name);
  if (!kernel) fail("there is no kernel '", name, "'; generators/kernels.cmake lists those that are built");
  call(*kernel, std::move(arguments));
}

}  // namespace saltern
