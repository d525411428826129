#pragma once
// The kernel registry: every kernel that is linked in, by name, and how to call it.
//
//   call("dense", {reversed(x), reversed(w), flat(b), reversed(y)});
//
// A kernel takes its inputs, then its scalars in the order of their declaration, then its outputs.

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/kernels/device.h"
#include "runtime/kernels/instruction_set.h"
#include "runtime/tensor/view.h"

namespace saltern {

struct CompiledKernel {
  std::string name;
  // Its code for each InstructionSet, in that order. (Halide could dispatch by itself, but asks the CPU once and
  // remembers, so that nothing could hold a kernel to a lesser instruction set.)
  std::array<int (*)(void **arguments), instruction_sets> variants;
  const halide_filter_metadata_t *(*metadata)();
  Device device = Device::cpu;  // that it was compiled for

  int call(void **arguments) const { return variants[static_cast<size_t>(instruction_set_in_use())](arguments); }
};

using KernelArgument = std::variant<View, int32_t, float, uint32_t>;

// All rows, in alphabetical order.
std::vector<CompiledKernel> compiled_kernels();
// Null where there is no such kernel.
const CompiledKernel *find_compiled_kernel(std::string_view name);

// On the device in use, where there is one and the kernel can be compiled for it.
void call(const CompiledKernel &kernel, std::vector<KernelArgument> arguments);
void call(std::string_view name, std::vector<KernelArgument> arguments);
// The same with the arguments' addresses: halide_buffer_t or scalar.
void call_by_address(const CompiledKernel &kernel, std::vector<void *> arguments);

// What Halide's run-time support said last that was wrong, on this thread.
const std::string &last_kernel_error();

}  // namespace saltern
