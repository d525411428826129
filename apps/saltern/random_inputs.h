#pragma once
// Inputs for a model that nobody gave any for: the same for the same seed.

#include <map>
#include <string>

#include "runtime/graph/graph.h"

namespace saltern {

// Real numbers in [-1, 1), integers in [0, 4), booleans.
std::map<std::string, Tensor> random_inputs(const Graph &graph, uint32_t seed = 1);

}  // namespace saltern
