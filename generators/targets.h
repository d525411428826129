#pragma once
// The targets that kernels can be compiled for, for programs that do not see the Halide compiler.

#include <string>
#include <vector>

#include "runtime/kernels/instruction_set.h"

namespace saltern::generators {

struct TargetFacts {
  std::string name, kind;  // kind: cpu or gpu
  std::string halide;      // as Halide spells it
  bool runs_here;          // whether this machine's CPU can run it; for GPUs not known before a kernel is tried
};

// CPU targets best first, then GPU targets.
std::vector<TargetFacts> all_targets();

// A CPU target as Halide spells it.
std::string halide_target(InstructionSet set);

// What a GPU target adds to a CPU target, as Halide spells it. Throws an Error where there is no such target.
std::string gpu_features(const std::string &gpu);

// A library kernel and what it can be compiled for beside CPUs, as its declaration says.
struct KernelTargets {
  std::string name;
  std::vector<std::string> classes;  // of its stages (dsl/structure.h)
  std::string why_no_gpu;            // empty: it has a GPU mapping
};
// Whether stages of a class, by its name, can be scheduled for GPUs. Throws an Error where there is no such class.
bool has_gpu_pattern(const std::string &of);

// In the order of classes, then of names.
std::vector<KernelTargets> all_kernel_targets();

}  // namespace saltern::generators
