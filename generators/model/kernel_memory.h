#pragma once
// What a kernel takes from the heap while it runs, read out of what Halide makes of it: with exact shapes, sizes are numbers.
//
// A compiled model reserves this memory when it is created, so that running it allocates nothing (driver/memory.h).

#include <Halide.h>

#include "generators/model/plan.h"

namespace saltern::generators {

// The most that one thread holds at the same time, with what driver/reserved.h keeps beside each. An allocation
// whose size has no bound in the code counts nothing: it comes from the heap.
KernelMemory kernel_memory(const Halide::Module &module);

// What serves for both.
KernelMemory most(const KernelMemory &a, const KernelMemory &b);

// FILE holds it between the process that compiles a kernel and the one that plans the model.
void write_kernel_memory(const KernelMemory &memory, const std::string &file);
KernelMemory read_kernel_memory(const std::string &file);

}  // namespace saltern::generators
