#pragma once
// The kernel registry: every kernel that is linked in, by name, and how to call it.
//
//   call("dense", {reversed(x), reversed(w), flat(b), reversed(y)});
//
// A kernel takes its inputs, then its scalars in the order of their declaration, then its outputs.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/view.h"

namespace saltern {

struct Kernel {
  std::string name;
  int (*call)(void **arguments);
  const halide_filter_metadata_t *(*metadata)();
};

using KernelArgument = std::variant<View, int32_t, float, uint32_t>;

// All rows, in alphabetical order.
std::vector<Kernel> kernels();
// Null where there is no such kernel.
const Kernel *find_kernel(std::string_view name);
// For kernels of an application's own, built with saltern_add_kernel().
void register_kernel(const Kernel &kernel);

void call(const Kernel &kernel, std::vector<KernelArgument> arguments);
void call(std::string_view name, std::vector<KernelArgument> arguments);
// The same with the arguments' addresses: halide_buffer_t or scalar.
void call_by_address(const Kernel &kernel, std::vector<void *> arguments);

}  // namespace saltern
