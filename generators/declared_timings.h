#pragma once
// The calls that kernels' declarations say are worth timing, for programs that do not see the Halide compiler.

#include <string>
#include <vector>

#include "generators/call.h"

namespace saltern::generators {

struct DeclaredTiming {
  std::string kernel, label;
  Call call;
  double flops;
};

std::vector<DeclaredTiming> declared_timings();

}  // namespace saltern::generators
