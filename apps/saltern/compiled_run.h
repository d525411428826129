#pragma once
// Running a model with kernels compiled for its exact shapes.

#include "runtime/onnx/run_model.h"

namespace saltern {

// Compiles the model for the shapes of these inputs, or takes what an earlier call compiled from the cache.
HostValues run_compiled(const Model &model, const HostValues &inputs, int threads);

}  // namespace saltern
