#pragma once
// Kernels compiled into objects in child processes: in parallel, and each from the same fresh state of the Halide
// compiler, so that the same kernel always gives the same bytes.

#include <functional>
#include <string>
#include <vector>

#include "generators/model/emit.h"

namespace saltern::generators {

// Runs each job in a process of its own, `at_once` at a time. A job that throws makes this throw the same message,
// after all have ended.
void run_in_processes(const std::vector<std::function<void()>> &jobs, int at_once,
                      const std::function<void(int done, int all)> &progress);

// FOLDER/SYMBOL*.o: the kernel for every target (best first, named), and the choice between them by CPU feature.
// FOLDER/SYMBOL.memory: what it takes from the heap (kernel_memory.h).
void compile_kernel(const EmittedKernel &kernel, const std::string &symbol, const std::vector<CpuTarget> &targets,
                    const std::string &folder);
void compile_halide_runtime(const std::string &object);

// The features of a target as Halide's run-time support takes them: one bit each, in words of 64.
std::vector<uint64_t> feature_words(const CpuTarget &target);

}  // namespace saltern::generators
