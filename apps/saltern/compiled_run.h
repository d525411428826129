#pragma once
// Running a model with kernels compiled for its exact shapes.

#include "generators/model/compiled_graph.h"

namespace saltern {

// A terminal sees how far it is.
generators::CompiledGraph compiled_here(const Graph &graph, int threads);

}  // namespace saltern
