#pragma once
// What a model compiles to, told without compiling it: its steps, and the memory that they need. Nothing here needs the
// Halide compiler's headers.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"

namespace saltern::generators {

// One call of a kernel.
struct PlannedStep {
  std::string value;                    // that it makes
  std::vector<std::string> operations;  // that it does, fused
  Shape shape;
  int64_t bytes = 0;  // of the value
  double flops = 0;
};

struct ModelPlan {
  std::vector<PlannedStep> steps;
  int64_t weights_bytes = 0, workspace_bytes = 0, state_bytes = 0;
  int kernels = 0;  // that differ
};

// Throws as compile_model() does, for a graph that cannot be compiled. Exact convolutions are CompileOptions' (compile.h).
ModelPlan plan_model(const Graph &graph, bool exact_convolutions = false);

}  // namespace saltern::generators
