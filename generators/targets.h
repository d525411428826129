#pragma once
// The targets that kernels can be compiled for, for programs that do not see the Halide compiler.

#include <string>
#include <vector>

namespace saltern::generators {

struct TargetFacts {
  std::string name, kind;  // kind: cpu or gpu
  std::string halide;      // as Halide spells it
  bool runs_here;          // whether this machine's CPU can run it; for GPUs not known before a kernel is tried
};

// CPU targets best first, then GPU targets.
std::vector<TargetFacts> all_targets();

}  // namespace saltern::generators
